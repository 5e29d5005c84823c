import t from 'tap'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import protobuf from 'protobufjs'
import {
  decodeRange, decodeRevision, decodeSize, decodeTxn, decodeWatch, encodeEmpty, encodeMark, encodeProgress, encodeRange,
  encodeTxn, encodeWatch
} from '../../../storage/etcd/messages.js'
import { random } from '../../random.js'
import { encoded } from './protocol.js'

// Encoded messages are decoded by messages.proto and by etcd's own protocol file, from etcd3: the first shows what we
// mean, the second what etcd receives.
const loaded = (file: string): protobuf.Root => {
  const root = new protobuf.Root()
  root.resolvePath = (_, target) => path.join(path.dirname(file), path.basename(target))
  return root.loadSync(path.basename(file), { keepCase: true })
}
const ours = loaded(fileURLToPath(new URL('../../../../storage/etcd/messages.proto', import.meta.url)))
const theirs = loaded(path.join(path.dirname(createRequire(import.meta.url).resolve('etcd3')), '../proto/rpc.proto'))
const type = (name: string) => theirs.lookupType(`etcdserverpb.${name}`)

t.test('our protocol file is a part of that of etcd', async t => {
  const { nestedArray } = ours.lookup('etcdserverpb') as protobuf.Namespace
  let fields = 0
  const isPart = (part: protobuf.ReflectionObject, whole: protobuf.ReflectionObject | null): void => {
    const name = part.fullName
    if (part instanceof protobuf.Type && whole instanceof protobuf.Type) {
      for (const { id, name: field, type, repeated, partOf } of part.fieldsArray) {
        const other = whole.fields[field]
        t.same(
          [id, type, repeated, partOf?.name],
          [other?.id, other?.type.split('.').at(-1), other?.repeated, other?.partOf?.name], `${name}.${field}`
        )
        fields++
      }
      for (const inner of part.nestedArray) isPart(inner, whole.get(inner.name))
    } else if (part instanceof protobuf.Enum && whole instanceof protobuf.Enum) {
      const { values } = whole
      const numbers = new Map(Object.entries(values).map(([value, number]) => [value.toUpperCase(), number]))
      for (const [value, number] of Object.entries(part.values)) t.equal(numbers.get(value), number, `${name} ${value}`)
    } else if (part instanceof protobuf.Service && whole instanceof protobuf.Service) {
      for (const { name: method, requestType, responseType, requestStream, responseStream } of part.methodsArray) {
        t.match(
          whole.methods[method], { requestType, responseType, requestStream, responseStream }, `${name}.${method}`
        )
      }
    } else t.fail(`${name} is not there, or is something else`)
  }
  for (const part of nestedArray) {
    isPart(part, theirs.lookup(part instanceof protobuf.Type && part.name === 'KeyValue' ? 'KeyValue' : part.name))
  }
  t.ok(fields > 40)
})

const { seed, int: below } = random()
t.comment(`SEED=${seed}`)
const numbers = [0, 1, 127, 128, 16_383, 16_384, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 48, 2 ** 53 - 1]
const number = () => numbers[below(numbers.length)] ?? 0
const bytes = () =>
  Buffer.from(Array.from({ length: [0, 1, 100, 127, 128, 300, 20_000][below(7)] ?? 0 }, () => below(256)))
const key = () => Buffer.from(`/registry/${'k'.repeat(below(300))}${below(1000)}`)
const text = (value: number) => value === 0 ? undefined : String(value)

/** A framed message decoded by our protocol file. etcd's own file has all its fields. */
function read (name: string, framed: Buffer): Record<string, unknown> {
  if (framed[0] !== 0 || framed.readUInt32BE(1) !== framed.length - 5) {
    throw new Error('the frame of the message is wrong')
  }
  const [message, whole] = [ours.lookupType(`etcdserverpb.${name}`), type(name)].map(one =>
    one.toObject(one.decode(framed.subarray(5)), { longs: String, enums: Number, bytes: String }))
  if (message === undefined || !isDeepStrictEqual(message, whole)) {
    throw new Error(`${name} has more than messages.proto says: ${JSON.stringify([message, whole])}`)
  }
  return message
}

t.test('requests to etcd encode their arguments', async t => {
  for (let i = 0; i < 300; i++) {
    const [start, end, limit, revision, countOnly] = [key(), key(), number(), number(), below(2) === 0]
    t.same(read('RangeRequest', encodeRange({ key: start, rangeEnd: end, limit, revision, countOnly })), {
      key: start.toString('base64'),
      range_end: end.toString('base64'),
      ...(limit === 0 ? {} : { limit: text(limit) }),
      ...(revision === 0 ? {} : { revision: text(revision) }),
      ...(countOnly ? { count_only: true } : {})
    })
    const [name, value, expected] = [key().toString('base64'), bytes(), number()]
    const lease = [undefined, '1', '7587863094501234567', '9223372036854775807'][below(4)]
    const message = { key: Buffer.from(name, 'base64'), expected, lease }
    const compare = [{ key: name, target: 2, mod_revision: String(expected) }]
    const failure = [{ request_range: { key: name } }]
    const put = read('TxnRequest', encodeTxn({ ...message, value })) as { success: unknown }
    t.same(put, {
      compare,
      success: [
        { request_put: { key: name, value: value.toString('base64'), ...(lease === undefined ? {} : { lease }) } }
      ],
      failure
    })
    const guards = [{ key: key(), expected: number() }, { key: key(), expected: number() }]
    const guarded = read(
      'TxnRequest', encodeTxn({ ...message, value, guards })
    ) as { compare: unknown, success: unknown, failure: unknown }
    t.same(guarded.compare, [
      ...compare, ...guards.map(({ key, expected }) =>
        ({ key: key.toString('base64'), target: 2, mod_revision: String(expected) }))
    ])
    t.same([guarded.success, guarded.failure], [put.success, failure])
    const removal = read('TxnRequest', encodeTxn({ ...message, value: undefined })) as { success: unknown }
    t.same(removal.success, [{ request_delete_range: { key: name } }])
    t.same(read('WatchRequest', encodeWatch({ key: start, rangeEnd: end, from: revision, previous: i % 2 === 0 })), {
      create_request: {
        key: start.toString('base64'),
        range_end: end.toString('base64'),
        start_revision: String(revision),
        progress_notify: true,
        ...(i % 2 === 0 ? { prev_kv: true } : {}),
        fragment: true
      }
    })
    t.same(read('PutRequest', encodeMark(start)), { key: start.toString('base64') })
  }
  t.same(read('StatusRequest', encodeEmpty()), {})
  t.same(read('WatchRequest', encodeProgress()), { progress_request: {} })
})

const header = () => ({
  cluster_id: '14841639068965178418', member_id: '10276657743932975437', revision: number(), raft_term: '2'
})
const wireKv = () => ({
  key: key(),
  create_revision: number(),
  mod_revision: number(),
  version: number(),
  value: bytes(),
  lease: '7587863094501234567'
})
type WireKv = ReturnType<typeof wireKv>
const plain = (
  kv: { key: string, value: Uint8Array, createRevision: number, modRevision: number } | undefined
) => kv && [kv.key, Buffer.from(kv.value).toString('base64'), kv.createRevision, kv.modRevision]
const wanted = (kv: WireKv) => [kv.key.toString(), kv.value.toString('base64'), kv.create_revision, kv.mod_revision]

t.test('responses of etcd are decoded', async t => {
  for (let i = 0; i < 300; i++) {
    const [head, kvs, more, count] = [header(), Array.from({ length: below(4) }, wireKv), below(2) === 0, number()]
    const range = decodeRange(encoded('RangeResponse', { header: head, kvs, more, count }))
    t.same([range.revision, range.more, range.count], [head.revision, more, count])
    t.same(range.kvs.map(plain), kvs.map(wanted))

    t.equal(decodeRevision(encoded('PutResponse', { header: head, prev_kv: wireKv() })), head.revision)

    const kv = wireKv()
    const put = decodeTxn(encoded('TxnResponse', {
      header: head, succeeded: true, responses: [{ response_put: { header: head, prev_kv: kv } }]
    }))
    t.same([put.revision, put.succeeded, plain(put.kv)], [head.revision, true, wanted(kv)])
    const removed = decodeTxn(encoded('TxnResponse', {
      header: head,
      succeeded: true,
      responses: [{ response_delete_range: { header: head, deleted: 1, prev_kvs: [kv] } }]
    }))
    t.same([removed.succeeded, plain(removed.kv)], [true, wanted(kv)])
    const refused = decodeTxn(encoded('TxnResponse', {
      header: head, succeeded: false, responses: [{ response_range: { header: head, kvs: [kv], count: 1 } }]
    }))
    t.same([refused.succeeded, plain(refused.kv)], [false, wanted(kv)])
    const nothing = decodeTxn(encoded('TxnResponse', {
      header: head, succeeded: false, responses: [{ response_range: { header: head, more: true, count: 7 } }]
    }))
    t.same([nothing.succeeded, nothing.kv], [false, undefined])

    const events = Array.from(
      { length: below(3) + 1 },
      () => ({ type: below(2), kv: wireKv(), ...(below(2) === 0 ? {} : { prev_kv: wireKv() }) })
    )
    const watch = decodeWatch(encoded('WatchResponse', {
      header: head,
      watch_id: 3,
      created: true,
      canceled: true,
      compact_revision: count,
      cancel_reason: 'wäre',
      fragment: true,
      events
    }))
    t.match(watch, {
      revision: head.revision, created: true, canceled: true, compacted: count, reason: 'wäre', fragment: true
    })
    t.same(watch.events.map(event => [event.type, plain(event.kv), plain(event.previous)]),
      events.map(event => [
        event.type === 1 ? 'delete' : 'put', wanted(event.kv), event.prev_kv && wanted(event.prev_kv)
      ]))
    t.equal(
      decodeSize(encoded('StatusResponse', {
        header: head, version: '3.4.23', dbSize: count, leader: '10276657743932975437'
      })),
      count
    )
  }
  t.same(decodeTxn(Buffer.alloc(0)), { revision: 0, succeeded: false, kv: undefined })
  t.match(decodeWatch(Buffer.alloc(0)), {
    revision: 0, created: false, canceled: false, compacted: 0, fragment: false, events: []
  })
})

t.test('a value is a view of the answer it came in', async t => {
  const answer = encoded('RangeResponse', { header: header(), kvs: [{ ...wireKv(), value: Buffer.alloc(1000, 'x') }] })
  t.equal(decodeRange(answer).kvs[0]?.value.buffer, answer.buffer)
})

t.test('a revision that a number cannot hold is refused', async t => {
  t.throws(() => decodeRange(encoded('RangeResponse', { header: { revision: '9007199254740992' } })), RangeError)
  t.equal(
    decodeRange(encoded('RangeResponse', { header: { revision: '9007199254740991' } })).revision,
    Number.MAX_SAFE_INTEGER
  )
})

t.test('broken bytes end in a RangeError, never in a wrong length or a loop', async t => {
  const whole = encoded('RangeResponse', { header: header(), kvs: [wireKv(), wireKv()], more: true, count: 9 })
  let refused = 0
  for (let i = 0; i < 3000; i++) {
    const broken = i % 2 === 0 ? whole.subarray(0, below(whole.length)) : Buffer.from(whole)
    if (i % 2 === 1) for (let j = 0; j < 3; j++) broken[below(Math.min(broken.length, 200))] = below(256)
    for (const decode of [decodeRange, decodeTxn, decodeWatch]) {
      try {
        decode(broken)
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        refused++
      }
    }
  }
  t.ok(refused > 0)
  t.throws(() => decodeSize(Buffer.alloc(11, 0xff)), RangeError)
})

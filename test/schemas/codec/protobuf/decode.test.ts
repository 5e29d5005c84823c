import protobuf from 'protobufjs/minimal.js'
import t from 'tap'
import { toJson } from '../../../../schemas/codec/json/encode.js'
import { decodeMessage, decodeProtobuf, openEnvelope } from '../../../../schemas/codec/protobuf/decode.js'
import { encodeMessage, encodeProtobuf } from '../../../../schemas/codec/protobuf/encode.js'
import { decode } from '../../../../schemas/language/decode.js'
import { DeleteOptions, ListMeta, Status } from '../../../../schemas/meta/v1.js'
import { clusterRoleBindings, configMaps, namespaces } from '../../../stored.js'

const { Writer } = protobuf
const MAGIC = Buffer.from('6b387300', 'hex')
const build = (write: (writer: protobuf.Writer) => unknown): Buffer => {
  const writer = Writer.create()
  write(writer)
  return Buffer.from(writer.finish())
}
const enveloped = (
  raw: Uint8Array, type: { apiVersion?: string, kind?: string, encoding?: string, contentType?: string } = {}
) => Buffer.concat([MAGIC, build(writer => writer
  .uint32(10).fork().uint32(10).string(type.apiVersion ?? '').uint32(18).string(type.kind ?? '').ldelim()
  .uint32(18).bytes(raw).uint32(26).string(type.encoding ?? '').uint32(34).string(type.contentType ?? ''))])
const { message } = clusterRoleBindings
const sample = decode(message, {
  metadata: {
    name: 'n',
    labels: { a: 'b', ü: 'ö' },
    creationTimestamp: '2021-03-04T05:06:07Z',
    managedFields: [{ manager: 'm', time: '2021-03-04T05:06:07Z', fieldsV1: { 'f:x': {} } }]
  },
  subjects: [{ kind: 'User', name: 'u' }, { kind: 'ServiceAccount', name: 's', namespace: 'd' }],
  roleRef: { apiGroup: 'g', kind: 'ClusterRole', name: 'view' }
}).object

t.test('an encoded object decodes to itself', async t => {
  t.same(decodeProtobuf(message, encodeProtobuf(message, sample)), { object: sample, unknown: [], duplicates: [] })
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    details: { name: 'x', causes: [{ field: 'f' }], retryAfterSeconds: -1 },
    code: 500
  }
  t.same(decodeProtobuf(Status, encodeProtobuf(Status, status)).object, status)
})

t.test('the magic prefix is required', async t => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('{"kind":"x"}'), MAGIC.subarray(0, 3)]) {
    t.throws(() => decodeProtobuf(message, bytes), { name: 'DecodeError', message: /6b 38 73 00/ })
  }
  t.equal(decodeProtobuf(message, MAGIC).object.kind, 'ClusterRoleBinding', 'an empty envelope holds an empty object')
})

t.test('kind and apiVersion of the envelope are checked like those of JSON', async t => {
  const raw = encodeMessage(message, sample)
  t.equal(decodeProtobuf(message, enveloped(raw)).object.kind, 'ClusterRoleBinding')
  t.throws(
    () => decodeProtobuf(message, enveloped(raw, { kind: 'Role' })),
    { message: 'kind: expected "ClusterRoleBinding", got "Role"' }
  )
  t.throws(() => decodeProtobuf(message, enveloped(raw, { apiVersion: 'v1' })), { message: /^apiVersion: expected/ })
  t.equal(
    decodeProtobuf(
      DeleteOptions, enveloped(Buffer.alloc(0), { apiVersion: 'rbac.authorization.orch.io/v1', kind: 'DeleteOptions' })
    ).object.apiVersion,
    'rbac.authorization.orch.io/v1'
  )
})

t.test('an envelope may hold JSON; other contents and encodings are refused by name', async t => {
  const { object, unknown, duplicates } = decodeProtobuf(
    message, enveloped(Buffer.from('{"metadata":{"name":"j","name":"k"},"foo":1}'), { contentType: 'application/json' })
  )
  t.equal(object.metadata.name, 'k')
  t.same([unknown, duplicates], [['foo'], ['metadata.name']])
  t.throws(
    () => decodeProtobuf(message, enveloped(Buffer.alloc(0), { encoding: 'gzip' })),
    { name: 'DecodeError', message: /contentEncoding "gzip"/ }
  )
  t.throws(
    () => decodeProtobuf(message, enveloped(Buffer.alloc(0), { contentType: 'text/plain' })),
    { name: 'DecodeError', message: /contentType "text\/plain"/ }
  )
  t.match(openEnvelope(enveloped(Buffer.from('x'), { kind: 'K', apiVersion: 'g/v' })), { kind: 'K', apiVersion: 'g/v' })
})

t.test('unknown fields of every wire type are skipped', async t => {
  const bytes = build(writer => {
    writer.uint32(2000 << 3)
      .uint64(7)
      .uint32(2000 << 3 | 1)
      .double(1)
      .uint32(2000 << 3 | 5)
      .float(1)
      .uint32(2000 << 3 | 2)
      .string('x')
    writer.uint32(2000 << 3 | 3).uint32(8).int32(1).uint32(2000 << 3 | 4)
    writer.uint32(18).string('5')
  })
  t.same(decodeMessage(ListMeta, bytes), { resourceVersion: '5' })
})

t.test('canonical, whatever was sent: zeros dropped, required filled, repeated scalars packed or not', async t => {
  t.same(decodeMessage(message, Buffer.alloc(0)), { metadata: {}, roleRef: { apiGroup: '', kind: '', name: '' } })
  t.same(
    decodeMessage(ListMeta, build(writer => writer.uint32(18).string('').uint32(10).string('a').uint32(10).string(''))),
    {}, 'the last one counts'
  )
  t.same(
    decodeMessage(configMaps.message, build(writer => writer.uint32(18).fork().ldelim())),
    { metadata: {}, data: { '': '' } }, 'an entry without key and value'
  )
})

t.test('truncated, overlong and mistyped input is refused', async t => {
  const whole = encodeProtobuf(message, sample)
  for (let length = 4; length < whole.length - 4; length++) {
    try {
      decodeProtobuf(message, whole.subarray(0, length))
      // A cut between two fields of the envelope leaves a valid envelope.
      t.ok([4, 57].includes(length), `cut at ${length}`)
    } catch (error) {
      t.equal((error as Error).name, 'DecodeError')
    }
  }
  const cases: Array<[string, Buffer]> = [
    ['a length beyond the end', Buffer.from([18, 200, 1, 65])],
    ['a varint of eleven bytes', Buffer.from([32, ...new Array<number>(11).fill(0x80), 1])],
    ['a tag of eleven bytes', Buffer.from([...new Array<number>(11).fill(0xff), 1])],
    ['text where a number belongs', build(writer => writer.uint32(34).string('x'))],
    ['a number where text belongs', build(writer => writer.uint32(16).int32(1))],
    ['text that is no UTF-8', Buffer.from([18, 2, 0xff, 0xfe])],
    ['long text that is no UTF-8', Buffer.from([18, 100, ...new Array<number>(99).fill(65), 0xc3])],
    ['the unknown wire type 6', Buffer.from([22])],
    ['field number 0', Buffer.from([2, 0])],
    ['a group without an end', Buffer.from([2000 << 3 & 127 | 3 | 128, 125])]
  ]
  for (const [name, bytes] of cases) t.throws(() => decodeMessage(ListMeta, bytes), { name: 'DecodeError' }, name)
  t.throws(
    () => decodeMessage(ListMeta, Buffer.concat(Array.from({ length: 100_000 }, () => Buffer.from([0x83, 0x7d])))),
    { name: 'DecodeError', message: /nests too deeply/ }, 'groups within groups'
  )
  const deep = Buffer.from(`{"f:x":${'['.repeat(100_000)}`)
  t.throws(
    () => decodeMessage(
      message,
      build(writer => writer.uint32(10)
        .fork()
        .uint32(138)
        .fork()
        .uint32(58)
        .fork()
        .uint32(10)
        .bytes(deep)
        .ldelim()
        .ldelim()
        .ldelim())
    ),
    { name: 'DecodeError' },
    'raw JSON within'
  )
})

t.test('keys of maps are only data', async t => {
  const entries = [['__proto__', 'a'], ['constructor', 'b'], ['10', 'c'], ['9', 'd']]
  const bytes = build(writer => {
    for (const [key, value] of entries) {
      writer.uint32(18).fork().uint32(10).string(key ?? '').uint32(18).string(value ?? '').ldelim()
    }
  })
  const object = decodeMessage(configMaps.message, bytes)
  t.equal(
    toJson(configMaps.message, object),
    '{"metadata":{"creationTimestamp":null},"data":{"10":"c","9":"d","__proto__":"a","constructor":"b"}}'
  )
})

t.test('zero times and times with nanoseconds', async t => {
  const at = (write: (writer: protobuf.Writer) => unknown) => decodeMessage(namespaces.message, build(writer => {
    writer.uint32(10).fork().uint32(66).fork()
    write(writer)
    writer.ldelim().ldelim()
  })).metadata.creationTimestamp
  t.equal(at(() => {}), undefined)
  t.equal(at(writer => writer.uint32(8).int64(0)), '1970-01-01T00:00:00Z')
  t.equal(at(writer => writer.uint32(8).int64(-1).uint32(16).int32(999)), '1969-12-31T23:59:59Z')
  t.equal(at(writer => writer.uint32(8).int64(-62135596800)), undefined, 'the year 1 is unset')
  t.equal(at(writer => writer.uint32(8).int64(Number.MAX_SAFE_INTEGER)), undefined, 'beyond the calendar')
})

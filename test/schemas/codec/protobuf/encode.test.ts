import protobuf from 'protobufjs/minimal.js'
import t from 'tap'
import { decodeMessage, decodeProtobuf, openEnvelope } from '../../../../schemas/codec/protobuf/decode.js'
import { encodeMessage, encodeProtobuf, protobufWatchFrame } from '../../../../schemas/codec/protobuf/encode.js'
import { protobufList } from '../../../protobuf-list.js'
import { decode } from '../../../../schemas/language/decode.js'
import { APIResource, ListMeta, Status, Table } from '../../../../schemas/meta/v1.js'
import { clusterRoleBindings, clusterRoles, configMaps, secrets } from '../../../stored.js'

const { Writer } = protobuf

/** A message from an independent encoder, which writes front to back. */
const build = (write: (writer: protobuf.Writer) => unknown): Buffer => {
  const writer = Writer.create()
  write(writer)
  return Buffer.from(writer.finish())
}
const emptyMeta = (writer: protobuf.Writer, name = '') => writer
  .uint32(10)
  .string(name)
  .uint32(18)
  .string('')
  .uint32(26)
  .string('')
  .uint32(34)
  .string('')
  .uint32(42)
  .string('')
  .uint32(50)
  .string('')
  .uint32(56)
  .int64(0)
  .uint32(66)
  .bytes(new Uint8Array())

t.test('fields ascend, and what is no pointer is written even when it is zero', async t => {
  const { object } = decode(clusterRoleBindings.message, {
    metadata: {
      name: 'n', creationTimestamp: '2021-03-04T05:06:07Z', deletionGracePeriodSeconds: 0, labels: { b: '2', a: '' },
      finalizers: ['x/y', 'z/w'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: false }],
      managedFields: [{ manager: 'm', fieldsV1: { 'f:x': {} } }]
    },
    subjects: [{ kind: 'User', name: 'ü' }],
    roleRef: { apiGroup: 'g', kind: 'ClusterRole', name: 'view' }
  })
  const expected = build(writer => {
    writer.uint32(10).fork()
    writer.uint32(10)
      .string('n')
      .uint32(18)
      .string('')
      .uint32(26)
      .string('')
      .uint32(34)
      .string('')
      .uint32(42)
      .string('')
      .uint32(50)
      .string('')
      .uint32(56)
      .int64(0)
    writer.uint32(66).fork().uint32(8).int64(1614834367).uint32(16).int32(0).ldelim()
    writer.uint32(80).int64(0)
    writer.uint32(90).fork().uint32(10).string('a').uint32(18).string('').ldelim()
    writer.uint32(90).fork().uint32(10).string('b').uint32(18).string('2').ldelim()
    writer.uint32(106)
      .fork()
      .uint32(10)
      .string('Pod')
      .uint32(26)
      .string('p')
      .uint32(34)
      .string('u')
      .uint32(42)
      .string('v1')
      .uint32(48)
      .bool(false)
      .ldelim()
    writer.uint32(114).string('x/y').uint32(114).string('z/w').uint32(122).string('')
    writer.uint32(138)
      .fork()
      .uint32(10)
      .string('m')
      .uint32(18)
      .string('')
      .uint32(26)
      .string('')
      .uint32(50)
      .string('')
      .uint32(58)
      .fork()
      .uint32(10)
      .string('{"f:x":{}}')
      .ldelim()
      .uint32(66)
      .string('')
      .ldelim()
    writer.ldelim()
    writer.uint32(18)
      .fork()
      .uint32(10)
      .string('User')
      .uint32(18)
      .string('')
      .uint32(26)
      .string('ü')
      .uint32(34)
      .string('')
      .ldelim()
    writer.uint32(26).fork().uint32(10).string('g').uint32(18).string('ClusterRole').uint32(26).string('view').ldelim()
  })
  t.equal(encodeMessage(clusterRoleBindings.message, object).toString('hex'), expected.toString('hex'))
})

t.test('the envelope names kind and apiVersion and ends in two empty texts', async t => {
  const { object } = decode(clusterRoles.message, { metadata: { name: 'n' } })
  const raw = encodeMessage(clusterRoles.message, object)
  const expected = Buffer.concat([Buffer.from('6b387300', 'hex'), build(writer => writer
    .uint32(10).fork().uint32(10).string('rbac.authorization.orch.io/v1').uint32(18).string('ClusterRole').ldelim()
    .uint32(18).bytes(raw).uint32(26).string('').uint32(34).string(''))])
  t.equal(encodeProtobuf(clusterRoles.message, object).toString('hex'), expected.toString('hex'))
  t.equal(
    raw.toString('hex'),
    build(writer => {
      writer.uint32(10).fork()
      emptyMeta(writer, 'n').uint32(122).string('').ldelim()
    }).toString('hex')
  )
})

t.test('maps of bytes, booleans behind pointers, integers of either sign', async t => {
  const { object } = decode(secrets.message, { immutable: false, data: { b: 'AAEC', a: '' }, type: 'Opaque' })
  t.equal(encodeMessage(secrets.message, object).toString('hex'), build(writer => {
    writer.uint32(10).fork()
    emptyMeta(writer).uint32(122).string('').ldelim()
    writer.uint32(18).fork().uint32(10).string('a').uint32(18).bytes(new Uint8Array()).ldelim()
    writer.uint32(18).fork().uint32(10).string('b').uint32(18).bytes(Buffer.from([0, 1, 2])).ldelim()
    writer.uint32(26).string('Opaque').uint32(40).bool(false)
  }).toString('hex'))
  for (const number of [
    0, 1, 127, 128, 2 ** 31, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER, -1, -128, -(2 ** 31), -(2 ** 32) - 5,
    Number.MIN_SAFE_INTEGER
  ]) {
    const meta = { remainingItemCount: number }
    const bytes = encodeMessage(ListMeta, meta)
    t.equal(
      bytes.toString('hex'),
      build(writer => writer.uint32(10)
        .string('')
        .uint32(18)
        .string('')
        .uint32(26)
        .string('')
        .uint32(32)
        .int64(number)).toString('hex'),
      String(number)
    )
    t.same(decodeMessage(ListMeta, bytes), meta)
  }
})

t.test('a list is put together from encoded items', async t => {
  const items = ['a', 'b'].map(name => decode(configMaps.message, { metadata: { name }, data: { k: name } }).object)
  const bytes = protobufList(
    configMaps, { resourceVersion: '9', continue: 'c' }, items.map(item => encodeMessage(configMaps.message, item))
  )
  const { kind, apiVersion, raw } = openEnvelope(bytes)
  t.same([kind, apiVersion], ['ConfigMapList', 'v1'])
  t.equal(Buffer.from(raw).toString('hex'), build(writer => {
    writer.uint32(10).bytes(encodeMessage(ListMeta, { resourceVersion: '9', continue: 'c' }))
    for (const item of items) writer.uint32(18).bytes(encodeMessage(configMaps.message, item))
  }).toString('hex'))
})

t.test('a watch frame is a length and a bare event around an enveloped object', async t => {
  const object = encodeProtobuf(Status, { kind: 'Status', apiVersion: 'v1', metadata: {}, code: 410 })
  const frame = protobufWatchFrame('ERROR', object)
  const event = build(writer => writer.uint32(10).string('ERROR').uint32(18).fork().uint32(10).bytes(object).ldelim())
  t.equal(frame.readUInt32BE(0), event.length)
  t.equal(frame.subarray(4).toString('hex'), event.toString('hex'))
})

t.test('an unset list of verbs is left out, a set one wrapped', async t => {
  const resource = { name: 'n', singularName: '', namespaced: false, kind: 'K' }
  t.notOk(encodeMessage(APIResource, resource).includes(0x22))
  t.same(
    decodeMessage(APIResource, encodeMessage(APIResource, { ...resource, verbs: ['get', 'list'] })).verbs,
    ['get', 'list']
  )
})

t.test('large objects grow the buffer', async t => {
  const data = Object.fromEntries(Array.from(
    { length: 300 }, (_, index) => [`key-${String(index).padStart(4, '0')}`, 'é'.repeat(index * 7)]
  ))
  const { object } = decode(configMaps.message, { data })
  t.same({ ...decodeProtobuf(configMaps.message, encodeProtobuf(configMaps.message, object)).object.data }, data)
})

t.test('a type without a protobuf form is refused', async t => {
  t.throws(
    () => encodeProtobuf(Table, { kind: 'Table', apiVersion: 'meta.orch.io/v1', metadata: {} }), /no protobuf form/
  )
  t.throws(() => decodeMessage(Table, Buffer.alloc(0)), { name: 'DecodeError' })
})

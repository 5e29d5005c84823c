import t from 'tap'
import { OF_BODIES, parseJson, UNBOUNDED } from '../../../schemas/codec/json/parse.js'
import { decodeProtobuf } from '../../../schemas/codec/protobuf/decode.js'
import { encodeProtobuf } from '../../../schemas/codec/protobuf/encode.js'
import { DecodeError } from '../../../schemas/language/decode-error.js'
import { decode } from '../../../schemas/language/decode.js'
import { strictFindings } from '../../../schemas/language/strict-findings.js'
import { configMaps, clusterRoleBindings, clusterRoles, namespaces, secrets } from '../../stored.js'
import { APIResource, DeleteOptions, ListMeta } from '../../../schemas/meta/v1.js'

const { message } = clusterRoleBindings
const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' }

t.test('a missing kind and apiVersion are filled in, others are refused', async t => {
  t.match(decode(message, { roleRef }).object, {
    kind: 'ClusterRoleBinding', apiVersion: 'rbac.authorization.orch.io/v1'
  })
  t.throws(() => decode(message, { kind: 'Role' }), { message: 'kind: expected "ClusterRoleBinding", got "Role"' })
  t.throws(
    () => decode(message, { apiVersion: 'v1' }),
    { message: 'apiVersion: expected "rbac.authorization.orch.io/v1", got "v1"' }
  )
  t.throws(() => decode(message, { kind: 7 }), { message: 'kind: expected a string, got a number' })
})

t.test('options are taken under any apiVersion', async t => {
  t.equal(
    decode(DeleteOptions, { kind: 'DeleteOptions', apiVersion: 'rbac.authorization.orch.io/v1' }).object.apiVersion,
    'rbac.authorization.orch.io/v1'
  )
  t.equal(decode(DeleteOptions, {}).object.apiVersion, 'v1')
})

t.test('a wrong type is refused with its path and what was expected', async t => {
  const cases: Array<[unknown, string]> = [
    [[], 'ClusterRoleBinding: expected an object, got a list'],
    ['x', 'ClusterRoleBinding: expected an object, got a string ("x")'],
    [{ subjects: {} }, 'ClusterRoleBinding.subjects: expected a list, got an object'],
    [{ subjects: [{ name: 3 }] }, 'ClusterRoleBinding.subjects[0].name: expected a string, got a number ("3")'],
    [{ metadata: { labels: { a: true } } }, 'ClusterRoleBinding.metadata.labels.a: expected a string, got a boolean'],
    [{ metadata: { labels: [] } }, 'ClusterRoleBinding.metadata.labels: expected an object, got a list'],
    [
      { metadata: { generation: 1.5 } },
      'ClusterRoleBinding.metadata.generation: expected an integer, got a number ("1.5")'
    ],
    [
      { metadata: { generation: '1' } },
      'ClusterRoleBinding.metadata.generation: expected an integer, got a string ("1")'
    ],
    [
      { metadata: { generation: 2 ** 53 } },
      'ClusterRoleBinding.metadata.generation: expected an integer of 64 bits, got a number ("9007199254740992")'
    ],
    [
      { metadata: { creationTimestamp: 'yesterday' } },
      'ClusterRoleBinding.metadata.creationTimestamp: ' +
      'expected a time such as 2006-01-02T15:04:05Z, got a string ("yesterday")'
    ],
    [{ metadata: { creationTimestamp: '2021-02-30T00:00:00Z' } }, 'creationTimestamp: expected a time'],
    [
      { metadata: { managedFields: [{ fieldsV1: 'x' }] } },
      'ClusterRoleBinding.metadata.managedFields[0].fieldsV1: expected an object, got a string ("x")'
    ],
    [{ roleRef: [1] }, 'ClusterRoleBinding.roleRef: expected an object, got a list']
  ]
  for (const [value, expected] of cases) {
    t.throws(() => decode(message, value), { name: 'DecodeError', message: expected }, expected)
  }
  t.throws(
    () => decode(configMaps.message, { immutable: 'yes' }),
    { message: 'ConfigMap.immutable: expected true or false, got a string ("yes")' }
  )
})

t.test('invalid base64 is refused without repeating it', async t => {
  for (const bad of ['a', 'abc', 'ab=c', '====', 'a-_=', 'YWJj!']) {
    t.throws(
      () => decode(secrets.message, { data: { key: bad } }),
      { message: 'Secret.data.key: expected base64 text (standard alphabet, with padding), got other text' }, bad
    )
  }
  t.same(
    decode(secrets.message, { data: { key: 'YWJj\nZGVm', empty: '' } }).object.data, { key: 'YWJjZGVm', empty: '' },
    'line breaks are dropped'
  )
  t.equal(decode(secrets.message, { data: { key: 'YR==' } }).object.data?.key, 'YQ==', 'leftover bits are cleared')
  const long = Buffer.alloc(1024 * 1024, 7).toString('base64')
  t.equal(decode(secrets.message, { data: { key: long } }).object.data?.key, long)
})

t.test('null is unset, and so is zero of an optional scalar', async t => {
  const { object, unknown } = decode(message, {
    metadata: null, subjects: null, roleRef: { apiGroup: null, kind: '', name: null }
  })
  t.same(object, {
    kind: 'ClusterRoleBinding',
    apiVersion: 'rbac.authorization.orch.io/v1',
    metadata: {},
    roleRef: { apiGroup: '', kind: '', name: '' }
  })
  t.same(unknown, [])
  t.same(
    decode(message, { metadata: { generation: 0, name: '', deletionGracePeriodSeconds: 0 } }).object.metadata,
    { deletionGracePeriodSeconds: 0 }, 'a pointer to zero stays'
  )
  t.same(decode(message, { subjects: [null], metadata: { labels: { a: null } } }).object, {
    kind: 'ClusterRoleBinding', apiVersion: 'rbac.authorization.orch.io/v1', metadata: { labels: { a: '' } },
    subjects: [{ kind: '', name: '' }], roleRef: { apiGroup: '', kind: '', name: '' }
  }, 'null within a list or map is zero')
})

t.test('times become UTC in whole seconds', async t => {
  const at = (creationTimestamp: string) =>
    decode(message, { metadata: { creationTimestamp } }).object.metadata.creationTimestamp
  t.equal(at('2021-03-04T05:06:07Z'), '2021-03-04T05:06:07Z')
  t.equal(at('2021-03-04T05:06:07.999+02:30'), '2021-03-04T02:36:07Z')
  t.equal(at('0001-01-01T00:00:00Z'), undefined, 'the zero time is unset')
})

t.test('unknown fields are dropped and reported by path, at most a hundred', async t => {
  const { object, unknown } = decode(message, {
    spec: {},
    metadata: { labels: { any: 'x' }, foo: 1, managedFields: [{ fieldsV1: { 'f:x': {} }, bar: 2 }] },
    subjects: [{ kind: 'User', name: 'u' }, { baz: 1 }],
    roleRef
  })
  t.same(unknown, ['metadata.managedFields[0].bar', 'metadata.foo', 'subjects[1].baz', 'spec'])
  t.notOk('spec' in object)
  t.same(strictFindings(['spec.b', 'metadata.a', 'spec.a'], ['spec.b', 'metadata.name']), [
    'duplicate field "spec.b"', 'duplicate field "metadata.name"', 'unknown field "metadata.a"',
    'unknown field "spec.a"', 'unknown field "spec.b"'
  ])
  t.equal(
    decode(message, Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, 1]))).unknown.length, 100
  )
})

t.test('names of members of Object.prototype are plain data in maps and unknown fields elsewhere', async t => {
  const { value } = parseJson(Buffer.from(
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{}},"data":{"__proto__":"a","constructor":"b",' +
    '"toString":"c"}}'
  ))
  const { object, unknown } = decode(configMaps.message, value)
  t.same(unknown.sort(), ['__proto__', 'constructor'])
  t.same(Object.entries(object.data ?? {}), [['__proto__', 'a'], ['constructor', 'b'], ['toString', 'c']])
  t.equal(({} as Record<string, unknown>).polluted, undefined)
})

t.test('embedded messages are always there, pointers only when sent', async t => {
  t.same(decode(namespaces.message, {}).object, {
    kind: 'Namespace', apiVersion: 'v1', metadata: {}, spec: {}, status: {}
  })
  t.notOk('aggregationRule' in decode(clusterRoles.message, {}).object)
})

t.test('a decoded object shares nothing with its source', async t => {
  const source = { subjects: [{ kind: 'User', name: 'u' }], metadata: { labels: { a: 'b' } }, roleRef }
  const { object } = decode(message, source)
  object.metadata.labels = { ...object.metadata.labels, c: 'd' }
  if (object.subjects?.[0] !== undefined) object.subjects[0].name = 'changed'
  t.same(source, { subjects: [{ kind: 'User', name: 'u' }], metadata: { labels: { a: 'b' } }, roleRef })
})

t.test('messages that are no kinds decode as well', async t => {
  t.same(decode(ListMeta, { resourceVersion: '5', remainingItemCount: 0 }).object, {
    resourceVersion: '5', remainingItemCount: 0
  })
  t.throws(() => decode(APIResource, { verbs: ['get', 1] }), DecodeError)
})

t.test('lists and maps of more values than any object has are refused, unless they are stored already', async t => {
  const value = { metadata: { finalizers: new Array<string>(OF_BODIES.entries + 1).fill('a') } }
  t.throws(() => decode(message, value), { name: 'DecodeError', message: /more than 16000 values by name/ })
  const { object } = decode(message, value, UNBOUNDED)
  const bytes = encodeProtobuf(message, object)
  t.throws(
    () => decodeProtobuf(message, bytes, OF_BODIES), { name: 'DecodeError', message: /more than 16000 values by name/ }
  )
  t.equal(decodeProtobuf(message, bytes).object.metadata.finalizers?.length, OF_BODIES.entries + 1)
})

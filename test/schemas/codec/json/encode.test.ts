import t from 'tap'
import { joinJson, listJson, splitJson, toJson } from '../../../../schemas/codec/json/encode.js'
import { finish } from '../../../../schemas/steps.js'
import { parseJson } from '../../../../schemas/codec/json/parse.js'
import { decode } from '../../../../schemas/language/decode.js'
import { apiPackage, string } from '../../../../schemas/language/declare.js'
import { metadata } from '../../../../schemas/meta/object.js'
import { APIGroupList, APIResourceList, DeleteOptions, Status, Table } from '../../../../schemas/meta/v1.js'
import { clusterRoleBindings, clusterRoles, configMaps, namespaces, secrets, serviceAccounts } from '../../../stored.js'

const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' }
const binding = (more: object) => decode(clusterRoleBindings.message, { roleRef, ...more }).object

t.test('members are written in declared order, in whatever order they were set', async t => {
  const object = binding({ subjects: [{ name: 'u', kind: 'User' }] })
  object.metadata.uid = 'u-1'
  object.metadata.name = 'n'
  object.metadata.creationTimestamp = '2021-01-01T00:00:00Z'
  t.equal(toJson(clusterRoleBindings.message, object),
    '{"kind":"ClusterRoleBinding","apiVersion":"rbac.authorization.orch.io/v1","metadata":{"name":"n","uid":"u-1",' +
    '"creationTimestamp":"2021-01-01T00:00:00Z"},"subjects":[{"kind":"User","name":"u"}],' +
    '"roleRef":{"apiGroup":"rbac.authorization.orch.io","kind":"ClusterRole","name":"view"}}')
})

t.test('required members are written when unset: null lists, null times, empty messages, zeros', async t => {
  t.equal(toJson(clusterRoles.message, decode(clusterRoles.message, {}).object),
    '{"kind":"ClusterRole","apiVersion":"rbac.authorization.orch.io/v1","metadata":{"creationTimestamp":null},' +
    '"rules":null}')
  t.equal(toJson(clusterRoles.message, decode(clusterRoles.message, { rules: [] }).object),
    '{"kind":"ClusterRole","apiVersion":"rbac.authorization.orch.io/v1","metadata":{"creationTimestamp":null},' +
    '"rules":[]}')
  t.equal(toJson(clusterRoles.message, decode(clusterRoles.message, { rules: [{}], aggregationRule: {} }).object),
    '{"kind":"ClusterRole","apiVersion":"rbac.authorization.orch.io/v1","metadata":{"creationTimestamp":null},' +
    '"rules":[{"verbs":null}],"aggregationRule":{}}')
  t.equal(toJson(namespaces.message, decode(namespaces.message, {}).object),
    '{"kind":"Namespace","apiVersion":"v1","metadata":{"creationTimestamp":null},"spec":{},"status":{}}')
  t.equal(toJson(clusterRoleBindings.message, decode(clusterRoleBindings.message, {}).object),
    '{"kind":"ClusterRoleBinding","apiVersion":"rbac.authorization.orch.io/v1","metadata":{"creationTimestamp":null},' +
    '"roleRef":{"apiGroup":"","kind":"","name":""}}')
})

t.test('optional members are omitted when empty; pointers keep their zero', async t => {
  const text = (object: object) => toJson(configMaps.message, decode(configMaps.message, object).object)
  const head = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"creationTimestamp":null}'
  t.equal(text({ data: {}, binaryData: {}, metadata: { labels: {}, finalizers: [] } }), `${head}}`)
  t.equal(text({ immutable: false }), `${head},"immutable":false}`)
  t.equal(toJson(DeleteOptions, decode(DeleteOptions, { gracePeriodSeconds: 0, orphanDependents: false }).object),
    '{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"orphanDependents":false}')
})

t.test('map keys ascend by their bytes', async t => {
  const data = { b: '1', 10: '2', 9: '3', a: '4', '-': '5', Z: '6' }
  t.match(
    toJson(configMaps.message, decode(configMaps.message, { data }).object),
    '"data":{"-":"5","10":"2","9":"3","Z":"6","a":"4","b":"1"}'
  )
  t.match(
    toJson(configMaps.message, decode(configMaps.message, { data: { '\u{1f600}': 'x', '\uffee': 'y' } }).object),
    '"data":{"\uffee":"y","\u{1f600}":"x"}'
  )
  t.match(
    toJson(
      configMaps.message,
      decode(configMaps.message, parseJson(Buffer.from('{"data":{"__proto__":"x","constructor":"y"}}')).value).object
    ),
    '"data":{"__proto__":"x","constructor":"y"}'
  )
})

t.test('text that browsers or JavaScript could take for more is escaped', async t => {
  const data = { key: '<a href="x">&</a>\u2028\u2029\n\t\u0001é\u{1f600}' }
  const text = toJson(configMaps.message, decode(configMaps.message, { data }).object)
  t.match(text, '"key":"\\u003ca href=\\"x\\"\\u003e\\u0026\\u003c/a\\u003e\\u2028\\u2029\\n\\t\\u0001é\u{1f600}"')
  t.same((JSON.parse(text) as { data: object }).data, data)
  const managedFields = [{ manager: 'm', operation: 'Update', fieldsV1: { 'f:<x>': { '.': {} } } }]
  t.match(
    toJson(configMaps.message, decode(configMaps.message, { metadata: { managedFields } }).object),
    '"fieldsV1":{"f:\\u003cx\\u003e":{".":{}}}'
  )
})

t.test('a resourceVersion can be put in late, and the bytes are the same', async t => {
  const cases = [
    {},
    { metadata: { name: 'n', generation: 3 } },
    {
      metadata: {
        name: '"creationTimestamp":', annotations: { '"generation":': '"generation":' }, resourceVersion: '1'
      }
    },
    { metadata: { name: 'n', managedFields: [{ manager: 'generation', fieldsV1: { generation: {} } }] } }
  ]
  for (const more of cases) {
    const object = binding(more)
    const split = finish(splitJson(clusterRoleBindings.message, object))
    const expected = toJson(clusterRoleBindings.message, object, '12345')
    t.equal(joinJson(split, '12345').toString(), expected)
    t.equal((JSON.parse(expected) as { metadata: { resourceVersion: string } }).metadata.resourceVersion, '12345')
  }
  const object = binding({ metadata: { resourceVersion: '1' } })
  t.notMatch(toJson(clusterRoleBindings.message, object, ''), 'resourceVersion')
  t.equal(object.metadata.resourceVersion, '1', 'the object stays as it is')
})

t.test('a field of that name beside the metadata keeps its own value', async t => {
  const { kind } = apiPackage('example.com', 'v1', 'com.example.v1')
  const Versioned = kind('Versioned', 'Has a field of that name.', { metadata, resourceVersion: string(2, 'Its own.') })
  const { object } = decode(Versioned, { metadata: { name: 'a', resourceVersion: '1' }, resourceVersion: 'mine' })
  t.match(
    toJson(Versioned, object, '7'), /"metadata":\{"name":"a","resourceVersion":"7",.*\},"resourceVersion":"mine"\}$/
  )
})

t.test('a list is head, items and tail', async t => {
  const { head, tail } = listJson(serviceAccounts, { resourceVersion: '7', continue: 'c', remainingItemCount: 0 })
  t.equal(
    head + tail,
    '{"kind":"ServiceAccountList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"c",' +
    '"remainingItemCount":0},"items":[]}'
  )
})

t.test('answers that are no resources', async t => {
  t.equal(toJson(Status, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    reason: 'NotFound',
    details: { name: 'x', causes: [{ field: 'a' }] },
    code: 404
  }),
  '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"NotFound","details":{"name":"x",' +
    '"causes":[{"field":"a"}]},"code":404}')
  t.equal(toJson(APIResourceList, {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'v1',
    resources: [{ name: 'pods', singularName: '', namespaced: true, kind: 'Pod', verbs: ['get'] }]
  }),
  '{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"pods","singularName":"",' +
    '"namespaced":true,"kind":"Pod","verbs":["get"]}]}')
  t.equal(
    toJson(APIGroupList, { kind: 'APIGroupList', apiVersion: 'v1', groups: [] }),
    '{"kind":"APIGroupList","apiVersion":"v1","groups":[]}'
  )
  t.equal(toJson(Table, {
    kind: 'Table', apiVersion: 'meta.orch.io/v1', metadata: {}, columnDefinitions: [], rows: [{ cells: ['a', 1, null] }]
  }),
  '{"kind":"Table","apiVersion":"meta.orch.io/v1","metadata":{},"columnDefinitions":[],"rows":[{"cells":["a",1,' +
  'null],"object":null}]}')
})

t.test('bytes are base64 text', async t => {
  t.match(
    toJson(secrets.message, decode(secrets.message, { data: { b: 'AAEC', a: '' } }).object),
    '"data":{"a":"","b":"AAEC"}'
  )
})

/** Requests whose body contradicts their URL. */
import t from 'tap'
import { build } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const OTHER_NAMESPACE = 'the namespace of the provided object does not match the namespace sent on the request'
const NAMELESS = 'the name of the object (a based on URL) was undeterminable: name must be provided'
const OTHER_NAME = 'the name of the object (b) does not match the name on the URL (a)'
const MERGE = 'application/merge-patch+json'
const APPLY = 'application/apply-patch+yaml'
const REVIEWS = '/apis/authorization.orch.io/v1'

t.test('another name or namespace than that of the URL is refused in the same words everywhere', async t => {
  const server = await build(t)
  await server.post(CONFIGS, { metadata: { name: 'a' } })
  await server.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'a' } })
  const applied = { apiVersion: 'v1', kind: 'ConfigMap' }
  for (const [method, url, metadata, message, type = 'application/json', more = {}] of [
    ['POST', CONFIGS, { name: 'b', namespace: 'other' }, OTHER_NAMESPACE],
    [
      'POST', CONFIGS, { name: 'b', resourceVersion: '5' }, 'resourceVersion should not be set on objects to be created'
    ],
    ['PUT', `${CONFIGS}/a`, { name: 'b' }, OTHER_NAME],
    ['PUT', `${CONFIGS}/a`, {}, NAMELESS],
    ['PUT', `${CONFIGS}/a`, { name: 'b', namespace: 'other' }, OTHER_NAMESPACE],
    ['PATCH', `${CONFIGS}/a`, { name: 'b' }, OTHER_NAME, MERGE],
    ['PATCH', `${CONFIGS}/a`, { name: null }, NAMELESS, MERGE],
    ['PATCH', `${CONFIGS}/a`, { namespace: 'other' }, OTHER_NAMESPACE, MERGE],
    ['PATCH', `${CONFIGS}/a?fieldManager=m`, { name: 'b' }, OTHER_NAME, APPLY, applied],
    ['PATCH', `${CONFIGS}/a?fieldManager=m`, { namespace: 'other' }, OTHER_NAMESPACE, APPLY, applied],
    ['POST', '/api/v1/namespaces/default/pods/a/eviction', { name: 'a', namespace: 'other' }, OTHER_NAMESPACE],
    [
      'POST', '/api/v1/namespaces/default/pods/a/binding', { name: 'a', namespace: 'other' }, OTHER_NAMESPACE,
      undefined, { target: { name: 'n' } }
    ],
    ['POST', '/api/v1/namespaces/default/serviceaccounts/a/token', { namespace: 'other' }, OTHER_NAMESPACE],
    [
      'POST', `${REVIEWS}/namespaces/default/localsubjectaccessreviews`, { namespace: 'other' }, OTHER_NAMESPACE,
      undefined, { spec: { user: 'u', resourceAttributes: {} } }
    ]
  ] as const) {
    t.match(
      await server.call(method, url, { metadata, ...more }, { 'content-type': type }),
      { code: 400, json: { reason: 'BadRequest', message } }, `${method} ${url} ${JSON.stringify(metadata)}`
    )
  }
  const of = { ...applied, metadata: { name: 'new', uid: 'x' } }
  const message =
    'Operation cannot be fulfilled on configmaps "new": uid mismatch: ' +
    'the provided object specified uid x, and no existing object was found'
  t.match(await server.call('PATCH', `${CONFIGS}/new?fieldManager=m`, of, { 'content-type': APPLY }), {
    code: 409, json: { message }
  })
  t.equal(
    (await server.patch(`${CONFIGS}/a`, { metadata: { namespace: null } })).json.metadata.namespace, 'default',
    'which may be left out'
  )
})

t.test('the namespace of a cluster-scoped object is dropped', async t => {
  const server = await build(t)
  const { code, json } = await server.post(`${REVIEWS}/subjectaccessreviews`, {
    metadata: { namespace: 'x' }, spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods' } }
  })
  t.match({ code, json }, { code: 201, json: { status: { allowed: true } } })
  t.notOk('namespace' in json.metadata)
})

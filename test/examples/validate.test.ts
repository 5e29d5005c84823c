import t from 'tap'
import { host } from '../../examples/validate.js'
import { build } from '../build.js'

const binding = {
  metadata: { name: 'ann' }, roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' }
}

t.test('a route of a host is validated by an API type, and its handler gets one', async t => {
  const fastify = host()
  t.teardown(() => fastify.close())
  const post = async (payload: object) => await fastify.inject({ method: 'POST', url: '/grants', payload })
  const answer = await post({ reason: 'on call', binding: { ...binding, subjects: [{ kind: 'User', name: 'ann' }] } })
  t.equal(
    answer.body,
    '{"kind":"ClusterRoleBinding","apiVersion":"rbac.authorization.orch.io/v1","metadata":{"name":"ann",' +
    '"creationTimestamp":null,"annotations":{"example.com/days":"7"}},"subjects":[{"kind":"User","name":"ann"}],' +
    '"roleRef":{"apiGroup":"rbac.authorization.orch.io","kind":"ClusterRole","name":"view"}}'
  )
  t.match(
    (await post({ reason: 'x', binding: { ...binding, roleRef: { kind: 'ClusterRole' } } })).json(),
    { statusCode: 400, message: 'body/binding/roleRef must have required property \'apiGroup\'' }
  )
  t.match((await post({ reason: 'x', binding: { ...binding, metadata: { name: {} } } })).json(), {
    statusCode: 400, message: 'body/binding/metadata/name must be string'
  })
  t.match((await post({ reason: 'x', binding: { ...binding, kind: 'Role' } })).json(), {
    statusCode: 400, message: /body\/binding\/kind must be equal to constant/
  })
  const server = await build(t)
  t.equal(
    (await server.post('/apis/rbac.authorization.orch.io/v1/clusterrolebindings', answer.body)).code, 201,
    'a server accepts the result'
  )
})

t.test('the package offers its types under a name of their own', async t => {
  const name: string = 'orch-apiserver/schemas' // its declarations are made when it is packed
  const offered = await import(name) as typeof import('../../schemas/public.js')
  for (const name of [
    'coreV1', 'metaV1', 'rbacV1', 'apiPackage', 'fromStructural', 'decode', 'toJson', 'encodeProtobuf'
  ] as const) {
    t.ok(offered[name], name)
  }
  t.equal(offered.coreV1.ConfigMap.properties.kind.const, 'ConfigMap')
})

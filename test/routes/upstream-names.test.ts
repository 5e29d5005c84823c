/** Requests with the group names of Kubernetes. */
import t from 'tap'
import type { Authorizer } from '../../app.js'
import { build } from '../build.js'

const UPSTREAM = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const RENAMED = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const definition = {
  metadata: { name: 'cars.shop.example' },
  spec: {
    group: 'shop.example',
    scope: 'Namespaced',
    names: { plural: 'cars', kind: 'Car' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
  }
}

t.test('paths with the name of a renamed group are 404 and say its name here', async t => {
  const server = await build(t)
  for (const path of ['', '/v1', '/v1/clusterroles', '/v1/namespaces/a/roles/b', '/v1beta1/clusterroles']) {
    const { code, json } = await server.get(`/apis/rbac.authorization.k8s.io${path}`)
    t.match(
      [code, json],
      [
        404,
        {
          reason: 'NotFound',
          message:
            'the server could not find the requested resource: the API group rbac.authorization.k8s.io is named ' +
            'rbac.authorization.orch.io here; start the server with --compat-names to serve it under both names'
        }
      ],
      path
    )
  }
  for (const group of ['nothing.k8s.io', 'nothing.example', 'rbac.authorization.k8s.io.example']) {
    t.match(
      (await server.get(`/apis/${group}/v1`)).json,
      { code: 404, message: 'the server could not find the requested resource' }, group
    )
  }
})

t.test(
  'the list of definitions that kubectl requests under the upstream group is served, and nothing else of that group',
  async t => {
    const server = await build(t)
    t.equal((await server.post(RENAMED, definition)).code, 201)
    const { code, json } = await server.get(UPSTREAM)
    t.match(
      [code, json],
      [
        200,
        { kind: 'CustomResourceDefinitionList', items: [{ spec: { group: 'shop.example', names: { kind: 'Car' } } }] }
      ]
    )
    t.equal((await server.get(`${UPSTREAM}?watch=true`)).code, 404)
    t.equal((await server.get(`${UPSTREAM}/cars.shop.example`)).code, 404)
    t.equal((await server.post(UPSTREAM, definition)).code, 404)
    t.equal((await server.delete(UPSTREAM)).code, 404)
  }
)

t.test('that list is authorized as the one of the renamed group', async t => {
  const asked: unknown[] = []
  const spy: Authorizer = {
    name: 'spy',
    authorize: ({ info }) => {
      if (info.resource !== 'customresourcedefinitions') return { decision: 'Allow' }
      asked.push([info.verb, info.group])
      return { decision: 'Deny', reason: 'no' }
    }
  }
  const server = await build(t, { authorization: { authorizers: [spy] } })
  t.equal((await server.get(UPSTREAM)).code, 403)
  t.same(asked, [['list', 'apiextensions.orch.io']])
})

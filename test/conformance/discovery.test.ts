/** Interface, 'API groups and versions', as clients discover them; `/version`. */
import t from 'tap'
import { build, type Json } from '../build.js'

const RBAC = 'rbac.authorization.orch.io'
const ALL = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

t.test('/api and /apis lead to every group, version and resource', async t => {
  const server = await build(t)
  t.match((await server.get('/api')).json, {
    kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [{ clientCIDR: String }]
  })
  const { json } = await server.get('/apis')
  t.match(json, { kind: 'APIGroupList', apiVersion: 'v1' })
  const group = json.groups.find(({ name }: Json) => name === RBAC)
  t.match(group, {
    versions: [{ groupVersion: `${RBAC}/v1`, version: 'v1' }],
    preferredVersion: { groupVersion: `${RBAC}/v1`, version: 'v1' }
  })
  t.notOk(json.groups.some(({ name }: Json) => name === ''), 'the core group is not among the named ones')
  t.match((await server.get(`/apis/${RBAC}`)).json, {
    kind: 'APIGroup', apiVersion: 'v1', name: RBAC, preferredVersion: { version: 'v1' }
  })
  for (const { versions } of json.groups) {
    for (const { groupVersion } of versions) {
      t.match((await server.get(`/apis/${groupVersion}`)).json, {
        kind: 'APIResourceList', apiVersion: 'v1', groupVersion
      })
    }
  }
})

t.test('each resource has its name, scope, kind and verbs, and is served at its path', async t => {
  const server = await build(t)
  const wanted: Record<string, Record<string, readonly [string, boolean]>> = {
    '/api/v1': {
      configmaps: ['ConfigMap', true],
      namespaces: ['Namespace', false],
      secrets: ['Secret', true],
      serviceaccounts: ['ServiceAccount', true]
    },
    [`/apis/${RBAC}/v1`]: {
      clusterrolebindings: ['ClusterRoleBinding', false],
      clusterroles: ['ClusterRole', false],
      rolebindings: ['RoleBinding', true],
      roles: ['Role', true]
    }
  }
  for (const [path, types] of Object.entries(wanted)) {
    const { resources } = (await server.get(path)).json
    for (const [name, [kind, namespaced]] of Object.entries(types)) {
      const found = resources.find((resource: Json) => resource.name === name)
      t.match(found, { name, kind, namespaced, singularName: String }, name)
      t.same(
        [...found.verbs].sort(), name === 'namespaces' ? ALL.filter(verb => verb !== 'deletecollection') : ALL, name
      )
      t.equal((await server.get(`${path}/${name}`)).json.kind, `${kind}List`)
    }
    for (const { name, verbs } of resources) t.ok(Array.isArray(verbs) && verbs.length > 0, name)
  }
})

t.test('unknown groups and versions are 404', async t => {
  const server = await build(t)
  for (const path of ['/apis/none', '/apis/none/v1', `/apis/${RBAC}/v9`, '/api/v9', '/apis/v1']) {
    t.match(await server.get(path), { code: 404, json: { kind: 'Status', reason: 'NotFound' } }, path)
  }
})

t.test('a disabled version is neither listed nor served', async t => {
  const server = await build(t, { api: { disabled: [`${RBAC}/v1`] } })
  t.notOk((await server.get('/apis')).json.groups.some(({ name }: Json) => name === RBAC))
  for (const path of [`/apis/${RBAC}`, `/apis/${RBAC}/v1`, `/apis/${RBAC}/v1/clusterrolebindings`]) {
    t.equal((await server.get(path)).code, 404, path)
  }
  t.equal((await server.get('/api/v1/namespaces')).code, 200)
})

t.test('/version names the release', async t => {
  const server = await build(t)
  t.match(await server.get('/version'), {
    code: 200, json: { major: '1', minor: '24', gitVersion: /^v1\.24\./, platform: /\// }
  })
})

t.test('discovery documents are JSON or YAML, and not protobuf', async t => {
  const server = await build(t)
  for (const path of ['/api', '/apis', '/api/v1', '/version']) {
    t.match((await server.get(path, { accept: 'application/yaml' })).headers['content-type'], /^application\/yaml/)
    t.equal((await server.get(path, { accept: 'application/vnd.orch.protobuf' })).code, 406)
    t.equal((await server.get(path, { accept: 'application/vnd.orch.protobuf,application/json' })).code, 200)
    for (const method of ['POST', 'PUT', 'DELETE']) {
      t.ok([404, 405].includes((await server.call(method, path)).code), `${method} ${path}`)
    }
  }
})

t.test('the OpenAPI document names every path and type that is served', async t => {
  const server = await build(t)
  const { code, json } = await server.get('/openapi/v2')
  t.equal(code, 200)
  t.equal(json.swagger, '2.0')
  for (const path of [
    '/api/v1/namespaces', '/api/v1/namespaces/{name}', '/api/v1/namespaces/{namespace}/configmaps/{name}',
    '/api/v1/configmaps', `/apis/${RBAC}/v1/clusterrolebindings`, `/apis/${RBAC}/v1/clusterrolebindings/{name}`
  ]) {
    t.ok(json.paths[path], path)
  }
  const operations = json.paths[`/apis/${RBAC}/v1/clusterrolebindings`]
  t.same(['get', 'post', 'delete'].filter(method => operations[method] === undefined), [])
  const kinds = Object.values(json.definitions as Json)
    .flatMap((definition: Json) => (definition['x-kubernetes-group-version-kind'] ?? []) as Json[])
    .map(({ kind }) => kind)
  for (const kind of ['ClusterRoleBinding', 'ClusterRoleBindingList', 'Namespace', 'DeleteOptions', 'Status']) {
    t.ok(kinds.includes(kind), kind)
  }
})

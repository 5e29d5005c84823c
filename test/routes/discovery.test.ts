import t from 'tap'
import { gunzipSync } from 'node:zlib'
import { build, type Json } from '../build.js'

const named = (list: Json, name: string): Json => list.resources.find((resource: Json) => resource.name === name) ?? {}

/** In the order of discovery, the preferred version of each first. */
const SERVED_GROUPS = Object.entries({
  'apiregistration.orch.io': ['v1'],
  apps: ['v1'],
  'events.orch.io': ['v1', 'v1beta1'],
  'authentication.orch.io': ['v1'],
  'authorization.orch.io': ['v1'],
  autoscaling: ['v2', 'v1', 'v2beta1', 'v2beta2'],
  batch: ['v1', 'v1beta1'],
  'certificates.orch.io': ['v1'],
  'networking.orch.io': ['v1'],
  policy: ['v1', 'v1beta1'],
  'rbac.authorization.orch.io': ['v1'],
  'storage.orch.io': ['v1', 'v1beta1'],
  'admissionregistration.orch.io': ['v1'],
  'apiextensions.orch.io': ['v1'],
  'scheduling.orch.io': ['v1'],
  'coordination.orch.io': ['v1'],
  'node.orch.io': ['v1', 'v1beta1'],
  'discovery.orch.io': ['v1', 'v1beta1'],
  'flowcontrol.apiserver.orch.io': ['v1beta2', 'v1beta1']
}).map(([name, versions]) => [name, versions, versions[0]])

t.test('discovery lists groups, versions and resources as they are served', async t => {
  const server = await build(t, { api: { externalHostname: 'orch.example.com:443' } })
  t.same((await server.get('/api')).json, {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: 'orch.example.com:443' }]
  })
  const version = { groupVersion: 'rbac.authorization.orch.io/v1', version: 'v1' }
  const group = { name: 'rbac.authorization.orch.io', versions: [version], preferredVersion: version }
  const groups = (await server.get('/apis')).json
  t.match(groups, { kind: 'APIGroupList', apiVersion: 'v1' })
  t.same(
    groups.groups.map(({ name, versions, preferredVersion }: Json) => [
      name, versions.map(({ version }: Json) => version), preferredVersion.version
    ]),
    SERVED_GROUPS
  )
  t.same(groups.groups.find(({ name }: Json) => name === 'rbac.authorization.orch.io'), group)
  t.same((await server.get('/apis/rbac.authorization.orch.io')).json, { kind: 'APIGroup', apiVersion: 'v1', ...group })
  const rbac = (await server.get('/apis/rbac.authorization.orch.io/v1')).json
  t.match(rbac, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'rbac.authorization.orch.io/v1' })
  t.same(rbac.resources.map(({ name }: Json) => name), ['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'])
  t.same(named(rbac, 'clusterrolebindings'), {
    name: 'clusterrolebindings', singularName: '', namespaced: false, kind: 'ClusterRoleBinding',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    storageVersionHash: 'FC13CUzF/H8='
  })
  const core = (await server.get('/api/v1/')).json
  t.equal(core.groupVersion, 'v1')
  t.notOk('apiVersion' in core, 'as convention')
  t.match(named(core, 'configmaps'), { namespaced: true, shortNames: ['cm'], storageVersionHash: 'qFsyl6wFWjQ=' })
  t.notOk(named(core, 'namespaces').verbs.includes('deletecollection'))
  t.same(named(core, 'namespaces/finalize').verbs, ['update'])
  t.same(named(core, 'namespaces/status').verbs, ['get', 'patch', 'update'])
})

t.test('what is not served is not listed and answers 404', async t => {
  const server = await build(t, { api: { disabled: ['rbac.authorization.orch.io/v1'] } })
  const groups = (await server.get('/apis')).json.groups.map(({ name }: Json) => name)
  t.notOk(groups.includes('rbac.authorization.orch.io'))
  t.ok(groups.includes('apps'))
  for (const url of [
    '/apis/rbac.authorization.orch.io', '/apis/rbac.authorization.orch.io/v1',
    '/apis/rbac.authorization.orch.io/v1/roles', '/apis/nothing', '/api/v2', '/apis/a/b/c'
  ]) {
    t.match(await server.get(url), { code: 404, json: { kind: 'Status', reason: 'NotFound' } }, url)
  }
})

t.test('the release and the package both have their version', async t => {
  const server = await build(t)
  t.match(
    (await server.get('/version')).json,
    {
      major: '1', minor: '24', gitVersion: /^v1\.24\.\d+\+orch-\d+\.\d+\.\d+/, gitCommit: /^[0-9a-f]{40}$/,
      gitTreeState: /^(clean|dirty|archive)$/, platform: /^\w+\/\w+$/
    }
  )
})

t.test('discovery documents are JSON or YAML only', async t => {
  const server = await build(t)
  const yaml = await server.get('/version', { accept: 'application/yaml' })
  t.equal(yaml.headers['content-type'], 'application/yaml')
  t.match(yaml.body, /^major: "1"$/m)
  t.match((await server.get('/apis?pretty=true')).body, /^{\n {2}"kind"/)
  t.equal(
    (await server.get('/apis', { accept: 'application/vnd.orch.protobuf, application/json' })).json.kind, 'APIGroupList'
  )
  t.match(await server.get('/apis', { accept: 'image/png' }), { code: 406, json: { reason: 'NotAcceptable' } })
  t.equal(
    (await server.get('/apis', {
      accept: 'application/json;g=apidiscovery.orch.io;v=v2beta1;as=APIGroupDiscoveryList,application/json'
    })).json.kind,
    'APIGroupList',
    'what is no longer offered falls back'
  )
})

t.test('the root lists the paths of the server', async t => {
  const server = await build(t)
  const { paths } = (await server.get('/')).json
  for (const path of paths) t.equal((await server.get(path)).code, 200, path)
})

t.test('the OpenAPI document describes what is served, and its entity tag saves a second download', async t => {
  const server = await build(t)
  const { json, headers } = await server.get('/openapi/v2')
  t.match(json, { swagger: '2.0', info: { title: 'orch' } })
  t.ok(json.paths['/apis/rbac.authorization.orch.io/v1/clusterrolebindings/{name}'].patch)
  t.match(json.definitions['io.orch.api.rbac.v1.ClusterRoleBinding'], { required: ['roleRef'] })
  t.equal((await server.get('/openapi/v2', { 'if-none-match': String(headers.etag) })).code, 304)
  for (const accept of [
    'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
  ]) {
    const answer = await server.get('/openapi/v2', { accept })
    t.equal(answer.headers['content-type'], 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
    t.ok(answer.raw.includes('io.orch.api.rbac.v1.ClusterRoleBinding'))
  }
  t.equal((await server.get('/openapi/v2', { accept: 'text/html' })).code, 406)
  const zipped = await server.get('/openapi/v2', { 'accept-encoding': 'gzip' })
  t.match(zipped.headers, { 'content-encoding': 'gzip', vary: 'accept, accept-encoding' })
  t.same(JSON.parse(gunzipSync(zipped.raw).toString()), json)
  t.match(await server.post('/openapi/v2', {}), { code: 405, json: { reason: 'MethodNotAllowed' } })
  t.match(await server.delete('/version'), { code: 405 })
  for (const path of ['/apis/*/b', '/:a', '/a(b', '/*']) {
    t.match(await server.delete(path), { code: 404, json: { reason: 'NotFound' } }, path)
  }
})

/**
 * All groups, versions and resources in one document: forms, names, tags, what is made again, extension servers, and
 * kubectl.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import type { ResourceStore } from '../../registry/resource-store.js'
import { ServedVersions } from '../../registry/served-versions.js'
import { Overview } from '../../routes/aggregated-discovery.js'
import { APIGroupDiscoveryList } from '../../schemas/api/apidiscovery/v2.js'
import { decodeProtobuf } from '../../schemas/codec/protobuf/decode.js'
import { OWN_VIEW } from '../../answers/view.js'
import { testServer } from '../../testing/server.js'
import { build, type Answer, type Client, type Json } from '../build.js'
import {
  apiService, extensionServer, GROUP, outbound, register, ROOT, SERVICES
} from '../controllers/aggregation/extension-server.js'
import { definition, install, until, version } from '../controllers/custom/definitions.js'
import { kubectlPrograms } from '../tools.js'

const asking = (type = 'application/json', version = 'v2', group = 'apidiscovery.orch.io'): string =>
  `${type};g=${group};v=${version};as=APIGroupDiscoveryList`
const get = (server: Client, path: string, accept = asking(), headers: Record<string, string> = {}): Promise<Answer> =>
  server.get(path, { accept, ...headers })
const groupIn = (list: Json, name: string): Json => list['items'].find((item: Json) => item['metadata'].name === name)

t.test('it says what the documents of all group versions say', async t => {
  const server = await build(t)
  const [core, others] = [await get(server, '/api'), await get(server, '/apis/')]
  t.match(core.json, { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.orch.io/v2', metadata: {} })
  t.equal(core.headers['content-type'], asking())
  t.match(core.headers, { 'cache-control': 'public', vary: /accept/i, etag: /^"[0-9A-F]{128}"$/ })
  t.same(core.json['items'].map(({ metadata }: Json) => metadata), [{}], 'the core group has no name')
  t.same(others.json['items'].map(({ metadata }: Json) =>
    metadata.name), (await server.get('/apis')).json['groups'].map(({ name }: Json) => name))
  for (const { metadata: { name = '' }, versions } of [...core.json['items'], ...others.json['items']]) {
    for (const { version, resources, freshness } of versions) {
      t.equal(freshness, 'Current')
      const path = name === '' ? `/api/${version}` : `/apis/${name}/${version}`
      const listed = (await server.get(path)).json['resources'] as Json[]
      const flat = resources.flatMap(({ resource, subresources = [], responseKind, verbs, scope }: Json) => [
        [resource, responseKind.kind, verbs, scope === 'Namespaced'],
        ...subresources.map((sub: Json) =>
          [`${resource}/${sub['subresource']}`, sub['responseKind'].kind, sub['verbs'], scope === 'Namespaced'])
      ])
      t.same(
        flat.sort(), listed.map(({ name, kind, verbs, namespaced }) => [name, kind, verbs, namespaced]).sort(), path
      )
    }
  }
  const deployments = groupIn(others.json, 'apps')['versions'][0].resources
    .find((resource: Json) => resource['resource'] === 'deployments')
  t.match(deployments, {
    responseKind: { group: '', version: '', kind: 'Deployment' }, singularResource: 'deployment',
    shortNames: ['deploy'], categories: ['all']
  })
  t.match(deployments.subresources, [
    { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
    { subresource: 'status', responseKind: { group: '', version: '', kind: 'Deployment' } }
  ])
})

t.test('an answer is in the form of the best clause that is offered', async t => {
  const server = await build(t)
  const usual = [asking(undefined, 'v2'), asking(undefined, 'v2beta1'), 'application/json']
  t.equal((await get(server, '/apis', usual.join())).json['kind'], 'APIGroupDiscoveryList')
  t.equal((await get(server, '/apis', usual.slice(1).join())).json['kind'], 'APIGroupList')
  t.equal((await get(server, '/api', usual.slice(1).join())).json['kind'], 'APIVersions')
  for (const refused of [
    asking(undefined, 'v2beta1'), asking(undefined, 'v2', 'meta.orch.io'), 'application/json;as=APIGroupDiscoveryList',
    asking('text/plain')
  ]) {
    t.equal((await get(server, '/apis', refused)).code, 406, refused)
  }
  for (const path of ['/apis/apps', '/apis/apps/v1', '/version', '/api/v1/namespaces']) {
    t.equal((await get(server, path)).code, 406, path)
  }
  const { json } = await get(server, '/apis')
  const yaml = await get(server, '/apis', asking('application/yaml'))
  t.match(yaml.body, /^kind: APIGroupDiscoveryList\n/)
  t.equal(yaml.headers['content-type'], asking('application/yaml'))
  const response = await server.app
    .inject({ url: '/apis', headers: { accept: asking('application/vnd.orch.protobuf') } })
  t.equal(response.headers['content-type'], asking('application/vnd.orch.protobuf'))
  const { items = [] } = decodeProtobuf(APIGroupDiscoveryList, response.rawPayload).object
  t.same(items.map(({ metadata, versions }) => ({ metadata: { name: metadata.name }, versions })), json['items'])
  t.equal(response.headers.etag, (await get(server, '/apis')).headers.etag, 'all forms have one tag')
})

t.test('a client that repeats the tag gets 304, and no one else', async t => {
  const server = await build(t)
  const { headers: { etag = '' } } = await get(server, '/apis')
  const tag = String(etag)
  t.match(await get(server, '/apis', asking(), { 'if-none-match': tag }), {
    code: 304, body: '', headers: { etag: tag }
  })
  for (const other of [`W/${tag}`, '*', tag.slice(1, -1), `"x", ${tag}`]) {
    t.equal((await get(server, '/apis', asking(), { 'if-none-match': other })).code, 200, other)
  }
  await install(server, definition({ versions: [version('v1')] }))
  t.equal((await get(server, '/apis', asking(), { 'if-none-match': tag })).code, 200, 'when something has changed')
})

t.test('definitions come, change and go', async t => {
  const server = await build(t)
  const made = definition({ versions: [version('v1')] })
  await install(server, made)
  const { spec: { group, names } } = made as Json
  const named = async (): Promise<Json> => groupIn((await get(server, '/apis')).json, group)
  t.match(await named(), {
    versions: [{
      version: 'v1',
      resources: [{ resource: names.plural, responseKind: { group: '', version: '', kind: names.kind } }],
      freshness: 'Current'
    }]
  })
  const path = `/apis/apiextensions.orch.io/v1/customresourcedefinitions/${names.plural}.${group}`
  await server.patch(path, { spec: { names: { shortNames: ['zz'] } } })
  await until(async () => (await named())['versions'][0].resources[0].shortNames?.includes('zz') === true)
  await server.delete(path)
  await until(async () => await named() === undefined)
  t.end()
})

t.test('only the group that has changed is written again', async t => {
  const types = Array.from({ length: 1000 }, (_, at) => ({
    representation: {
      group: `g${at}.example.com`, version: 'v1', plural: 'things', singular: 'thing', kind: 'Thing', namespaced: true,
      verbs: ['get'], shortNames: [], categories: []
    },
    type: { virtual: true }, gates: { enabled: () => false }
  }))
  const served = new ServedVersions()
  // what it and discovery read of a store
  const storeOf = (type: object): ResourceStore => type as ResourceStore
  for (const type of types) served.add(storeOf(type))
  let generation = 0
  const groups = new Map(types.map(({ representation: { group, version } }) => [group, [version]]))
  const server = {
    orchResources: {
      get generation () { return generation },
      servedIn: (group: string, version: string) => served.of(group, version),
      subresourcesOf: () => []
    },
    orchAggregation: { groups: () => groups }
  }
  // what it reads of a server
  const overview = new Overview(server as unknown as ConstructorParameters<typeof Overview>[0], OWN_VIEW)
  const nothing = { of: () => undefined }
  const first = await overview.current(nothing)
  t.equal(overview.written, 1000)
  t.equal(await overview.current(nothing), first, 'the same document while nothing changes')
  const [one] = types
  if (one === undefined) throw new Error('there is no type')
  served.delete(storeOf(one))
  served.add(storeOf({ ...one, representation: { ...one.representation, shortNames: ['th'] } }))
  generation++
  const both = await Promise.all([overview.current(nothing), overview.current(nothing)])
  t.equal(both[0], both[1], 'those who ask together share the work')
  t.equal(overview.written, 1001)
  t.match(both[0].of('/apis', 'a/v2', false).bytes.toString(), '"shortNames":["th"]')
})

t.test('resources of extension servers are listed, and stay as stale when those do not answer', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  await register(server, shop.port)
  const named = async (): Promise<Json> => groupIn((await get(server, '/apis')).json, GROUP)
  const gadgets = {
    version: 'v1', resources: [{
      resource: 'gadgets', responseKind: { group: '', version: '', kind: 'Gadget' }, scope: 'Namespaced',
      singularResource: 'gadget', shortNames: ['gd']
    }]
  }
  await until(async () => (await named())['versions'][0].freshness === 'Current')
  t.match(await named(), { versions: [gadgets] })
  const asked = shop.asked.filter(({ url, headers }) => (url === '/apis' || url === ROOT) &&
    String(headers.accept).includes('APIGroupDiscoveryList'))
  t.same(
    [...new Set(asked.map(({ url }) => url))], ['/apis', ROOT], 'it has no such document, so it was asked the old way'
  )
  const count = shop.asked.length
  await Promise.all([named(), named(), named()])
  t.equal(
    shop.asked.slice(count).filter(({ headers }) => String(headers.accept).includes('APIGroupDiscoveryList')).length, 0,
    'for a minute it is not asked again'
  )
  await server.post(SERVICES, apiService(443, { group: 'never.example.com', version: 'v1' }))
  t.same(groupIn((await get(server, '/apis')).json, 'never.example.com')['versions'], [
    { version: 'v1', resources: [], freshness: 'Stale' }
  ])
  await server.delete('/api/v1/namespaces/default/services/shop')
  await until(async () => (await get(server, `${SERVICES}/v1.${GROUP}`, 'application/json')).json['status'].conditions
    .some((one: Json) => one['type'] === 'Available' && one['status'] === 'False'))
  t.match(await named(), { versions: [{ ...gadgets, freshness: 'Stale' }] })
})

t.test('an extension server with such a document is asked once, and what is wrong in it harms nothing', async t => {
  const shop = await extensionServer(t)
  let answer: unknown = {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: GROUP }, versions: [{
          version: 'v1', resources: [{
            resource: 'gadgets', responseKind: { group: 'rbac.authorization.orch.io', version: 'v1', kind: 'Gadget' },
            scope: 'Cluster', singularResource: 'gadget', verbs: ['get'], extra: 'x'
          }]
        }]
      }
    ]
  }
  shop.instead = (request, raw) => {
    if (request.url !== '/apis') return false
    raw.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    return true
  }
  const server = await build(t, { outbound })
  await register(server, shop.port)
  const named = async (server: Client): Promise<Json> => groupIn((await get(server, '/apis')).json, GROUP)
  await until(async () => (await named(server))['versions'][0].freshness === 'Current')
  t.same((await named(server))['versions'][0].resources, [{
    resource: 'gadgets', responseKind: { group: 'rbac.authorization.orch.io', version: 'v1', kind: 'Gadget' },
    scope: 'Cluster', singularResource: 'gadget', verbs: ['get']
  }])
  for (answer of [{ kind: 'APIGroupDiscoveryList' }, {
    kind: 'APIGroupDiscoveryList',
    items: [null, 1, { metadata: { name: GROUP }, versions: [{ version: 'v1', resources: [{ resource: {} }] }] }]
  }, null]) {
    const other = await build(t, { outbound })
    await register(other, shop.port)
    t.equal(
      (await named(other))['versions'][0].freshness, answer === null ? 'Current' : 'Stale', JSON.stringify(answer)
    )
  }
})

t.test('kubectl learns everything with two requests', async t => {
  const server = await testServer({ tls: true, server: { compatNames: true } })
  t.teardown(() => server.dispose())
  const folder = t.testdir()
  const file = await server.writeKubeconfig(`${folder}/kubeconfig`, { username: 'ann', groups: ['team'] })
  for (const path of kubectlPrograms().slice(1)) { // 1.20 does not know of it
    server.exchanges.clear()
    const { stdout } = await promisify(execFile)(
      path, ['--kubeconfig', file, '--cache-dir', `${folder}/${path.replaceAll('/', '-')}`, 'api-resources']
    )
    t.match(stdout, /deployments +deploy +apps\/v1 +true +Deployment/)
    t.same(server.exchanges.find({}).map(({ url }) => url.split('?')[0]).sort(), ['/api', '/apis'], path)
  }
})

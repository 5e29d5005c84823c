/** Discovery and OpenAPI of all groups, and which server serves a group version that both could. */
import t from 'tap'
import SwaggerParser from '@apidevtools/swagger-parser'
import { discoveryOrder } from '../../../controllers/aggregation/discovery-order.js'
import { build, type Client, type Json } from '../../build.js'
import { definition, install, until, version } from '../custom/definitions.js'
import {
  apiService, available, extensionServer, GADGETS, GROUP, outbound, register, ROOT, service, SERVICES
} from './extension-server.js'

const namesOf = async (server: Client): Promise<string[]> =>
  (await server.get('/apis')).json.groups.map(({ name }: Json) => name)

t.test('groups and versions are listed by the priorities of their APIServices, reachable or not', async t => {
  const server = await build(t)
  const add = async (
    version: string, group: string, groupPriorityMinimum: number, versionPriority = 10
  ): Promise<void> => {
    const { code, body } = await server.post(
      SERVICES, apiService(443, { group, version, groupPriorityMinimum, versionPriority })
    )
    t.equal(code, 201, body)
  }
  await add('v1', 'last.example.com', 1)
  await add('v1beta1', 'twin.example.com', 15000)
  await add('v1', 'other.example.com', 15000)
  await add('v2', 'first.example.com', 20000)
  await add('v2', 'apiregistration.orch.io', 20000)
  await add('v1alpha1', 'many.example.com', 500, 5)
  await add('v1', 'many.example.com', 600, 5)
  await add('v9', 'many.example.com', 500, 4)
  await add('v10', 'many.example.com', 500, 4)
  const names = await namesOf(server)
  t.same(names.slice(0, 3), ['apiregistration.orch.io', 'first.example.com', 'apps'])
  t.same(names.slice(-4), ['other.example.com', 'twin.example.com', 'many.example.com', 'last.example.com'])
  const { json } = await server.get('/apis/many.example.com')
  t.match(json, { kind: 'APIGroup', preferredVersion: { version: 'v1' } })
  t.same(json['versions'].map((one: Json) => one['version']), ['v1', 'v1alpha1', 'v10', 'v9'])
  t.same((await server.get('/apis/apiregistration.orch.io')).json.versions, [
    { groupVersion: 'apiregistration.orch.io/v1', version: 'v1' }
  ])
  t.ok((await server.get('/')).json.paths.includes('/apis/many.example.com/v9'))
})

t.test('without APIServices yet the order is that of the convention', t => {
  const own = [
    { group: 'batch', version: 'v1' }, { group: 'apps', version: 'v1' }, { group: 'autoscaling', version: 'v1' },
    { group: 'autoscaling', version: 'v2' }, { group: 'a.example.com', version: 'v1' }, { group: '', version: 'v1' }
  ]
  t.same(
    [...discoveryOrder(own, new Map())],
    [['', ['v1']], ['apps', ['v1']], ['autoscaling', ['v2', 'v1']], ['batch', ['v1']], ['a.example.com', ['v1']]]
  )
  t.end()
})

t.test('an APIService that this server does not keep decides who serves a version', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  await service(server, 'shop', shop.port)
  const { spec } = apiService(shop.port, { group: 'apps', version: 'v1' })
  const path = `${SERVICES}/v1.apps`
  await until(async () => (await server.get(path)).code === 200)
  const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'

  await server.patch(path, { spec: { service: spec.service, caBundle: spec.caBundle } })
  await until(async () => (await server.get(path)).json['spec'].service === undefined)
  t.equal((await server.get(DEPLOYMENTS)).code, 200, 'one that it keeps is restored')
  await until(async () => available((await server.get(path)).json)?.['reason'] === 'Local')

  await server.patch(path, {
    metadata: { labels: { 'kube-aggregator.orch.io/automanaged': null } },
    spec: { service: spec.service, caBundle: spec.caBundle }
  })
  await until(async () => available((await server.get(path)).json)?.['status'] === 'False')
  t.equal((await server.get(DEPLOYMENTS)).code, 503, 'the extension server does not have the version')
  t.equal((await server.post(DEPLOYMENTS, { metadata: { name: 'a' } })).code, 503)
  t.equal((await server.get('/apis/apps/v1')).code, 503)
  t.ok((await namesOf(server)).includes('apps'))
  t.notOk(Object.keys((await server.get('/openapi/v2')).json['paths']).some(path => path.startsWith('/apis/apps/v1/')))
  t.equal((await server.get('/api/v1/namespaces')).code, 200)
  t.equal((await server.delete(path)).code, 200)
  await until(async () =>
    (await server.get(path)).json['metadata']?.labels?.['kube-aggregator.orch.io/automanaged'] === 'onstart')
  t.equal((await server.get(DEPLOYMENTS)).code, 200)
})

t.test('even the core group can be served by another server, and taken back', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  const path = `${SERVICES}/v1.`
  await until(async () => (await server.get(path)).code === 200)
  await service(server, 'shop', shop.port)
  const { spec } = apiService(shop.port)
  shop.instead = ({ url }, raw) => {
    raw.writeHead(url.startsWith('/api/v1') ? 200 : 404).end(`{"from":"${url}"}`)
    return true
  }
  await server.patch(path, {
    metadata: { labels: { 'kube-aggregator.orch.io/automanaged': null } },
    spec: { service: spec.service, caBundle: spec.caBundle }
  })
  await until(async () => available((await server.get(path)).json)?.['reason'] === 'Passed')
  t.same((await server.get('/api/v1/namespaces/default/pods/a/log?follow=true')).json, {
    from: '/api/v1/namespaces/default/pods/a/log?follow=true'
  })
  t.same((await server.post('/api/v1/namespaces', { metadata: { name: 'a' } })).json, { from: '/api/v1/namespaces' })
  t.match((await server.get('/api')).json, { versions: ['v1'] })
  t.equal((await server.get('/apis/apps/v1/deployments')).code, 200)
  await server.delete(path)
  t.equal((await server.get('/api/v1/namespaces/a')).code, 404)
})

t.test('the group of APIServices cannot be taken over', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  await register(server, shop.port, { group: 'apiregistration.orch.io', version: 'v1' })
  t.match(await server.get(SERVICES), { code: 200, json: { kind: 'APIServiceList' } })
  t.equal((await server.delete(`${SERVICES}/v1.apiregistration.orch.io`)).code, 200)
})

t.test('an APIService takes precedence over a custom resource of its version until it is deleted', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  await register(server, shop.port)
  await install(
    server,
    definition(
      { group: GROUP, versions: [version('v1'), version('v2', { storage: false })] },
      { plural: 'gadgets', kind: 'Gadget' }
    )
  )
  t.match(await server.get(GADGETS), { code: 200, json: { kind: 'GadgetList' } })
  t.ok(shop.asked.some(({ url }) => url === GADGETS))
  t.match(await server.get(GADGETS.replace('/v1/', '/v2/')), { code: 200, json: { items: [] } })
  t.same(
    (await server.get(`/apis/${GROUP}`)).json.versions.map((one: Json) => one['version']), ['v2', 'v1'],
    'v2 has the priority of custom resources'
  )
  shop.asked.length = 0
  await server.delete(`${SERVICES}/v1.${GROUP}`)
  t.equal((await server.get(GADGETS)).code, 200)
  t.same(shop.asked.filter(({ url }) => url === GADGETS), [])
  await until(async () => (await server.get(`${SERVICES}/v1.${GROUP}`)).json['metadata']?.labels !== undefined)
})

t.test('the OpenAPI documents have what extension servers serve', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  const before = await server.get('/openapi/v2')
  await register(server, shop.port)
  const merged = await server.get('/openapi/v2')
  const { paths, definitions } = merged.json
  t.match(paths[`${ROOT}/namespaces/{namespace}/gadgets`], { get: {}, post: {} })
  const gadget = Object.entries<Json>(definitions).find(([name]) => name.endsWith('.v1.Gadget'))?.[1]
  t.match(gadget, { properties: { spec: { properties: { price: { description: 'In cents.' } } } } })
  t.equal(Object.keys(definitions).filter(name => /_v2$/.test(name)).length, 0, 'identical definitions are shared')
  t.not(merged.headers.etag, before.headers.etag)
  t.equal((await server.get('/openapi/v2')).headers.etag, merged.headers.etag)
  await t.resolves(SwaggerParser.validate(structuredClone(merged.json) as never))
  const protobuf = await server.get('/openapi/v2', {
    accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
  })
  t.ok(protobuf.raw.includes('gadgets') && protobuf.code === 200)

  const index = (await server.get('/openapi/v3')).json['paths']
  t.match(index[`apis/${GROUP}/v1`], { serverRelativeURL: `/openapi/v3/apis/${GROUP}/v1?hash=1` })
  t.match(await server.get(index[`apis/${GROUP}/v1`].serverRelativeURL), {
    code: 200, json: { openapi: '3.0.0', paths: { [GADGETS.replace('default', '{namespace}')]: {} } }
  })
  t.equal(shop.asked.at(-1)?.headers['x-remote-user'], 'system:anonymous')

  await server.delete(`${SERVICES}/v1.${GROUP}`)
  t.same((await server.get('/openapi/v2')).json, before.json)
  t.notOk(`apis/${GROUP}/v1` in (await server.get('/openapi/v3')).json['paths'])
  t.equal((await server.get(`/openapi/v3/apis/${GROUP}/v1`)).code, 404)
})

t.test('answers of too many values are not read', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  await register(server, shop.port)
  const many = `{"paths":{},"resources":[${'{},'.repeat(200_000)}{}]}`
  shop.instead = ({ url }, raw) => {
    if (!/^\/(?:apis$|openapi\/v2)/.test(url)) return false
    raw.end(many)
    return true
  }
  const { json } = await server.get(
    '/apis', { accept: 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList' }
  )
  t.match(
    (json['items'] as Json[]).find(({ metadata }) => metadata.name === GROUP),
    { versions: [{ version: 'v1', freshness: 'Stale' }] }
  )
  t.notOk(`${ROOT}/namespaces/{namespace}/gadgets` in (await server.get('/openapi/v2')).json['paths'])
})

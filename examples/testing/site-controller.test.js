/** The controller under node:test, each test with a server of its own: `node --test`. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { CoreV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node'
import { testServer } from 'orch-apiserver/testing'
import { SiteController } from './site-controller.js'

const PAGE = { namespace: 'web', name: 'home-page' }
const SITE = { group: 'example.com', version: 'v1', plural: 'sites', namespace: 'web', name: 'home' }
const USER = { username: 'system:serviceaccount:web:site-controller' }

let server, controller, config
beforeEach(async () => {
  server = await testServer({ fixtures: new URL('fixtures/', import.meta.url) })
  config = new KubeConfig()
  config.loadFromOptions(server.clientConfig())
  const own = new KubeConfig()
  own.loadFromOptions(server.clientConfig(USER))
  controller = new SiteController(own)
  await controller.start()
})
afterEach(async () => {
  await controller.stop()
  await server.dispose()
})

test('a Site gets a page, and its status names it', async () => {
  await server.exchanges.next({
    user: USER.username, verb: 'update', resource: 'sites/status', status: 200, body: { status: { page: 'home-page' } }
  })
  const { data, metadata } = await config.makeApiClient(CoreV1Api).readNamespacedConfigMap(PAGE)
  assert.deepEqual(data, { 'index.html': '<h1>Welcome</h1>' })
  assert.equal(metadata.ownerReferences[0].kind, 'Site')
})

test('a new title changes the page, and nothing else is written', async () => {
  await server.exchanges.next({ verb: 'update', resource: 'sites/status' })
  server.exchanges.clear()
  const sites = config.makeApiClient(CustomObjectsApi)
  await sites.replaceNamespacedCustomObject({
    ...SITE, body: { ...await sites.getNamespacedCustomObject(SITE), spec: { title: 'Hello' } }
  })
  await server.exchanges.next({
    user: USER.username, verb: 'update', body: { data: { 'index.html': '<h1>Hello</h1>' } }, status: 200
  })
  const writes = server.exchanges.find({ user: USER.username }).filter(({ method }) => method !== 'GET')
  assert.deepEqual(writes.map(({ verb, resource }) => `${verb} ${resource}`), ['update configmaps'])
})

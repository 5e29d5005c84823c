/** The controller under vitest, with the waits of its matchers and a clock that stands still: `vitest run`. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CoreV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node'
import { testServer } from 'orch-apiserver/testing'
import { SiteController } from './site-controller.js'

const SITES = { group: 'example.com', version: 'v1', plural: 'sites', namespace: 'web' }
const PAGES = { resource: 'configmaps', user: 'site-controller' }

let server, controller, core, custom
beforeEach(async () => {
  server = await testServer({ fixtures: new URL('fixtures/', import.meta.url), now: new Date('2030-01-01T00:00:00Z') })
  const config = new KubeConfig()
  config.loadFromOptions(server.clientConfig())
  core = config.makeApiClient(CoreV1Api)
  custom = config.makeApiClient(CustomObjectsApi)
  const own = new KubeConfig()
  own.loadFromOptions(server.clientConfig({ username: 'site-controller' }))
  controller = new SiteController(own)
  await controller.start()
})
afterEach(async () => {
  await controller.stop()
  await server.dispose()
})

const page = name => core.readNamespacedConfigMap({ namespace: 'web', name })

test('each Site gets a page', async () => {
  await custom.createNamespacedCustomObject({
    ...SITES, body: { apiVersion: 'example.com/v1', kind: 'Site', metadata: { name: 'shop' }, spec: { title: 'Shop' } }
  })
  for (const [name, title] of [['home', 'Welcome'], ['shop', 'Shop']]) {
    await expect.poll(() => page(`${name}-page`).catch(() => undefined))
      .toMatchObject({ data: { 'index.html': `<h1>${title}</h1>` } })
  }
  const { metadata } = await page('home-page')
  expect(metadata).toMatchObject({
    creationTimestamp: new Date('2030-01-01T00:00:00Z'),
    ownerReferences: [{ kind: 'Site', name: 'home', controller: true }]
  })
})

test('a lagging server that does not know the page yet does not get it twice', async () => {
  await server.exchanges.next({ user: 'site-controller', resource: 'sites/status', status: 200 })
  server.faults.add({ on: { ...PAGES, verb: 'get' }, stale: 1, staleReads: 'any', times: 1 })
  const home = await custom.getNamespacedCustomObject({ ...SITES, name: 'home' })
  await custom.replaceNamespacedCustomObject({ ...SITES, name: 'home', body: { ...home, spec: { title: 'Hello' } } })
  await expect.poll(() => page('home-page')).toMatchObject({ data: { 'index.html': '<h1>Hello</h1>' } })
  expect(server.exchanges.find({ ...PAGES, verb: 'create' }).map(({ status }) => status)).toEqual([201, 409])
})

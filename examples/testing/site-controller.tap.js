/** The controller under tap, and with faults: `tap site-controller.tap.js`. */
import t from 'tap'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { testServer } from 'orch-apiserver/testing'
import { SiteController } from './site-controller.js'

const on = { user: 'site-controller' }

async function started (t, options = {}) {
  const server = await testServer({ fixtures: new URL('fixtures/', import.meta.url), ...options })
  t.teardown(() => server.dispose())
  const config = new KubeConfig()
  config.loadFromOptions(server.clientConfig({ username: 'site-controller' }))
  const controller = new SiteController(config)
  t.teardown(() => controller.stop())
  await controller.start()
  return { server, api: config.makeApiClient(CoreV1Api) }
}

t.test('a Site gets a page', async t => {
  const { server, api } = await started(t)
  await server.exchanges.next({ ...on, resource: 'sites/status', status: 200 })
  t.match(await api.readNamespacedConfigMap({ namespace: 'web', name: 'home-page' }), {
    data: { 'index.html': '<h1>Welcome</h1>' }
  })
})

t.test('conflicts, failures and broken connections delay it, and no more', async t => {
  const { server } = await started(t, {
    seed: 3,
    faults: [
      { on: { ...on, verb: 'create' }, disconnect: 'after', times: 1 },
      { on: { ...on, verb: 'update' }, status: 409, times: 2 },
      { on: { ...on, verb: 'get' }, status: 500, probability: 0.3 }
    ]
  })
  await server.exchanges.next({ ...on, resource: 'sites/status', status: 200 })
  t.equal(
    server.exchanges.find({ ...on, verb: 'create', status: 409 }).length, 0,
    'what was made before the connection broke is found'
  )
})

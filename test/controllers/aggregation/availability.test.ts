/** The condition Available of APIServices: its values, when they are checked, and how often they are written. */
import t from 'tap'
import { check, type Checking, type Probe } from '../../../controllers/aggregation/check.js'
import { readyEndpoints } from '../../../admission/webhooks/ready-endpoints.js'
import type { AdmissionReader } from '../../../registry/admission.js'
import type { RemoteService } from '../../../controllers/aggregation/registered-services.js'
import { build, type Client, type Json } from '../../build.js'
import { until } from '../custom/definitions.js'
import { kept } from './kept-store.js'
import {
  apiService, available, conditionOf, extensionServer, GROUP, outbound, register, service, SERVICES
} from './extension-server.js'

const NAME = `v1.${GROUP}`
const PLACE = '/api/v1/namespaces/default'

t.test('each step of the way is checked when it changes', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  const { port } = shop
  await server.post(SERVICES, apiService(port))
  const reasons: Array<readonly [reason: string, message: string, next: () => Promise<unknown>]> = [
    [
      'ServiceNotFound',
      'service/shop in "default" is not present',
      () => server.post(`${PLACE}/services`, {
        metadata: { name: 'shop' }, spec: { clusterIP: '127.0.0.1', ports: [{ name: 'web', port: port === 1 ? 2 : 1 }] }
      })
    ],
    [
      'ServicePortError', `service/shop in "default" is not listening on port ${port}`,
      () => server.patch(`${PLACE}/services/shop`, { spec: { ports: [{ name: 'web', port }] } })
    ],
    [
      'EndpointsNotFound',
      'cannot find endpoints for service/shop in "default"',
      () => server.post(`${PLACE}/endpoints`, {
        metadata: { name: 'shop' },
        subsets: [
          { addresses: [{ ip: '10.1.0.1' }], ports: [{ name: 'other', port }] },
          { notReadyAddresses: [{ ip: '10.1.0.1' }], ports: [{ name: 'web', port }] }
        ]
      })
    ],
    [
      'MissingEndpoints',
      'endpoints for service/shop in "default" have no addresses with port name "web"',
      () => server.patch(`${PLACE}/endpoints/shop`, {
        subsets: [{ addresses: [{ ip: '10.1.0.1' }], ports: [{ name: 'web', port }] }]
      })
    ],
    ['Passed', 'all checks passed', () => server.delete(`${PLACE}/endpoints/shop`)],
    [
      'EndpointsNotFound', 'cannot find endpoints for service/shop in "default"',
      () => server.delete(`${PLACE}/services/shop`)
    ]
  ]
  let since = ''
  for (const [reason, message, next] of reasons) {
    const found = await conditionOf(server, NAME, found => found['reason'] === reason)
    t.equal(found['message'], message)
    t.equal(found['status'], reason === 'Passed' ? 'True' : 'False')
    if (reason !== 'Passed' && reason !== 'ServiceNotFound' && since !== '') t.ok(found['lastTransitionTime'] >= since)
    since = found['lastTransitionTime']
    await next()
  }
  await conditionOf(server, NAME, found => found['reason'] === 'ServiceNotFound')
  t.match(
    await server.app.inject('/metrics').then(({ body }) => body),
    `aggregator_unavailable_apiservice_total{name="${NAME}",reason="EndpointsNotFound"} 1`
  )
  t.match(
    await server.app.inject('/metrics').then(({ body }) => body), `aggregator_unavailable_apiservice{name="${NAME}"} 1`
  )
  await server.patch(`${SERVICES}/${NAME}`, { spec: { service: null, caBundle: null } })
  t.match(await conditionOf(server, NAME, found => found['reason'] === 'Local'), {
    status: 'True', message: 'Local APIServices are always available'
  })
})

t.test('under 1.36 the slices of its service say where it is', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound: { ...outbound, toEndpoints: true }, emulatedVersion: '1.36' })
  const slices = '/apis/discovery.orch.io/v1/namespaces/default/endpointslices'
  const slice = (name: string, ready: boolean): Json => ({
    metadata: { name, labels: { 'orch.io/service-name': 'shop' } },
    addressType: 'IPv4',
    ports: [{ name: 'web', port: shop.port }],
    endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready } }]
  })
  await server.post(SERVICES, apiService(443))
  await server.post(`${PLACE}/services`, { metadata: { name: 'shop' }, spec: { ports: [{ name: 'web', port: 443 }] } })
  const reason = async (reason: string): Promise<Json> =>
    await conditionOf(server, NAME, found => found['reason'] === reason)
  await reason('EndpointsNotFound')
  await server.post(`${PLACE}/endpoints`, {
    metadata: { name: 'shop' },
    subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'web', port: shop.port }] }]
  })
  await server.post(slices, slice('shop-1', false))
  await reason('MissingEndpoints')
  await server.patch(`${slices}/shop-1`, { endpoints: [{ addresses: ['192.0.2.1'] }] })
  t.match(await reason('FailedDiscoveryCheck'), { message: `192.0.2.1:${shop.port}` }, 'unset is ready')
  await server.post(slices, { ...slice('shop-2', true), ports: [{ name: 'other', port: 1 }] })
  await server.delete(`${slices}/shop-1`)
  await reason('MissingEndpoints')
  await server.delete(`${slices}/shop-2`)
  await reason('EndpointsNotFound')
})

const REMOTE: RemoteService = {
  name: 'v1.a',
  group: 'a',
  version: 'v1',
  service: { namespace: 'n', name: 's', port: 443 },
  authority: undefined,
  insecure: false
}
const { signal } = new AbortController()
const well: Probe = async () => {}
const readingOf = (objects: Record<string, Json | Error>): Pick<Checking, 'reader' | 'endpoints'> => {
  const reader = {
    get: async (_group: string, resource: string) => {
      const found = objects[resource]
      if (found instanceof Error) throw found
      return found
    },
    list: async () => []
  } as unknown as AdmissionReader
  return { reader, endpoints: readyEndpoints(reader, false) }
}

t.test('a failed read makes the status Unknown, and one success in five attempts is enough', async t => {
  const services: Json = { spec: { ports: [{ port: 443 }] } }
  const endpoints: Json = { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 8443 }] }] }
  t.same(
    await check(REMOTE, { ...readingOf({ services: new Error('no store') }), probe: well, signal }),
    { status: 'Unknown', reason: 'ServiceAccessError', message: 'service/s in "n" cannot be checked due to: no store' }
  )
  t.same(
    await check(REMOTE, { ...readingOf({ services, endpoints: new Error('no store') }), probe: well, signal }),
    {
      status: 'Unknown', reason: 'EndpointsAccessError', message: 'service/s in "n" cannot be checked due to: no store'
    }
  )
  for (const [failures, expected] of [[4, 'Passed'], [5, 'FailedDiscoveryCheck']] as const) {
    let attempts = 0
    const probe: Probe = async () => { if (++attempts <= failures) throw new Error(`attempt ${attempts}`) }
    t.match(await check(REMOTE, { ...readingOf({ services, endpoints }), probe, signal }), { reason: expected })
    t.equal(attempts, 5)
  }
})

t.test('a persistent failure takes one attempt, a different one five', async t => {
  let attempts = 0
  let message = 'refused'
  const probe: Probe = async () => {
    attempts++
    throw new Error(message)
  }
  const reading = readingOf({ services: { spec: { type: 'LoadBalancer' } } })
  let found = await check(REMOTE, { ...reading, probe, signal })
  t.equal(attempts, 5)
  for (const [expected, next] of [[1, 'refused'], [5, 'late'], [1, 'late']] as const) {
    attempts = 0
    message = next
    found = await check(REMOTE, { ...reading, probe, signal }, found)
    t.equal(attempts, expected)
  }
})

t.test('with --enable-aggregator-routing a service by name has no endpoints', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound: { ...outbound, toEndpoints: true } })
  t.match(await register(server, shop.port), {
    reason: 'FailedDiscoveryCheck', message: 'unsupported service type "ExternalName"'
  })
})

t.test('a failing APIService is checked again until it answers', async t => {
  const shop = await extensionServer(t)
  const server = await build(t, { outbound })
  shop.instead = (_request, raw) => {
    raw.writeHead(500).end()
    return true
  }
  t.match(await register(server, shop.port), { reason: 'FailedDiscoveryCheck', message: /bad status from .*: 500$/ })
  shop.instead = () => false
  await conditionOf(server, NAME, ({ status }) => status === 'True')
})

t.test('servers of one store that find different things do not drive each other on', async t => {
  const shop = await extensionServer(t)
  const storage = kept(t)
  const one = await build(t, { storage, outbound })
  const other = await build(t, { storage }) // has no certificate
  await service(one, 'shop', shop.port)
  await one.post(SERVICES, apiService(shop.port))
  await conditionOf(one, NAME, ({ reason }) => reason === 'FailedDiscoveryCheck')
  await until(async () => shop.asked.length >= 7)
  const { metadata } = (await one.get(`${SERVICES}/${NAME}`)).json
  const first = Number(metadata.resourceVersion)
  await until(async () => shop.asked.length >= 10)
  const last = (await one.get(`${SERVICES}/${NAME}`)).json
  t.ok(Number(last['metadata'].resourceVersion) - first <= 2, 'the status was hardly written')
  t.match(available((await other.get(`${SERVICES}/${NAME}`)).json), { message: /401$/ })
})

t.test('an unchanged status is not written again', async t => {
  const shop = await extensionServer(t)
  const storage = kept(t)
  const version = async (server: Client): Promise<string> =>
    (await server.get(`${SERVICES}/${NAME}`)).json['metadata'].resourceVersion as string
  const first = await build(t, { storage, outbound })
  await register(first, shop.port)
  const before = await version(first)
  await first.app.close()
  shop.asked.length = 0
  const second = await build(t, { storage, outbound })
  await until(async () => shop.asked.length > 0)
  await new Promise(resolve => { setTimeout(resolve, 100) })
  t.equal(await version(second), before)
})

/**
 * Interface, `--endpoint-reconciler-type` and related flags: the service that leads to the servers, which they create
 * and maintain themselves.
 */
import t from 'tap'
import type { ServerOptions } from '../../../app.js'
import { hostAddress } from '../../../config/addresses.js'
import { checkedFlags, configuration } from '../../../config/options.js'
import { orchService } from '../../../config/service-options.js'
import { OwnService } from '../../../controllers/services/own-service.js'
import { FakeClock, turns } from '../../storage/fake-clock.js'
import { startEtcd } from '../../etcd-process.js'
import { until } from '../../interop/server.js'
import { serviceServer, SERVICES, type ServiceServer } from '../../registry/services/server.js'

const RANGES = { clusterIPRanges: ['10.0.0.0/24'] }
const ORCH = '/api/v1/namespaces/default/services/orch'
const ENDPOINTS = '/api/v1/namespaces/default/endpoints/orch'
const SLICE = '/apis/discovery.orch.io/v1/namespaces/default/endpointslices/orch'
type Settings = NonNullable<ServerOptions['orchService']>
const at = (address: string, more: Partial<Settings> = {}): Settings => ({ address, port: 6443, ...more })

const addressesOf = async (server: ServiceServer): Promise<string[] | undefined> =>
  (await server.get(ENDPOINTS)).json['subsets']?.[0]?.addresses?.map(({ ip }: { ip: string }) => ip)
const sliceOf = async (server: ServiceServer): Promise<string[]> =>
  (await server.get(SLICE)).json['endpoints']?.flatMap(({ addresses }: { addresses: string[] }) => addresses) ?? []

t.test('the service has the first address of the range, and leads to this server', async t => {
  const server = await serviceServer(t, RANGES, { orchService: at('192.0.2.1') })
  const { json } = await server.get(ORCH)
  t.match(json, {
    metadata: { labels: { component: 'apiserver', provider: 'orch' } },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      ipFamilies: ['IPv4'],
      ports: [{ name: 'https', port: 443, targetPort: 6443, protocol: 'TCP' }]
    }
  })
  t.same(await server.taken('serviceips'), ['10.0.0.1'])
  t.same((await server.get(ENDPOINTS)).json.subsets, [
    { addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] }
  ])
  t.match((await server.get(SLICE)).json, {
    metadata: { labels: { 'orch.io/service-name': 'orch' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
    ports: [{ name: 'https', port: 6443, protocol: 'TCP' }]
  })
})

t.test('the service and its endpoints are restored after a deletion or a change', async t => {
  const server = await serviceServer(t, RANGES)
  const clock = new FakeClock()
  const own = new OwnService({
    ...server, ...at('192.0.2.1'), clock, log: () => {}, leaving: new AbortController().signal
  })
  await own.start()
  await server.delete(ORCH)
  await server.delete(ENDPOINTS)
  await server.patch(SLICE, { endpoints: [] })
  const look = async (): Promise<void> => {
    clock.advance(10_000)
    while (clock.waits.length === 0) await turns()
  }
  await look()
  t.equal((await server.get(ORCH)).json.spec.clusterIP, '10.0.0.1')
  t.same([await addressesOf(server), await sliceOf(server)], [['192.0.2.1'], ['192.0.2.1']])
  await server.patch(ORCH, { spec: { ports: [{ name: 'other', port: 80 }] } })
  await server.put(ENDPOINTS, { metadata: { name: 'orch' }, subsets: [] })
  const revision = (await server.get(SLICE)).json.metadata.resourceVersion
  await look()
  t.match((await server.get(ORCH)).json.spec.ports, [{ name: 'https', port: 443 }])
  t.same(await addressesOf(server), ['192.0.2.1'])
  t.equal((await server.get(SLICE)).json.metadata.resourceVersion, revision, 'correct objects are not written')
  await own.close()
  t.equal(await addressesOf(server), undefined, 'a server that ends is behind it no more')
})

t.test('one of several servers creates the service; ' +
  'a start waits while its address is allocated to another', async t => {
  const server = await serviceServer(t, RANGES)
  const clock = new FakeClock()
  const logged: string[] = []
  await server.make('first', { clusterIP: '10.0.0.1' }) // the address of a service that does not exist yet
  const own = new OwnService({
    ...server,
    ...at('192.0.2.1'),
    clock,
    log: message => { logged.push(message) },
    leaving: new AbortController().signal
  })
  const started = own.start()
  while (clock.waits.length === 0) await turns()
  await server.delete(`${SERVICES}/first`)
  await server.make('orch', { clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443, targetPort: 6443 }] })
  clock.advance(50)
  await started
  t.same(logged, [])
  t.same(await addressesOf(server), ['192.0.2.1'])
  await own.close()

  await server.delete(ORCH)
  await server.make('second', { clusterIP: '10.0.0.1' })
  const other = new OwnService({
    ...server,
    ...at('192.0.2.1'),
    clock,
    log: message => { logged.push(message) },
    leaving: new AbortController().signal
  })
  const begun = other.start()
  while (logged.length === 0) {
    clock.advance(50)
    await turns()
  }
  await begun
  t.match(logged, [/the service orch is not as it should be/], 'a lasting conflict over the address is logged')
  await other.close()
})

t.test('with a node port the service is of that type', async t => {
  const server = await serviceServer(t, RANGES, { orchService: at('192.0.2.1', { nodePort: 30443 }) })
  t.match((await server.get(ORCH)).json.spec, { type: 'NodePort', ports: [{ port: 443, nodePort: 30443 }] })
  t.same(await server.taken('servicenodeports'), ['30443'])
})

t.test(
  'reconciler none publishes no addresses, nor does a server that others cannot reach, which is logged', async t => {
    const none = await serviceServer(t, RANGES, { orchService: at('192.0.2.1', { reconciler: 'none' }) })
    t.equal((await none.get(ORCH)).code, 200)
    t.equal((await none.get(ENDPOINTS)).code, 404)
    await t.rejects(
      serviceServer(t, RANGES, { orchService: at('127.0.0.1') }),
      /orchService.address 127.0.0.1: may not be in the loopback range/
    )
    const { settings, warnings } = orchService(checkedFlags([`--data-dir=${t.testdir()}`, '--local']).values)
    t.match(settings, { address: '127.0.0.1', reconciler: 'none' })
    t.match(warnings, [/its address 127.0.0.1 may not be in the loopback range.*--advertise-address/])
  }
)

t.test('a server on loopback alone has the address of its host, as upstream, if that has one', async t => {
  const { options, serviceWarnings } = await configuration(checkedFlags([
    `--data-dir=${t.testdir()}`, '--bind-address=127.0.0.1'
  ]))
  const host = hostAddress()
  t.match(options.orchService, host === undefined ? { reconciler: 'none' } : { address: host, reconciler: 'lease' })
  if (host !== undefined) t.match(serviceWarnings, [`the service orch leads to ${host}, where nothing listens`])
  const advertised = orchService(checkedFlags([`--data-dir=${t.testdir()}`, '--advertise-address=127.0.0.1']).values)
  t.match(advertised.settings, { address: '127.0.0.1', reconciler: 'none' }, 'what is advertised is never replaced')
})

t.test('flags set all of it, and --master-service-namespace its namespace', async t => {
  const { options } = await configuration(checkedFlags([
    `--data-dir=${t.testdir()}`, '--advertise-address=192.0.2.7', '--secure-port=7443',
    '--orch-service-node-port=30001', '--endpoint-reconciler-type=master-count', '--apiserver-count=3',
    '--master-service-namespace=masters', '--identity-lease-duration-seconds=7',
    '--identity-lease-renew-interval-seconds=3'
  ]))
  t.same(options.orchService, {
    namespace: 'masters', address: '192.0.2.7', port: 7443, nodePort: 30001, reconciler: 'master-count', count: 3
  })
  t.same(options.identityLease, { durationSeconds: 7, renewIntervalSeconds: 3 })
  const server = await serviceServer(t, options.services, { orchService: options.orchService ?? at('') })
  t.equal((await server.get('/api/v1/namespaces/masters/services/orch')).json.spec.clusterIP, '10.0.0.1')
  t.equal((await server.get(ORCH)).code, 404)
})

t.test('an address that a service has already keeps no server from serving', async t => {
  const etcd = await startEtcd(t)
  const storage = { kind: 'etcd' as const, servers: [etcd.url] }
  const first = await serviceServer(t, RANGES, { storage })
  await first.make('squatter', { clusterIP: '10.0.0.1' })
  const second = await serviceServer(t, RANGES, { storage, orchService: at('192.0.2.1') })
  t.equal((await second.get(ORCH)).code, 404)
})

t.test('several servers are behind it together, each as long as it is there', async t => {
  const etcd = await startEtcd(t)
  const storage = { kind: 'etcd' as const, servers: [etcd.url] }
  for (const [reconciler, ...addresses] of [
    ['lease', '192.0.2.1', '192.0.2.2'], ['master-count', '192.0.2.1', '192.0.2.2']
  ] as const) {
    const options = (address: string): ServerOptions => ({
      storage: { ...storage, prefix: `/${reconciler}` }, orchService: at(address, { reconciler, count: 2 })
    })
    const [first, second] = [
      await serviceServer(t, RANGES, options(addresses[0])), await serviceServer(t, RANGES, options(addresses[1]))
    ]
    t.same([await addressesOf(first), await sliceOf(first)], [addresses, addresses], reconciler)
    await second.app.close()
    await until('the other to be alone', async () => (await addressesOf(first))?.length === 1)
    t.same([await addressesOf(first), await sliceOf(first)], [[addresses[0]], [addresses[0]]], reconciler)
  }
})

t.test('more servers than are said to be take one another out, in the same order', async t => {
  const { endpointReconciler } = await import('../../../controllers/services/endpoint-reconciler.js')
  const { backend } = await serviceServer(t, RANGES)
  const masters = endpointReconciler('master-count', '192.0.2.2', { backend, prefix: '/registry', count: 2 })
  t.same(await masters.present(['192.0.2.1', '192.0.2.3']), ['192.0.2.1', '192.0.2.2'])
  t.same(await masters.present(['192.0.2.1', '192.0.2.2']), ['192.0.2.1', '192.0.2.2'])
  t.same(await masters.absent(['192.0.2.1', '192.0.2.2']), ['192.0.2.1'])
})

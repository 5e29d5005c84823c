import t from 'tap'
import { ServiceRepair } from '../../../controllers/services/repair.js'
import { FakeClock, turns } from '../../storage/fake-clock.js'
import { serviceServer, SERVICES, type ServiceServer } from '../../registry/services/server.js'

const RANGES = { clusterIPRanges: ['10.0.0.0/24'] }

function repairOf (
  { resources, allocation }: Pick<ServiceServer, 'resources' | 'allocation'>, clock = new FakeClock()
): { repair: ServiceRepair, notes: string[], clock: FakeClock } {
  const notes: string[] = []
  return {
    notes,
    clock,
    repair: new ServiceRepair({ resources, allocation, clock, log: () => {}, note: text => { notes.push(text) } })
  }
}

t.test('an allocation whose service never appears is released after several checks', async t => {
  const server = await serviceServer(t, RANGES)
  await server.make('a', { clusterIP: '10.0.0.7', type: 'NodePort' })
  const kept = await server.taken('servicenodeports')
  const pool = server.allocation.addresses.get('IPv4')
  const ghost = { namespace: 'default', name: 'ghost', uid: 'gone' }
  await pool?.take('10.0.0.9', ghost)
  await server.allocation.nodePorts.take('30000', ghost)
  const { repair } = repairOf(server)
  for (const [look, left] of [['first', 2], ['second', 2], ['third', 1]] as const) {
    await repair.run()
    t.equal((await server.taken('serviceips')).length, left, look)
  }
  t.same([await server.taken('serviceips'), await server.taken('servicenodeports')], [['10.0.0.7'], kept])
})

t.test('an allocation that is made again between two checks is counted anew', async t => {
  const server = await serviceServer(t, RANGES)
  const { nodePorts } = server.allocation
  const { repair } = repairOf(server)
  for (let look = 0; look < 5; look++) {
    const taken = await nodePorts.take('30000', { namespace: 'default', name: 'slow', uid: String(look) })
    if (taken === undefined) throw new Error('it was taken')
    await repair.run()
    await repair.run()
    t.same(await server.taken('servicenodeports'), ['30000'])
    await nodePorts.release(taken)
  }
})

t.test('an unallocated address of a service is allocated, and one shared by two services is reported', async t => {
  const server = await serviceServer(t, RANGES)
  await server.make('a', { clusterIP: '10.0.0.7', type: 'NodePort' })
  const { uid } = (await server.get(`${SERVICES}/a`)).json.metadata
  const ports = await server.taken('servicenodeports')
  await server.allocation.addresses.get('IPv4')?.releaseOwned('10.0.0.7', uid)
  for (const port of ports) await server.allocation.nodePorts.releaseOwned(port, uid)
  const { repair, notes } = repairOf(server)
  await repair.run()
  t.same([await server.taken('serviceips'), await server.taken('servicenodeports')], [['10.0.0.7'], ports])
  t.same(notes, [])
  await server.allocation.addresses.get('IPv4')?.releaseOwned('10.0.0.7', uid)
  await server.make('b', { clusterIP: '10.0.0.7' })
  await repair.run()
  t.match(notes, [/that other services have too: default\/b \(10.0.0.7\)/])
})

t.test(
  'services outside the ranges are reported once; they keep their addresses, which are released with them', async t => {
    const server = await serviceServer(t, RANGES)
    await server.make('a', { clusterIP: '10.0.0.200' })
    const { ServiceAllocation } = await import('../../../registry/services/allocation.js')
    const allocation = new ServiceAllocation({
      clusterIPRanges: ['10.0.0.0/25'], backend: server.backend, prefix: '/registry', log: () => {}
    })
    const { repair, notes } = repairOf({ ...server, allocation })
    for (let look = 0; look < 4; look++) await repair.run()
    t.match(notes, [/outside --service-cluster-ip-range and --service-node-port-range: default\/a \(10.0.0.200\)/])
    t.same(await server.taken('serviceips'), ['10.0.0.200'])
    await server.delete(`${SERVICES}/a`)
    t.same(await server.taken('serviceips'), [])
  }
)

t.test('the repair runs at its interval until it is closed', async t => {
  const server = await serviceServer(t, RANGES)
  const { repair, clock } = repairOf(server)
  await repair.start()
  await server.allocation.nodePorts.take('30000', { namespace: 'default', name: 'ghost', uid: 'gone' })
  for (let look = 0; look < 3; look++) {
    clock.advance(180_000)
    while (clock.waits.length === 0) await turns()
  }
  t.same(await server.taken('servicenodeports'), [])
  await repair.close()
  t.same(clock.waits, [])
})

import t from 'tap'
import { openMemory } from '../../storage/embedded/memory.js'
import { EventLease } from '../../registry/event-lease.js'
import { FakeClock } from '../storage/fake-clock.js'

/** A lease of a store in memory, and the seconds that were requested for it. */
function shared (test: { teardown: (then: () => unknown) => void }, ttlSeconds: number, reuseSeconds: number) {
  const clock = new FakeClock()
  const backend = openMemory({ clock })
  test.teardown(() => backend.close())
  const { lease } = backend
  const asked: number[] = []
  let failures = 0
  backend.lease = async seconds => {
    asked.push(seconds)
    if (failures-- > 0) throw new Error('not now')
    return await lease.call(backend, seconds)
  }
  return {
    leases: new EventLease({ backend, ttlSeconds, reuseSeconds, clock }), clock, asked, fail: () => { failures = 1 }
  }
}

t.test('events within the reuse time share a lease, which lasts that much longer', async t => {
  const { leases, clock, asked } = shared(t, 3600, 60)
  const first = await leases.current()
  clock.advance(59_999)
  t.equal(await leases.current(), first)
  clock.advance(1)
  t.not(await leases.current(), first)
  t.strictSame(asked, [3660, 3660])
})

t.test('nothing stays longer than its time by more than a twentieth', async t => {
  const { leases, clock, asked } = shared(t, 10, 60)
  const first = await leases.current()
  clock.advance(500)
  t.not(await leases.current(), first)
  t.strictSame(asked, [10.5, 10.5])
})

t.test('a refused lease is requested again', async t => {
  const { leases, asked, fail } = shared(t, 3600, 60)
  fail()
  await t.rejects(leases.current(), { message: 'not now' })
  await leases.current()
  t.equal(asked.length, 2)
})

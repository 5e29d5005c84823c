import t from 'tap'
import type { PriorityLevelConfiguration } from '../../schemas/api/flowcontrol/v1beta1.js'
import { FlowControl } from '../../flow-control/flow-control.js'
import { boundsOf, Demand, divide } from '../../flow-control/lending.js'
import { startInNextTurn } from '../../event-loop/batching.js'
import { FakeClock } from '../storage/fake-clock.js'
import { enter } from './tickets.js'

const level = (
  name: string, shares: number, lendablePercent: number, borrowingLimitPercent?: number
): PriorityLevelConfiguration => ({
  apiVersion: '', kind: '', metadata: { name }, status: {},
  spec: {
    type: 'Limited',
    limited: {
      assuredConcurrencyShares: shares,
      lendablePercent,
      borrowingLimitPercent,
      limitResponse: { type: 'Queue', queuing: { queues: 4, handSize: 2, queueLengthLimit: 1000 } }
    }
  }
})

function build (lending = true) {
  const clock = new FakeClock()
  const limits = new Map<string, number>()
  const control = new FlowControl({
    clock,
    seats: 100,
    waitLimit: 60_000,
    lending,
    turns: { isOver: () => false, next: startInNextTurn },
    limited: (name, limit) => { limits.set(name, limit) }
  })
  t.teardown(() => { control.close() })
  return { clock, limits, control, set: (name: string) => control.levels.find(one => one.name === name)?.queues }
}

t.test('a busy level borrows what others lend, and gives it back', t => {
  const { clock, limits, control, set } = build()
  control.configure([level('busy', 45, 0), level('idle', 50, 50)], [])
  t.same(Object.fromEntries(limits), { exempt: 0, 'catch-all': 5, busy: 45, idle: 50 })
  const queues = set('busy')
  if (queues === undefined) throw new Error('busy has queues')
  const { tickets } = enter(queues, 'a', 200)
  clock.advance(10_000)
  t.same(Object.fromEntries(limits), { exempt: 0, 'catch-all': 5, busy: 70, idle: 25 })
  for (const ticket of tickets) queues.leave(ticket)
  const other = set('idle')
  if (other === undefined) throw new Error('idle has queues')
  enter(other, 'a', 200)
  clock.advance(10_000)
  t.ok((limits.get('idle') ?? 0) >= 50, 'its own seats are back after a period')
  t.ok((limits.get('busy') ?? 0) >= 45)
  t.end()
})

t.test('no level borrows more than it may, nor where the release knows no lending', t => {
  for (const [lending, busy] of [[true, 50], [false, 45]] as const) {
    const { clock, limits, control, set } = build(lending)
    control.configure([level('busy', 45, 0, 11), level('idle', 50, 50)], [])
    const queues = set('busy')
    if (queues === undefined) throw new Error('busy has queues')
    enter(queues, 'a', 200)
    clock.advance(10_000)
    t.equal(limits.get('busy'), busy)
    t.equal(clock.waits.includes(10_000), lending, 'nothing is adjusted where nothing is lent')
  }
  t.end()
})

t.test('a level without a share runs one request at a time', t => {
  const { limits, control, set } = build()
  const zero = level('zero', 30, 0)
  control.configure(
    [
      {
        ...zero,
        metadata: { name: 'zero', annotations: { 'flowcontrol.orch.io/v1beta3-preserve-zero-concurrency-shares': '' } }
      }
    ],
    []
  )
  t.equal(limits.get('zero'), 0)
  const queues = set('zero')
  if (queues === undefined) throw new Error('zero has queues')
  t.same(enter(queues, 'a', 2).outcomes, ['executing', 'waiting'])
  t.end()
})

t.test('an exempt level reserves seats, or lends them', t => {
  for (const [lendablePercent, rest] of [[0, 50], [100, 100]] as const) {
    const { clock, limits, control } = build()
    control.configure(
      [
        { ...level('exempt', 1, 0), spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 5, lendablePercent } } }
      ],
      []
    )
    t.equal(limits.get('catch-all'), 50)
    clock.advance(10_000)
    t.equal(limits.get('catch-all'), rest)
  }
  t.end()
})

t.test('seats are divided within bounds, in proportion to demand', t => {
  const bounds = boundsOf(40, 100, { lends: 50, borrows: 100 })
  t.same(bounds, { nominal: 40, least: 20, most: 80 })
  t.same(divide(80, [{ bounds, mostAsked: 90, smoothed: 60 }, { bounds, mostAsked: 0, smoothed: 0 }]), [60, 20])
  t.same(divide(80, [{ bounds, mostAsked: 0, smoothed: 0 }, { bounds, mostAsked: 0, smoothed: 0 }]), [40, 40])
  t.same(divide(60, [{ bounds, mostAsked: 40, smoothed: 40 }, { bounds, mostAsked: 40, smoothed: 40 }]), [30, 30])
  t.same(divide(30, [{ bounds, mostAsked: 40, smoothed: 40 }, { bounds, mostAsked: 40, smoothed: 40 }]), [20, 20])
  t.end()
})

t.test('demand rises at once and falls slowly', t => {
  const demand = new Demand(0)
  demand.set(10, 0)
  t.equal(demand.end(10_000), 10)
  t.equal(demand.smoothed, 10)
  demand.set(0, 10_000)
  demand.end(20_000)
  t.ok(demand.smoothed > 9 && demand.smoothed < 10)
  t.equal(demand.end(30_000), 0)
  t.end()
})

t.test('an exempt level has back what it asks for of its own', t => {
  const { clock, limits, control } = build()
  control.configure(
    [
      {
        ...level('exempt', 1, 0),
        spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 5, lendablePercent: 100 } }
      }
    ],
    []
  )
  const exempt = control.levels.find(({ name }) => name === 'exempt')
  if (exempt === undefined) throw new Error('there is an exempt level')
  control.exempt(exempt, 30)
  const after = (seats: number): void => {
    clock.advance(10_000)
    t.equal(limits.get('catch-all'), seats)
  }
  after(70)
  control.exempt(exempt, 60)
  after(50)
  control.exempt(exempt, -90)
  after(50)
  after(100)
  t.end()
})

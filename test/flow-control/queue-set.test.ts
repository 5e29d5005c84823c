import t from 'tap'
import { QueueSet, type QueueSettings, type Turns } from '../../flow-control/queue-set.js'
import { FakeClock } from '../storage/fake-clock.js'
import { enter, NotedTicket } from './tickets.js'

const SETTINGS: QueueSettings = { limit: 2, queues: 64, handSize: 4, lengthLimit: 50, waitLimit: 15_000 }

/** Each turn starts at once. */
function atOnce (): Turns {
  const waiting: Array<() => void> = []
  let running = false
  return {
    isOver: () => false,
    next: run => {
      waiting.push(run)
      if (running) return
      running = true
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) next()
      running = false
    }
  }
}

function build (settings: Partial<QueueSettings> = {}, turns = atOnce()) {
  const clock = new FakeClock()
  const idle: number[] = []
  const set = new QueueSet(clock, { ...SETTINGS, ...settings }, { idle: () => { idle.push(clock.elapsed()) } }, turns)
  return { clock, set, idle }
}

/** Executes all waiting requests, each for `ms` milliseconds, and returns their order. */
function drain (clock: FakeClock, set: QueueSet, tickets: NotedTicket[], ms: number): void {
  while (!set.idle) {
    clock.advance(ms)
    for (const ticket of tickets.filter(({ state }) => state === 'executing')) set.leave(ticket)
  }
}

t.test('requests run at once while there are seats, and wait in line when there are none', t => {
  const { set } = build()
  const { tickets, outcomes } = enter(set, 'a', 4)
  t.same(outcomes, ['executing', 'executing', 'waiting', 'waiting'])
  t.equal(set.executing, 2)
  t.equal(set.waiting, 2)
  const [first, , third, fourth] = tickets
  set.leave(first as NotedTicket)
  t.same(third?.notes, ['dispatched'], 'the one that came first')
  t.same(fourth?.notes, [])
  t.same(first?.notes, ['released'])
  set.leave(first as NotedTicket)
  t.equal(set.executing, 2, 'leaving twice frees one seat')
  t.end()
})

t.test('a level without queues refuses requests that find no seat', t => {
  const { set } = build({ queues: 0 })
  t.same(enter(set, 'a', 3).outcomes, ['executing', 'executing', 'concurrency-limit'])
  t.end()
})

t.test('a full queue refuses, and other flows still have theirs', t => {
  const { set } = build({ handSize: 1, lengthLimit: 3 })
  t.same(enter(set, 'elephant', 7).outcomes, [
    'executing', 'executing', 'waiting', 'waiting', 'waiting', 'queue-full', 'queue-full'
  ])
  t.same(enter(set, 'mouse', 1).outcomes, ['waiting'])
  t.end()
})

t.test('one flow has no more room than the queues of its hand', t => {
  const { set } = build({ handSize: 4, lengthLimit: 5, limit: 1 })
  const { outcomes } = enter(set, 'elephant', 100)
  t.equal(outcomes.filter(outcome => outcome === 'waiting').length, 4 * 5)
  t.end()
})

t.test('a mouse beside an elephant waits for one round, not for the elephant', t => {
  const { clock, set } = build({ limit: 4 })
  const log: string[] = []
  const elephants = enter(set, 'elephant', 200, log).tickets
  const mouse = enter(set, 'mouse', 1, log).tickets
  t.equal(mouse[0]?.state, 'waiting')
  drain(clock, set, [...elephants, ...mouse], 10)
  t.ok(log.indexOf('mouse') < 12, `the mouse was number ${log.indexOf('mouse')} of ${log.length}`)
  t.equal(log.length, 197, 'all were served')
  t.end()
})

t.test('flows that exceed their share get equal parts', t => {
  const { clock, set } = build({ limit: 4, handSize: 1, lengthLimit: 500 })
  const log: string[] = []
  const tickets = [...enter(set, 'one', 400, log).tickets, ...enter(set, 'other', 100, log).tickets]
  drain(clock, set, tickets, 10)
  const head = log.slice(0, 120)
  const others = head.filter(flow => flow === 'other').length
  t.ok(others >= 50 && others <= 70, `${others} of the first 120 were of the one that came later`)
  t.end()
})

t.test('a flow whose requests take longer than expected is charged for it', t => {
  const { clock, set } = build({ limit: 1, handSize: 1, lengthLimit: 500 })
  const log: string[] = []
  const tickets = [...enter(set, 'one', 50, log).tickets, ...enter(set, 'other', 50, log).tickets]
  for (let round = 0; round < 60; round++) {
    const running = tickets.find(({ state }) => state === 'executing')
    if (running === undefined) break
    clock.advance(running.distinguisher === 'one' ? 40 : 10)
    set.leave(running)
  }
  const quick = log.slice(0, 40).filter(flow => flow === 'other').length
  t.ok(quick >= 28 && quick <= 36, `${quick} of 40 were quick, as each of them takes a quarter`)
  t.end()
})

t.test('an idle flow accumulates no credit', t => {
  const { clock, set } = build({ limit: 1, handSize: 1, lengthLimit: 500 })
  const log: string[] = []
  const steady = enter(set, 'steady', 100, log).tickets
  for (let round = 0; round < 40; round++) {
    clock.advance(10)
    const running = steady.find(({ state }) => state === 'executing')
    if (running !== undefined) set.leave(running)
  }
  log.length = 0
  const late = enter(set, 'late', 40, log).tickets
  drain(clock, set, [...steady, ...late], 10)
  const first = log.slice(0, 20).filter(flow => flow === 'late').length
  t.ok(first >= 8 && first <= 13, `${first} of the next 20 were of the one that came late`)
  t.end()
})

t.test('a wide request takes its seats, waits for them, and is not overtaken for ever', t => {
  const { clock, set } = build({ limit: 4, handSize: 1 })
  const log: string[] = []
  const small = enter(set, 'small', 4, log).tickets
  const [wide] = enter(set, 'wide', 1, log, { seats: 3, finalSeats: 0, finalMs: 0 }).tickets
  const more = enter(set, 'small', 8, log).tickets
  drain(clock, set, [...small, wide as NotedTicket, ...more], 5)
  t.ok(log.indexOf('wide') < 6, `it was number ${log.indexOf('wide')}`)
  t.end()
})

t.test('a request wider than the level runs alone', t => {
  const { set } = build({ limit: 2 })
  t.same(enter(set, 'wide', 1, [], { seats: 10, finalSeats: 0, finalMs: 0 }).outcomes, ['executing'])
  t.same(enter(set, 'a', 1).outcomes, ['waiting'])
  t.end()
})

t.test('the final work of a write holds its seats for its duration', t => {
  const { clock, set } = build({ limit: 3 })
  const [write] = enter(set, 'writer', 1, [], { seats: 1, finalSeats: 3, finalMs: 5 }).tickets as [NotedTicket]
  t.equal(set.seatsInUse, 3, 'the most that it will need')
  const [next] = enter(set, 'reader', 1).tickets as [NotedTicket]
  clock.advance(2)
  set.leave(write)
  t.equal(next.state, 'waiting')
  clock.advance(5)
  t.equal(next.state, 'executing')
  t.same(write.notes, ['released'])
  t.end()
})

t.test('a request that waits too long is refused when its time is over', t => {
  const { clock, set } = build({ waitLimit: 1000 })
  enter(set, 'a', 2)
  const [early] = enter(set, 'a', 1).tickets as [NotedTicket]
  clock.advance(400)
  const [late] = enter(set, 'b', 1).tickets as [NotedTicket]
  clock.advance(600)
  t.same(early.notes, ['time-out'])
  t.same(late.notes, [])
  clock.advance(400)
  t.same(late.notes, ['time-out'])
  t.equal(set.waiting, 0)
  t.same(clock.waits, [], 'no timer is left')
  t.end()
})

t.test('a request that ends while it is queued leaves the queue', t => {
  const { set, idle } = build()
  const { tickets } = enter(set, 'a', 4)
  const [one, two, three, four] = tickets as [NotedTicket, NotedTicket, NotedTicket, NotedTicket]
  set.leave(three)
  set.leave(one)
  t.same(four.notes, ['dispatched'])
  t.same(three.notes, [])
  set.leave(two)
  t.equal(idle.length, 0)
  set.leave(four)
  t.equal(idle.length, 1)
  t.end()
})

t.test('a request that ends while it is dispatched does not dispatch the next one recursively', t => {
  const { set } = build({ limit: 1 })
  class Brief extends NotedTicket {
    depth = 0
    override dispatched (): void {
      super.dispatched()
      set.leave(this)
    }
  }
  const [holder] = enter(set, 'a', 1).tickets as [NotedTicket]
  const brief = Array.from({ length: 20_000 }, (_, index) => new Brief(`flow ${index % 40}`))
  set.configure({ ...SETTINGS, limit: 1, lengthLimit: 10_000 })
  for (const ticket of brief) set.enter(ticket)
  set.leave(holder)
  t.equal(
    brief.filter(({ state }) => state === 'over').length, 20_000, 'all have run, and the stack has not overflowed'
  )
  t.end()
})

t.test('those who wait have a turn of the event loop each, and who comes meanwhile may be the next', t => {
  const turns: Array<() => void> = []
  const turn = (): void => { turns.shift()?.() }
  const { set, clock } = build({ limit: 4, handSize: 1 }, { isOver: () => false, next: run => { turns.push(run) } })
  const log: string[] = []
  const holders = enter(set, 'elephant', 4, log).tickets
  const elephants = enter(set, 'elephant', 10, log).tickets
  clock.advance(10)
  for (const ticket of holders) set.leave(ticket)
  t.same(log, [], 'none is dispatched in this turn')
  turn()
  t.same(log, ['elephant'], 'of four free seats one is taken')
  t.same(enter(set, 'mouse', 1, log).outcomes, ['waiting'], 'behind the queued requests')
  turn()
  t.same(log, ['elephant', 'mouse'], 'and before them')
  for (const ticket of elephants.filter(({ state }) => state === 'waiting').slice(2)) set.leave(ticket)
  for (let at = 0; at < 5; at++) turn()
  t.same(log, ['elephant', 'mouse', 'elephant', 'elephant'])
  t.equal(set.waiting, 0)
  t.equal(turns.length, 0, 'no turn is scheduled without waiting requests')
  t.end()
})

t.test('when a turn has lasted long enough, newcomers wait for another one', t => {
  const turns: Array<() => void> = []
  let over = false
  const { set } = build({ limit: 4 }, { isOver: () => over, next: run => { turns.push(run) } })
  t.same(enter(set, 'a', 1).outcomes, ['executing'])
  over = true
  const { tickets, outcomes } = enter(set, 'a', 2)
  t.same(outcomes, ['waiting', 'waiting'])
  turns.shift()?.()
  turns.shift()?.()
  t.ok(tickets.every(({ state }) => state === 'executing'))
  t.equal(turns.length, 0)
  t.end()
})

t.test('new settings apply at once', t => {
  const { set } = build({ limit: 1 })
  const { tickets } = enter(set, 'a', 5)
  set.configure({ ...SETTINGS, limit: 3 })
  t.equal(tickets.filter(({ state }) => state === 'executing').length, 3)
  set.configure({ ...SETTINGS, limit: 1, queues: 0 })
  t.same(enter(set, 'a', 1).outcomes, ['concurrency-limit'])
  for (const ticket of tickets) set.leave(ticket)
  t.ok(tickets.every(({ state }) => state === 'over'), 'requests in removed queues are served')
  t.end()
})

t.test('ten million queues cost nothing', t => {
  const { set } = build({ queues: 10_000_000, handSize: 2 })
  t.same(enter(set, 'a', 3).outcomes, ['executing', 'executing', 'waiting'])
  t.end()
})

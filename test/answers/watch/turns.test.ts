import t from 'tap'
import { setImmediate as turn } from 'node:timers/promises'
import { openWatches, OpenWatches, type OpenWatch } from '../../../answers/watch/turns.js'
import { HeldTime } from './held-time.js'

class Fake implements OpenWatch {
  due = 0
  queued = false
  pumps = 0
  ticks = 0
  finished = false
  readonly #work: () => void
  constructor (work: () => void = () => {}) { this.#work = work }
  pump (): void {
    this.pumps++
    this.#work()
  }

  tick (): number {
    this.ticks++
    return 60_000
  }

  finish (): void { this.finished = true }
}

const busy = (milliseconds: number) => (): void => {
  for (const until = performance.now() + milliseconds; performance.now() < until;);
}

t.test('a single woken watch runs without delay', async t => {
  const open = new OpenWatches()
  const watch = new Fake()
  open.wake(watch)
  t.equal(watch.pumps, 1)
  await turn()
  await turn()
  t.equal(watch.pumps, 1)
})

t.test('a watch that is scheduled many times in a turn runs once', async t => {
  const open = new OpenWatches()
  const watch = new Fake()
  for (let at = 0; at < 5; at++) open.later(watch)
  open.wake(watch)
  t.equal(watch.pumps, 0)
  await turn()
  t.equal(watch.pumps, 1)
})

t.test('many woken watches leave turns of the loop to other work', async t => {
  const open = new OpenWatches()
  const watches = Array.from({ length: 200 }, () => new Fake(busy(1)))
  for (const watch of watches) open.wake(watch)
  let turns = 0
  while (watches.some(({ pumps }) => pumps === 0)) {
    turns++
    await turn()
  }
  t.ok(turns >= 5, `200 ms of work took ${turns} turns`)
  t.ok(watches.every(({ pumps }) => pumps === 1))
})

t.test('a watch with more to write is queued behind the others', async t => {
  const open = new OpenWatches()
  const order: string[] = []
  const long: Fake = new Fake(() => {
    order.push('long')
    if (long.pumps < 3) open.later(long)
  })
  const short = new Fake(() => { order.push('short') })
  open.later(long)
  open.later(short)
  for (let at = 0; at < 4; at++) await turn()
  t.same(order, ['long', 'short', 'long', 'long'])
})

t.test('timeouts fire at their time', t => {
  const time = new HeldTime()
  const open = new OpenWatches(time)
  const watches = [0, 499, 500, 700, 1000, 1300, 2100, 59_000, 63_999, 64_000, 64_001, 200_000].map(milliseconds => {
    const watch = new Fake()
    open.add(watch, milliseconds)
    return { milliseconds, watch }
  })
  const seen = new Map<number, number>()
  for (let now = 0; now < 201_500; now += 1) {
    for (const { milliseconds, watch } of watches) {
      if (watch.ticks > 0 && !seen.has(milliseconds)) seen.set(milliseconds, now)
    }
    time.pass(1)
  }
  // What is due at once is so in the next turn.
  for (const { milliseconds } of watches) t.equal(seen.get(milliseconds), Math.max(milliseconds, 1))
  t.equal(open.size, watches.length)
  for (const { watch } of watches) open.remove(watch)
  for (const { watch } of watches) open.remove(watch)
  t.equal(open.size, 0)
  t.equal(time.running, 0, 'without watches there is no timer')
  t.end()
})

t.test('a loop that was blocked for minutes catches up', t => {
  const time = new HeldTime()
  const open = new OpenWatches(time)
  const watches = Array.from({ length: 400 }, (_, at) => {
    const watch = new Fake()
    open.add(watch, at * 1000)
    return watch
  })
  time.jump(401_500)
  t.ok(watches.every(({ ticks }) => ticks === 1))
  t.end()
})

t.test('a grace period ends watches evenly', t => {
  const waits: Array<() => void> = []
  const open = new OpenWatches(
    new HeldTime(), () => 200, (_milliseconds, then) => { waits.push(then); return () => {} }
  )
  const watches = Array.from({ length: 10 }, () => new Fake())
  for (const watch of watches) open.add(watch, 60_000)
  const ended: number[] = []
  open.finish()
  for (;;) {
    ended.push(watches.filter(({ finished }) => finished).length)
    const next = waits.shift()
    if (next === undefined) break
    next()
  }
  t.same(ended, [3, 6, 9, 10])
  t.end()
})

t.test('closing the server ends every watch, the first of them at once', async t => {
  const closing = new AbortController()
  const open = openWatches(closing.signal)
  t.equal(openWatches(closing.signal), open, 'one for a server')
  const watches = Array.from({ length: 300 }, () => new Fake())
  for (const watch of watches) open.add(watch, 60_000)
  closing.abort()
  t.ok(watches.every(({ finished }) => finished))
  t.equal(watches[0]?.pumps, 1)
  await turn()
  t.ok(watches.every(({ pumps }) => pumps === 1))
})

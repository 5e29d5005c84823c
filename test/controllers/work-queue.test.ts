import t from 'tap'
import { WorkQueue, type Verdict, type WorkQueueOptions } from '../../controllers/work-queue.js'
import { FakeClock, turns } from '../storage/fake-clock.js'

type Test = Pick<typeof t, 'teardown'>

interface Held { readonly key: string, readonly end: (verdict: Verdict | Error) => void }

/** A queue whose steps last until the test ends them. */
function held (t: Test, options: Partial<WorkQueueOptions> = {}) {
  const clock = new FakeClock()
  const under: Held[] = []
  const failures: string[] = []
  const queue = new WorkQueue({
    workers: 2,
    clock,
    work: key => new Promise((resolve, reject) => {
      const one: Held = {
        key,
        end: verdict => {
          under.splice(under.indexOf(one), 1)
          if (verdict instanceof Error) reject(verdict)
          else resolve(verdict)
        }
      }
      under.push(one)
    }),
    failed: (key, error) => { failures.push(`${key} ${String(error)}`) },
    ...options
  })
  t.teardown(async () => {
    const closed = queue.close()
    for (const one of [...under]) one.end('done')
    await closed
  })
  const end = async (key: string, verdict: Verdict | Error = 'done'): Promise<void> => {
    const one = under.find(other => other.key === key)
    if (one === undefined) throw new Error(`${key} is not worked on`)
    one.end(verdict)
    await turns()
  }
  return { queue, clock, failures, end, keys: () => under.map(({ key }) => key) }
}

t.test('a key is worked on once, however often it is added', async t => {
  const { queue, end, keys } = held(t)
  for (let times = 0; times < 5; times++) queue.add('a')
  t.same(keys(), [], 'not before the caller of add has finished')
  await turns()
  t.same(keys(), ['a'])
  await end('a')
  t.same(keys(), [])
  t.equal(queue.length, 0)
})

t.test('a key is never worked on twice at a time, and what was added meanwhile is not forgotten', async t => {
  const { queue, end, keys } = held(t)
  queue.add('a')
  await turns()
  queue.add('a')
  queue.add('a')
  await turns()
  t.same(keys(), ['a'])
  await end('a')
  t.same(keys(), ['a'], 'once more')
  await end('a')
  t.same(keys(), [])
})

t.test('at most as many keys as workers are in progress; the others follow in order', async t => {
  const { queue, end, keys } = held(t)
  for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key)
  await turns()
  t.same(keys(), ['a', 'b'])
  await end('b')
  t.same(keys(), ['a', 'c'])
  await end('a')
  await end('c')
  t.same(keys(), ['d', 'e'])
})

t.test(
  'a key that must wait is retried with doubling pauses up to the maximum, which start again after success',
  async t => {
    const { queue, clock, end, keys } = held(t, { backoff: { first: 50, max: 300 } })
    queue.add('a')
    await turns()
    const waits: number[] = []
    for (let look = 0; look < 5; look++) {
      await end('a', 'later')
      waits.push(...clock.waits)
      clock.advance((clock.waits[0] ?? 0) - 1)
      await turns()
      t.same(keys(), [], 'not before its time')
      clock.advance(1)
      await turns()
      t.same(keys(), ['a'])
    }
    t.same(waits, [50, 100, 200, 300, 300])
    await end('a', 'again')
    t.same(keys(), ['a'], 'at once')
    await end('a', 'later')
    t.same(clock.waits, [50])
  }
)

t.test('each key has its own back-off, and forgetting the key resets it', async t => {
  const { queue, clock, end } = held(t)
  for (const key of ['a', 'b']) queue.add(key)
  await turns()
  await end('a', 'later')
  clock.advance(50)
  await turns()
  await end('a', 'later')
  await end('b', 'later')
  t.same(clock.waits, [50, 100])
  clock.advance(100)
  await turns()
  queue.forget('a')
  await end('a', 'later')
  t.ok(clock.waits.includes(50))
})

t.test('a failed key is retried, and others continue', async t => {
  const { queue, clock, end, keys, failures } = held(t, { retry: { first: 1000, max: 2000 } })
  for (const key of ['a', 'b', 'c']) queue.add(key)
  await turns()
  await end('a', new Error('no'))
  t.same(failures, ['a Error: no'])
  t.same(keys(), ['b', 'c'])
  t.same(clock.waits, [1000])
  clock.advance(1000)
  await end('b')
  t.same(keys(), ['c', 'a'])
  await end('a', new Error('no'))
  t.same(clock.waits, [2000])
  clock.advance(2000)
  await turns()
  await end('a')
  queue.add('a')
  await turns()
  await end('a', new Error('no'))
  t.same(clock.waits, [1000], 'success ends the count')
})

t.test('a key that is to come back sooner does, and once', async t => {
  const { queue, clock, end, keys } = held(t)
  queue.addAfter('a', 100)
  queue.addAfter('a', 500)
  queue.addAfter('a', 30)
  t.same(clock.waits, [30])
  clock.advance(30)
  await turns()
  await end('a')
  clock.advance(1000)
  await turns()
  t.same(keys(), [])
  queue.addAfter('b', 0)
  await turns()
  t.same(keys(), ['b'])
})

t.test('many retries are spread over time', async t => {
  const { queue, clock, end } = held(t, {
    workers: 10, backoff: { first: 10, max: 10 }, rate: { perSecond: 10, burst: 2 }
  })
  const names = ['a', 'b', 'c', 'd', 'e']
  for (const key of names) queue.add(key)
  await turns()
  for (const key of names) await end(key, 'later')
  t.same(clock.waits, [10, 10, 100, 200, 300])
})

t.test('a closed queue starts no work, aborts what is in progress and closes when that has ended', async t => {
  const signals: AbortSignal[] = []
  let end = (): void => {}
  const clock = new FakeClock()
  const queue = new WorkQueue({
    workers: 1,
    clock,
    failed: () => { t.fail('an end is no failure') },
    work: (_key, signal) =>
      new Promise((_resolve, reject) => { signals.push(signal); end = () => { reject(new Error('aborted')) } })
  })
  queue.add('a')
  queue.add('b')
  queue.addAfter('c', 10)
  await turns()
  let closed = false
  const closing = queue.close().then(() => { closed = true })
  await turns()
  t.equal(signals[0]?.aborted, true)
  t.equal(closed, false)
  t.same(clock.waits, [])
  end()
  await closing
  queue.add('d')
  queue.addAfter('e', 10)
  clock.advance(1000)
  await turns()
  t.equal(signals.length, 1)
  t.equal(queue.length + queue.waiting, 0)
})

t.test('steps that wait for nothing leave the others their turns', async t => {
  let steps = 0
  let timers = 0
  let finish = (): void => {}
  const finished = new Promise<void>(resolve => { finish = resolve })
  const queue = new WorkQueue({
    workers: 8,
    failed: () => {},
    work: async () => {
      if (++steps === 300) finish()
      for (const until = performance.now() + 1; performance.now() < until;);
      return 'done'
    }
  })
  t.teardown(() => queue.close())
  for (let key = 0; key < 300; key++) queue.add(String(key))
  const turn = (): void => { timers++; if (steps < 300) setImmediate(turn) }
  setImmediate(turn)
  await finished
  t.ok(timers > 10, `${timers} turns meanwhile`)
})

t.test('an observer sees keys added, started, finished and retried', async t => {
  const observed: string[] = []
  let seen: {
    readonly depth: number
    readonly inProgress: { readonly all: number, readonly longest: number }
  } | undefined
  const { queue, clock, end } = held(t, {
    workers: 1,
    name: 'observed',
    observe: (name, queue) => {
      seen = queue
      const observe = (what: string) => (ms?: number): void => {
        observed.push(ms === undefined ? `${name} ${what}` : `${name} ${what} ${ms}`)
      }
      return { added: observe('added'), retried: observe('retried'), begun: observe('begun'), done: observe('done') }
    }
  })
  queue.add('a')
  queue.add('a')
  queue.add('b')
  t.equal(seen?.depth, 2)
  await turns()
  clock.advance(40)
  t.same(seen?.inProgress, { all: 40, longest: 40 })
  await end('a', 'later')
  t.same(observed, [
    'observed added', 'observed added', 'observed begun 0', 'observed retried', 'observed done 40', 'observed begun 40'
  ])
  await end('b')
  t.same(seen?.inProgress, { all: 0, longest: 0 })
})

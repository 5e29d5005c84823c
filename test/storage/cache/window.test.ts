import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { CacheEvent } from '../../../storage/cache/event.js'
import { Entry } from '../../../storage/cache/entry.js'
import { EventWindow } from '../../../storage/cache/window.js'

const MIN = 2000
const event = (revision: number): CacheEvent => new CacheEvent(
  'ADDED', revision, new Entry(`/x/${revision}`, revision, Buffer.from('{}\n'), undefined, []), undefined
)

t.test('more than the least number of events is kept for a minute, whether others come or not', async t => {
  const window = new EventWindow(0, MIN)
  for (let revision = 1; revision <= 3 * MIN; revision++) window.push(event(revision), 0)
  t.equal(window.end - window.begin, 3 * MIN)
  window.trim(60_000)
  t.equal(window.begin, 0, 'within the time all are there')
  window.trim(80_000)
  t.equal(window.end - window.begin, MIN)
  t.equal(window.since, 2 * MIN)
  t.equal(window.at(window.begin)?.revision, 2 * MIN + 1)
  t.equal(window.firstAfter(2 * MIN), window.begin)
  window.push(event(3 * MIN + 1), 80_000)
  t.equal(window.end - window.begin, MIN)
})

t.test('what is dropped to bound the bytes of large objects is free at once', async t => {
  const window = new EventWindow(0, MIN)
  const json = Buffer.alloc(1_000_000, 'x')
  const dropped: Array<WeakRef<CacheEvent>> = []
  for (let revision = 1; revision <= 200; revision++) {
    const large = new CacheEvent(
      'ADDED', revision, new Entry(`/x/${revision}`, revision, json, undefined, []), undefined
    )
    window.push(large, 0)
    if (revision <= 100) dropped.push(new WeakRef(large))
  }
  t.equal(window.begin, 200 - 67)
  t.equal(window.at(window.begin)?.revision, 134)
  t.equal(window.firstAfter(150), 150)
  await sleep(1) // a reference that was just made is strong for the rest of its turn
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  t.equal(dropped.filter(one => one.deref() !== undefined).length, 0)
})

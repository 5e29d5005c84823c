import t from 'tap'
import { CacheEvent } from '../../../storage/cache/event.js'
import { Entry } from '../../../storage/cache/entry.js'
import { EventWindow } from '../../../storage/cache/window.js'

const MIN = 2000
const event = (revision: number): CacheEvent => new CacheEvent('ADDED', revision, new Entry(`/x/${revision}`, revision, Buffer.from('{}\n'), undefined, []), undefined)

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

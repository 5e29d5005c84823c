import t from 'tap'
import { cacheFeed, historyFeed } from '../../../storage/cache/feed.js'
import type { Feed } from '../../../storage/cache/feed.js'
import { EventWindow } from '../../../storage/cache/window.js'
import { CacheEvent } from '../../../storage/cache/event.js'
import { Entry } from '../../../storage/cache/entry.js'
import { openBackend } from '../../../storage/open.js'
import { create } from '../../../storage/operations/create.js'
import { remove } from '../../../storage/operations/delete.js'
import { update } from '../../../storage/operations/update.js'
import { config, configMapStore, context, target } from '../store.js'

const quiet = { wake: () => {}, end: () => {} }

function drain (feed: Feed): string[] {
  const found: string[] = []
  for (;;) {
    const { events, id } = feed.take(3)
    if (id === '') return found
    for (const { type, revision, entry } of events) found.push(`${type} ${entry.object.metadata.name} ${revision}`)
  }
}

t.test('history and cache tell the same story', async t => {
  const backend = await openBackend({ kind: 'memory' })
  const store = configMapStore(t, backend)
  await store.cache.open()
  const after = await backend.revision()
  for (let at = 0; at < 20; at++) {
    await create(store, config(`c${at}`), target(''), context)
    if (at % 2 === 0) await update(store, config(`c${at}`, { x: 'y' }), target(`c${at}`), context)
    if (at % 3 === 0) await remove(store, target(`c${at}`), {}, context)
  }
  const fromCache = drain(cacheFeed(store.cache, after, quiet))
  const history = historyFeed({ backend, ...store.range(''), after, decode: (kv, revision) => store.decode(kv, revision), subscriber: quiet })
  const fromHistory: string[] = []
  while (fromHistory.length < fromCache.length) {
    await new Promise(resolve => { setImmediate(resolve) })
    fromHistory.push(...drain(history))
  }
  t.same(fromHistory, fromCache)
  t.equal(fromCache.length, 37)
  history.close()
})

t.test('a cursor that fell off the window says so', async t => {
  const backend = await openBackend({ kind: 'memory' })
  const store = configMapStore(t, backend)
  await store.cache.open()
  const feed = cacheFeed(store.cache, await backend.revision(), quiet)
  const entry = new Entry('/registry/configmaps/default/x', 1, '{"metadata":{}}', undefined, [])
  for (let revision = 10; revision < 3000; revision++) store.cache.window.push(new CacheEvent('MODIFIED', revision, entry, entry), revision * 1000)
  t.throws(() => feed.take(1), { code: 'Compacted' })
})

t.test('a window forgets the oldest, knows since when it is whole, and finds revisions', async t => {
  const window = new EventWindow(5, 100)
  const entry = new Entry('k', 1, '{}', undefined, [])
  for (let revision = 6; revision <= 5005; revision++) window.push(new CacheEvent('MODIFIED', revision, entry, entry), revision * 1000)
  t.equal(window.end, 5000)
  t.ok(window.begin > 0)
  t.equal(window.at(window.begin)?.revision, window.since + 1)
  t.equal(window.at(window.begin - 1), undefined)
  t.equal(window.at(window.firstAfter(5000))?.revision, 5001)
  t.equal(window.firstAfter(5005), window.end)
  t.not(window.serial, new EventWindow(5, 100).serial, 'windows are told apart')
})

t.test('recent events stay for a minute though more than the least come, within bounds', async t => {
  const window = new EventWindow(0, 100)
  const entry = new Entry('k', 1, '{}', undefined, [])
  for (let revision = 1; revision <= 50_000; revision++) window.push(new CacheEvent('MODIFIED', revision, entry, entry), revision)
  t.equal(window.begin, 0, '50 seconds of 1,000 events each')
  const large = new Entry('k', 1, JSON.stringify('x'.repeat(1024 * 1024)), undefined, [])
  for (let revision = 50_001; revision <= 50_400; revision++) window.push(new CacheEvent('MODIFIED', revision, large, large), revision)
  t.ok(window.end - window.begin < 100, 'no more than 64 MiB of objects')
})

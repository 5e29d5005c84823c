import t from 'tap'
import { cacheFeed, type Feed } from '../../../storage/cache/feed.js'
import { HistoryFeed } from '../../../storage/cache/history-feed.js'
import { EventWindow } from '../../../storage/cache/window.js'
import { CacheEvent } from '../../../storage/cache/event.js'
import { ownBytes } from '../../../storage/bytes.js'
import { Entry } from '../../../storage/cache/entry.js'
import type { Subscriber } from '../../../storage/cache/subscribers.js'
import type { Backend, BackendWatch, WatchRequest } from '../../../storage/backend.js'
import { openBackend } from '../../../storage/open.js'
import { create } from '../../../registry/verbs/create.js'
import { remove } from '../../../registry/verbs/delete.js'
import { update } from '../../../registry/verbs/update.js'
import type { ResourceStore } from '../../../registry/resource-store.js'
import type { Test } from '../../build.js'
import { cacheOf, config, configMapStore, context, target } from '../store.js'

const quiet: Subscriber = { wake: () => {}, end: () => {} }
const turn = (): Promise<void> => new Promise(resolve => { setImmediate(resolve) })

function drain (feed: Feed): string[] {
  const found: string[] = []
  for (;;) {
    const { events, more } = feed.take(3)
    for (const { type, revision, entry } of events) found.push(`${type} ${entry.name} ${revision}`)
    if (!more) return found
  }
}

/** Twenty objects, some of which are changed and some deleted. */
async function busy (store: ResourceStore): Promise<void> {
  for (let at = 0; at < 20; at++) {
    await create(store, config(`c${at}`), target(''), context)
    if (at % 2 === 0) await update(store, config(`c${at}`, { x: 'y' }), target(`c${at}`), context)
    if (at % 3 === 0) await remove(store, target(`c${at}`), {}, context)
  }
}
const BUSY_EVENTS = 37

const historyOf = (
  store: ResourceStore, after: number, scope = store.keys.scope(''), subscriber = quiet,
  backend: Backend = store.backend
): HistoryFeed =>
  new HistoryFeed({
    backend, scope, after, decode: (kv, revision) => store.entries.decode(kv, revision), subscriber, cache: store.cache
  })

async function memoryStore (t: Test, windowSize?: number): Promise<ResourceStore> {
  const store = configMapStore(t, await openBackend({ kind: 'memory' }), windowSize === undefined ? {} : { windowSize })
  await store.open()
  return store
}

t.test('history and cache give the same events, for a resource, a namespace and one object', async t => {
  const store = await memoryStore(t)
  const after = await store.backend.revision()
  await busy(store)
  for (const [scope, count] of [
    [store.keys.scope(''), BUSY_EVENTS], [store.keys.scope('default'), BUSY_EVENTS],
    [store.keys.of('default', 'c0'), 3], [store.keys.scope('other'), 0], [store.keys.of('default', 'c'), 0]
  ] as const) {
    const fromCache = drain(cacheFeed(cacheOf(store), after, scope, quiet))
    const history = historyOf(store, after, scope)
    const fromHistory: string[] = []
    for (let turns = 0; turns < 20; turns++) {
      await turn()
      fromHistory.push(...drain(history))
    }
    t.same(fromHistory, fromCache, scope)
    t.equal(fromCache.length, count, scope)
    history.close()
  }
  t.equal(cacheOf(store).subscribers, 4 + 1, 'closed feeds leave nothing behind')
})

t.test('a change wakes only the feeds it concerns, once until they are read', async t => {
  const store = await memoryStore(t)
  const woken: string[] = []
  const feeds = [
    store.keys.scope(''), store.keys.scope('default'), store.keys.scope('other'), store.keys.of('default', 'one'),
    store.keys.of('default', 'two')
  ].map(scope =>
    cacheFeed(cacheOf(store), cacheOf(store).revision, scope, {
      wake: () => { woken.push(scope.slice('/registry/configmaps'.length)) }, end: () => {}
    }))
  const told = async (work: () => Promise<unknown>): Promise<string[]> => {
    await work()
    await turn()
    return woken.splice(0)
  }
  t.same(await told(() => create(store, config('one'), target(''), context)), ['/', '/default/', '/default/one'])
  t.same(
    await told(() => create(store, config('two'), target(''), context)), ['/default/two'],
    'the others have not looked yet'
  )
  for (const feed of feeds) drain(feed)
  t.same(await told(() => update(store, config('two', { a: 'b' }), target('two'), context)), [
    '/', '/default/', '/default/two'
  ])
})

t.test('a feed that wants a value of a field is woken by objects that have it, or had it', async t => {
  const store = await memoryStore(t)
  const cache = cacheOf(store)
  const woken: string[] = []
  const named = (value: string) => cacheFeed(cache, cache.revision, store.keys.scope(''), {
    selected: { at: 0, value }, wake: () => { woken.push(value) }, end: () => {}
  })
  const feeds = [named('one'), named('two')]
  const told = async (work: () => Promise<unknown>): Promise<string[]> => {
    await work()
    await turn()
    for (const feed of feeds) drain(feed)
    return woken.splice(0)
  }
  t.same(await told(() => create(store, config('one'), target(''), context)), ['one'])
  t.same(await told(() => create(store, config('three'), target(''), context)), [])
  t.same(await told(() => update(store, config('one', { a: 'b' }), target('one'), context)), ['one'])
  t.equal(cache.watchesOf(store.keys.of('default', 'one')), 0, 'they do not count for every change')
  t.equal(cache.subscribers, 2)
  for (const feed of feeds) feed.close()
  t.equal(cache.subscribers, 0)
})

t.test('a narrow feed never loses its place, however much happens elsewhere', async t => {
  const store = await memoryStore(t)
  const cache = cacheOf(store)
  const feed = cacheFeed(cache, cache.revision, store.keys.of('default', 'one'), quiet)
  const entry = new Entry(store.keys.of('default', 'x'), 1, ownBytes('{"metadata":{}}'), undefined, [])
  const first = cache.revision + 1
  for (let at = 0; at < 3000; at++) cache.window.push(new CacheEvent('MODIFIED', first, entry, entry), at * 100_000)
  t.ok(cache.window.begin > 0)
  await create(store, config('one'), target(''), context)
  t.equal(drain(feed).length, 1)
})

t.test('an event out of scope that follows a partial take is not delivered', async t => {
  const store = await memoryStore(t)
  const cache = cacheOf(store)
  const feed = cacheFeed(cache, cache.revision, store.keys.scope('default'), quiet)
  await create(store, config('mine'), target(''), context)
  const entry = new Entry(store.keys.of('other', 'x'), cache.revision + 1, ownBytes('{"metadata":{}}'), undefined, [])
  cache.window.push(new CacheEvent('ADDED', cache.revision + 1, entry, undefined), 0)
  t.match(feed.take(1), { events: [{ entry: { name: 'mine' } }], more: true })
  t.match(feed.take(1), { events: { length: 0 }, more: false })
  t.equal(feed.revision(), cache.revision)
})

t.test('a position that fell off the window is an error', async t => {
  const store = await memoryStore(t)
  const cache = cacheOf(store)
  const feed = cacheFeed(cache, cache.revision, store.keys.scope(''), quiet)
  await create(store, config('one'), target(''), context)
  const entry = new Entry('/registry/configmaps/default/x', 1, ownBytes('{"metadata":{}}'), undefined, [])
  for (let revision = 10; revision < 3000; revision++) {
    cache.window.push(new CacheEvent('MODIFIED', revision, entry, entry), revision * 1000)
  }
  t.throws(() => feed.take(1), { code: 'Compacted' })
})

/** Counts the open watches of a back end, and records their requests. */
function counted (backend: Backend): { backend: Backend, open: () => number, asked: WatchRequest[] } {
  const asked: WatchRequest[] = []
  let open = 0
  const watch = (request: WatchRequest): BackendWatch => {
    asked.push(request)
    open++
    const inner = backend.watch(request)
    let over = false
    return {
      requestProgress: () => { inner.requestProgress() },
      cancel: () => { if (!over) open--; over = true; inner.cancel() }
    }
  }
  return {
    backend: new Proxy(backend, { get: (of, name) => name === 'watch' ? watch : Reflect.get(of, name, of) }),
    open: () => open,
    asked
  }
}

t.test('a feed of history moves to the window without a gap or a repeat during writes', async t => {
  const store = await memoryStore(t)
  const { backend, open } = counted(store.backend)
  const after = await store.backend.revision()
  await busy(store)
  const history = historyOf(store, after, store.keys.scope(''), quiet, backend)
  const found: string[] = []
  const wrote = Promise.all(Array.from(
    { length: 200 }, (_, at) => create(store, config(`later${at}`), target(''), context)
  ))
  for (let turns = 0; turns < 50 || found.length < BUSY_EVENTS + 200; turns++) {
    await turn()
    found.push(...drain(history))
  }
  await wrote
  t.equal(open(), 0, 'the watch of the back end is over')
  t.same(found, drain(cacheFeed(cacheOf(store), after, store.keys.scope(''), quiet)))
  await create(store, config('last'), target(''), context)
  t.equal(drain(history).length, 1, 'and it is live')
  t.equal(history.revision(), cacheOf(store).revision)
  history.close()
})

t.test('a reader that does not read is read ahead for no more than a bound, and misses nothing', async t => {
  const store = await memoryStore(t, 0)
  const { backend, open, asked } = counted(store.backend)
  const after = await store.backend.revision()
  for (let at = 0; at < 40; at++) {
    await create(store, config(`c${at}`, { text: 'x'.repeat(500_000) }), target(''), context)
  }
  const history = historyOf(store, after, store.keys.scope(''), quiet, backend)
  for (let turns = 0; turns < 100; turns++) await turn()
  t.equal(open(), 0, 'it does not go on reading')
  const found: string[] = []
  while (found.length < 40) {
    await turn()
    found.push(...drain(history))
  }
  t.equal(new Set(found).size, 40)
  t.ok(asked.length > 1, 'it took up where it had stopped')
  history.close()
})

t.test('a feed of history does not vouch for what it has not been given', async t => {
  const store = await memoryStore(t, 0)
  const after = await store.backend.revision()
  await busy(store)
  const history = historyOf(store, after)
  t.equal(history.revision(), after, 'nothing has come yet')
  for (let turns = 0; turns < 5; turns++) await turn()
  t.equal(history.revision(), undefined, 'events wait')
  drain(history)
  t.equal(history.revision(), await store.backend.revision())
  history.close()
})

t.test('a window forgets the oldest, knows since when it is whole, and finds revisions', async t => {
  const window = new EventWindow(5, 100)
  const entry = new Entry('k', 1, ownBytes('{}'), undefined, [])
  for (let revision = 6; revision <= 5005; revision++) {
    window.push(new CacheEvent('MODIFIED', revision, entry, entry), revision * 1000)
  }
  t.equal(window.end, 5000)
  t.ok(window.begin > 0)
  t.equal(window.at(window.begin)?.revision, window.since + 1)
  t.equal(window.at(window.begin - 1), undefined)
  t.equal(window.at(window.firstAfter(5000))?.revision, 5001)
  t.equal(window.firstAfter(5005), window.end)
  t.not(window.serial, new EventWindow(5, 100).serial, 'each window has its own serial')
})

t.test('recent events stay for a minute though more than the least come, within bounds', async t => {
  const window = new EventWindow(0, 100)
  const entry = new Entry('k', 1, ownBytes('{}'), undefined, [])
  for (let revision = 1; revision <= 50_000; revision++) {
    window.push(new CacheEvent('MODIFIED', revision, entry, entry), revision)
  }
  t.equal(window.begin, 0, '50 seconds of 1,000 events each')
  const large = new Entry('k', 1, ownBytes(JSON.stringify('x'.repeat(1024 * 1024))), undefined, [])
  for (let revision = 50_001; revision <= 50_400; revision++) {
    window.push(new CacheEvent('MODIFIED', revision, large, large), revision)
  }
  t.ok(window.end - window.begin < 100, 'no more than 64 MiB of objects')
})

import t from 'tap'
import { Informer, type Handler, type InformerOptions } from '../../controllers/informer.js'
import { StorageError } from '../../storage/errors.js'
import { openMemory } from '../../storage/embedded/memory.js'
import type { Backend, BackendWatch, WatchRequest } from '../../storage/backend.js'
import { create } from '../../registry/verbs/create.js'
import { remove } from '../../registry/verbs/delete.js'
import { change } from '../../registry/verbs/change.js'
import { watch } from '../../registry/verbs/watch.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { config, configMapStore, context, target } from '../storage/store.js'
import { FakeClock, turns } from '../storage/fake-clock.js'

type Test = Pick<typeof t, 'teardown'>

const make = async (store: ResourceStore, name: string): Promise<unknown> =>
  await create(store, config(name), target(name), context)
const touch = async (store: ResourceStore, name: string): Promise<unknown> => await change(
  store, target(name), context, found => Object.assign(found.copy(), { data: { touched: String(found.revision) } })
)
const drop = async (store: ResourceStore, name: string): Promise<unknown> =>
  await remove(store, target(name), {}, context)

/** Notifications in order; `-name` stands for a deletion. */
function listener (): { notified: string[], handler: Handler } {
  const notified: string[] = []
  return {
    notified,
    handler: {
      changed: ({ name }) => { notified.push(name) },
      deleted: ({ namespace, name }) => { notified.push(`-${namespace}/${name}`) }
    }
  }
}

async function follow (t: Test, store: ResourceStore, more: Partial<InformerOptions> = {}) {
  const { notified, handler } = listener()
  const clock = new FakeClock()
  const logged: string[] = []
  const informer = new Informer({
    store, handlers: [handler], clock, log: message => { logged.push(message) }, ...more
  })
  t.teardown(() => { informer.close() })
  await informer.start()
  return { notified, clock, informer, logged }
}

/** The memory back end, whose watches a test can end. */
async function breakable (): Promise<{ backend: Backend, breakAll: (code: 'Compacted' | 'Unavailable') => void }> {
  const backend = openMemory()
  const open: Array<{ request: WatchRequest, watch: BackendWatch }> = []
  const begin = backend.watch.bind(backend)
  backend.watch = request => {
    const watch = begin(request)
    open.push({ request, watch })
    return watch
  }
  return {
    backend,
    breakAll: code => {
      for (const { request, watch } of open.splice(0)) {
        watch.cancel()
        request.onEnd(new StorageError(code, 'broken by the test'))
      }
    }
  }
}

for (const windowSize of [100, 0]) {
  t.test(
    `${windowSize === 0 ? 'without' : 'with'} a cache, handlers are called for existing objects and for changes`,
    async t => {
      const store = configMapStore(t, openMemory(), { windowSize })
      await store.open()
      await make(store, 'a')
      await make(store, 'b')
      const { notified } = await follow(t, store)
      t.same(notified.splice(0), ['a', 'b'])
      await touch(store, 'b')
      await make(store, 'c')
      await drop(store, 'a')
      await turns()
      t.same(notified, ['b', 'c', '-default/a'])
    }
  )

  t.test(`${windowSize === 0 ? 'without' : 'with'} a cache, nothing is missed when the history is lost`, async t => {
    const { backend, breakAll } = await breakable()
    const store = configMapStore(t, backend, { windowSize })
    await store.open()
    for (const name of ['a', 'b']) await make(store, name)
    const { notified, clock } = await follow(t, store)
    notified.length = 0
    breakAll('Compacted')
    await drop(store, 'a')
    await make(store, 'c')
    await turns()
    t.same(clock.waits, [1000], 'after a moment')
    clock.advance(1000)
    await turns()
    t.same(notified.splice(0).sort(), ['-default/a', 'b', 'c'])
    await touch(store, 'c')
    await turns()
    t.same(notified, ['c'], 'and it continues')
  })
}

t.test('a failed first list is reported; later ones are retried until they succeed', async t => {
  const store = configMapStore(t, openMemory(), { windowSize: 0 })
  const { list } = store.backend
  const fail = async (): Promise<never> => { throw new StorageError('Unavailable', 'no store') }
  store.backend.list = fail
  const { notified, handler } = listener()
  const clock = new FakeClock()
  let end = (_error: StorageError): void => {}
  const informer = new Informer({
    store,
    handlers: [handler],
    clock,
    log: () => {},
    watch: async (store, request, subscriber) => {
      end = error => { subscriber.end(error) }
      return await watch(store, request, subscriber)
    }
  })
  t.teardown(() => { informer.close() })
  await t.rejects(informer.start(), { code: 'Unavailable' })
  store.backend.list = list
  await make(store, 'a')
  await informer.start()
  t.same(notified.splice(0), ['a'])
  store.backend.list = fail
  end(new StorageError('Compacted', 'over'))
  for (let attempt = 0; attempt < 3; attempt++) {
    t.same(clock.waits, [1000])
    clock.advance(1000)
    await turns()
  }
  store.backend.list = list
  clock.advance(1000)
  await turns()
  t.same(notified, ['a'])
  t.same(clock.waits, [])
})

t.test('an informer that falls behind the window lists again instead of failing', async t => {
  const store = configMapStore(t, openMemory())
  await store.open()
  let slow = false
  const { notified, clock, logged } = await follow(t, store, {
    watch: async (store, request, subscriber) => {
      const opened = await watch(store, request, subscriber)
      const take = opened.feed.take.bind(opened.feed)
      opened.feed.take = (most, bytes) => {
        if (slow) throw new StorageError('Compacted', 'the watch was too slow')
        return take(most, bytes)
      }
      return opened
    }
  })
  slow = true
  await make(store, 'a')
  await turns()
  t.same(notified, [])
  slow = false
  clock.advance(1000)
  await turns()
  t.same(notified, ['a'])
  t.same(logged, [])
})

t.test('an event that comes while the watch is being opened is not lost', async t => {
  const store = configMapStore(t, openMemory())
  await store.open()
  const { notified } = await follow(t, store, {
    watch: async (store, request, subscriber) => {
      const opened = await watch(store, request, subscriber)
      await make(store, 'early')
      await turns()
      return opened
    }
  })
  t.same(notified, ['early'])
})

t.test('one object is reconciled by its name, and all of them periodically', async t => {
  const store = configMapStore(t, openMemory())
  await store.open()
  for (const name of ['a', 'b']) await make(store, name)
  const { notified, informer, clock } = await follow(t, store, { resync: 60_000 })
  notified.length = 0
  await informer.resync(target('b'))
  await informer.resync(target('none'))
  t.same(notified.splice(0), ['b', '-default/none'])
  for (let time = 0; time < 2; time++) {
    clock.advance(60_000)
    await turns()
    t.same(notified.splice(0), ['a', 'b'])
  }
  await make(store, 'c')
  await turns()
  t.same(notified, ['c'])
})

t.test('a handler that throws is logged and harms no other', async t => {
  const store = configMapStore(t, openMemory())
  await store.open()
  const { notified, handler } = listener()
  const broken: Handler = { changed: () => { throw new Error('no') } }
  const { logged } = await follow(t, store, { handlers: [broken, handler] })
  await make(store, 'a')
  await make(store, 'b')
  await turns()
  t.same(notified, ['a', 'b'])
  t.same(logged, ['a handler of configmaps failed', 'a handler of configmaps failed'])
})

t.test('a closed informer calls no handler, even if it is closed during its start', async t => {
  const store = configMapStore(t, openMemory())
  await store.open()
  await make(store, 'a')
  const { notified, informer, clock } = await follow(t, store)
  notified.length = 0
  informer.close()
  await make(store, 'b')
  await turns()
  const { notified: others, handler } = listener()
  const starting = new Informer({ store, handlers: [handler], clock, log: () => {} })
  const started = starting.start()
  starting.close()
  await started
  await make(store, 'c')
  await turns()
  t.same([notified, others, clock.waits], [[], [], []])
})

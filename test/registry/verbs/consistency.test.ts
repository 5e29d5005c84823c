import t from 'tap'
import { openBackend } from '../../../storage/open.js'
import { create } from '../../../registry/verbs/create.js'
import { remove } from '../../../registry/verbs/delete.js'
import { get } from '../../../registry/verbs/get.js'
import { list } from '../../../registry/verbs/list.js'
import { change } from '../../../registry/verbs/change.js'
import { update } from '../../../registry/verbs/update.js'
import { isStatusError } from '../../../schemas/status.js'
import { random } from '../../random.js'
import { laggingBackend } from '../../storage/lagging-backend.js'
import { Place } from '../../../storage/cache/subscribers.js'
import { cacheOf, config, configMapStore, context, everything, target } from '../../storage/store.js'

const dataOf = (object: object): Record<string, string> => ({ ...(object as { data?: Record<string, string> }).data })

t.test('whatever was acknowledged is read at once, however late events come', async t => {
  const { seed, int } = random()
  t.comment(`seed ${seed}`)
  const store = configMapStore(t, await laggingBackend())
  await store.open()
  let wrong = 0
  await Promise.all(Array.from({ length: 8 }, async (_, writer) => {
    const name = `c${writer}`
    let version: string | undefined
    for (let step = 0; step < 40; step++) {
      const action = int(4)
      if (version === undefined) {
        version = (await create(
          store, config(name, { step: String(step) }), target(''), context
        )).object.metadata.resourceVersion
      } else if (action === 0) {
        await remove(store, target(name), {}, context)
        version = undefined
      } else {
        version = (await update(
          store, config(name, { step: String(step) }), target(name), context
        )).entry.object.metadata.resourceVersion
      }
      const read = await Promise.resolve()
        .then(() => get(store, 'default', name, ''))
        .then(entry => entry.object.metadata.resourceVersion, () => undefined)
      const listed = (await list(store, everything)).entries.find(({ object }) =>
        object.metadata.name === name)?.object.metadata.resourceVersion
      if (read !== version || listed !== version) wrong++
    }
  }))
  t.equal(wrong, 0)
})

t.test('concurrent changes of one object are all applied, each on the latest', async t => {
  for (const open of [laggingBackend, () => openBackend({ kind: 'memory' })]) {
    const store = configMapStore(t, await open())
    await store.open()
    await create(store, config('shared'), target(''), context)
    await Promise.all(Array.from({ length: 40 }, async (_, at) => {
      await change(store, target('shared'), context, found =>
        Object.assign(found.copy(), { data: { ...dataOf(found.object), [`k${at}`]: 'x' } }))
    }))
    t.equal(Object.keys(dataOf((await get(store, 'default', 'shared', '')).object)).length, 40)
  }
})

t.test(
  'a change asks for no newest state where the write itself proves it, and believes nothing else it did not ask for',
  async t => {
    const backend = await laggingBackend()
    backend.lag = 0
    const store = configMapStore(t, backend)
    const elsewhere = configMapStore(t, backend)
    await Promise.all([store.open(), elsewhere.open()])
    await create(store, config('one', { step: '0' }), target(''), context)
    await get(store, 'default', 'one', '')
    let asked = 0
    const { revision } = backend
    backend.revision = async () => {
      asked++
      return await revision()
    }
    await update(store, config('one', { step: '1' }), target('one'), context)
    t.equal(asked, 0, 'compared and written')

    backend.lag = 50
    await get(store, 'default', 'one', '')
    const stale = (await get(store, 'default', 'one', '0')).object
    asked = 0
    await update(elsewhere, config('one', { step: '2' }), target('one'), context)
    await update(store, config('one', { step: '1' }), target('one'), context)
    t.equal(
      dataOf((await get(store, 'default', 'one', '')).object)['step'], '1',
      'the update was written although the cached object looked equal'
    )
    t.not((await get(store, 'default', 'one', '')).revision, Number(stale.metadata.resourceVersion))

    const { entry } = await update(elsewhere, config('one', { step: '3' }), target('one'), context)
    const newest = {
      ...config('one', { step: '4' }),
      metadata: { name: 'one', namespace: 'default', resourceVersion: String(entry.revision) }
    }
    t.equal(
      dataOf((await update(store, newest, target('one'), context)).entry.object)['step'], '4',
      'a version the cache has not seen yet is no conflict'
    )
    await remove(elsewhere, target('one'), {}, context)
    const gone: unknown = await remove(store, target('one'), {}, context).catch((error: unknown) => error)
    t.ok(isStatusError(gone, 'NotFound'))
    await create(elsewhere, config('one', { step: '5' }), target(''), context)
    t.equal(
      (await remove(store, target('one'), {}, context)).removed, true,
      'nor is one missing that the cache has not seen yet'
    )
  }
)

t.test('of concurrent creates of one name one succeeds', async t => {
  const store = configMapStore(t, await laggingBackend())
  await store.open()
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => create(store, config('one'), target(''), context)))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') t.ok(isStatusError(outcome.reason, 'AlreadyExists'))
  }
})

t.test('an update that meets a conflict is admitted and validated again', async t => {
  let rounds = 0
  const seen: string[] = []
  const store = configMapStore(t, await openBackend({ kind: 'memory' }), {
    admission: [{
      name: 'meddler',
      handles: ({ operation }) => operation === 'UPDATE',
      async mutate ({ oldObject }) {
        seen.push(dataOf(oldObject ?? {})['by'] ?? '')
        if (rounds++ > 0) return
        const found = await store.backend.get(store.keys.of('default', 'one'))
        const other = store.entries.encode({
          ...config('one', { by: 'another' }),
          metadata: { ...store.entries.decode(found.kv as never, 1).object.metadata }
        })
        await store.backend.update(store.keys.of('default', 'one'), other, found.kv?.modRevision ?? 0)
      }
    }]
  })
  await store.open()
  await create(store, config('one', { by: 'first' }), target(''), context)
  await update(store, config('one', { by: 'us' }), target('one'), context)
  t.same(seen, ['first', 'another'])
  t.equal(dataOf((await get(store, 'default', 'one', '')).object)['by'], 'us')
})

t.test('a store that fails is a failure of the request, and nothing else', async t => {
  const backend = await laggingBackend()
  const store = configMapStore(t, backend)
  await store.open()
  await create(store, config('one'), target(''), context)
  await get(store, 'default', 'one', '')
  backend.failing = new Set(['create', 'update', 'revision'])
  await t.rejects(create(store, config('two'), target(''), context), { code: 'Unavailable' })
  await t.rejects(Promise.resolve(get(store, 'default', 'one', '')), { code: 'Unavailable' })
  t.equal((await get(store, 'default', 'one', '0')).object.metadata.name, 'one', 'any version is still served')
  backend.failing.clear()
  t.equal((await get(store, 'default', 'one', '')).object.metadata.name, 'one')
})

t.test('a cache that was loaded during writes has all of them at once', async t => {
  const backend = await openBackend({ kind: 'memory' })
  const writer = configMapStore(t, backend, { windowSize: 0 })
  let written = 0
  const write = async (): Promise<void> => {
    await create(writer, config(`c${String(written).padStart(6, '0')}`), target(''), context)
    written++
  }
  for (let at = 0; at < 2500; at++) await write()
  for (let round = 0; round < 5; round++) {
    const store = configMapStore(t, backend)
    let loaded = false
    const opening = store.open().then(async () => {
      loaded = true
      const before = written
      t.ok((await list(store, everything)).entries.length >= before, `round ${round}`)
    })
    for (;;) {
      if (loaded) break
      for (let at = 0; at < 20; at++) await write()
      await new Promise(resolve => { setImmediate(resolve) })
    }
    await opening
    store.close()
  }
})

t.test('after an interruption of the history the cache starts again and is right', async t => {
  const backend = await laggingBackend()
  const store = configMapStore(t, backend)
  await store.open()
  await create(store, config('one'), target(''), context)
  const ended: string[] = []
  cacheOf(store).subscribe(new Place(store.keys.scope(''), 0, {
    wake: () => {}, end: error => { ended.push(error.code) }
  }))
  backend.failing.add('list')
  backend.interrupt()
  t.same(ended, ['Compacted'])
  t.notOk(cacheOf(store).loaded)
  backend.failing.clear()
  await create(store, config('two'), target(''), context)
  t.equal((await list(store, everything)).entries.length, 2)
})

t.test('both storage media types are read, whichever is written', async t => {
  const backend = await openBackend({ kind: 'memory' })
  const binary = configMapStore(t, backend)
  const text = configMapStore(t, backend, { mediaType: 'application/json' })
  await binary.open()
  await text.open()
  await create(binary, config('binary', { a: '1' }), target(''), context)
  await create(text, config('text', { b: '2' }), target(''), context)
  const raw = async (name: string) =>
    Buffer.from((await backend.get(binary.keys.of('default', name))).kv?.value ?? []).subarray(0, 4).toString('latin1')
  t.equal(await raw('binary'), 'k8s\0')
  t.equal(await raw('text'), '{"ki')
  for (const store of [binary, text]) {
    t.same((await list(store, everything)).entries.map(({ object }) => dataOf(object)), [{ a: '1' }, { b: '2' }])
  }
})

t.test('a value that cannot be decoded fails loudly and names its key in the log', async t => {
  const backend = await openBackend({ kind: 'memory' })
  const store = configMapStore(t, backend)
  await store.open()
  await backend.create(store.keys.of('default', 'bad'), Buffer.from('k8s\0rubbish'))
  t.notOk(cacheOf(store).loaded)
  const { kv } = await backend.get(store.keys.of('default', 'bad'))
  t.throws(() => store.entries.decode(kv as never, 1), { code: 'Corrupt', key: '/registry/configmaps/default/bad' })
  await backend.delete(store.keys.of('default', 'bad'), kv?.modRevision ?? 0)
  await cacheOf(store).ready()
  t.equal((await list(store, everything)).entries.length, 0)
})

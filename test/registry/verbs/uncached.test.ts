import t from 'tap'
import { parseFieldSelector } from '../../../schemas/selectors/fields.js'
import { parseLabelSelector } from '../../../schemas/selectors/labels.js'
import { configMaps } from '../../stored.js'
import { isStatusError } from '../../../schemas/status.js'
import type { Feed } from '../../../storage/cache/feed.js'
import { isStorageError } from '../../../storage/errors.js'
import { create } from '../../../registry/verbs/create.js'
import { remove } from '../../../registry/verbs/delete.js'
import { get } from '../../../registry/verbs/get.js'
import type { ListRequest } from '../../../registry/verbs/list-request.js'
import { list } from '../../../registry/verbs/list.js'
import { update } from '../../../registry/verbs/update.js'
import { watch } from '../../../registry/verbs/watch.js'
import { openBackend } from '../../../storage/open.js'
import type { ResourceStore } from '../../../registry/resource-store.js'
import { random } from '../../random.js'
import { config, configMapStore, context, everything, target } from '../../storage/store.js'

/** The outcome of a call, in a comparable form. */
async function outcome (work: () => unknown): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    if (isStatusError(error)) return error.status.reason
    if (isStorageError(error)) return error.code
    throw error
  }
}

async function listed (store: ResourceStore, request: Partial<ListRequest>): Promise<unknown> {
  return await outcome(async () => {
    const { revision, entries, continue: token, remaining } = await list(store, { ...everything, ...request })
    return { revision, token, remaining, items: entries.map(entry => entry.json.toString()) }
  })
}

t.test('every read gives the same result with and without a cache', async t => {
  const { seed, int } = random()
  t.comment(`seed ${seed}`)
  const backend = await openBackend({ kind: 'memory' })
  const cached = configMapStore(t, backend)
  const plain = configMapStore(t, backend, { windowSize: 0 })
  await Promise.all([cached.open(), plain.open()])
  t.equal(plain.cache, undefined)
  const stores = [cached, plain] as const
  const versions: string[] = ['', '0']
  for (let step = 0; step < 300; step++) {
    const name = `c${int(12)}`
    const store = stores[int(2)] ?? cached
    const written = await outcome(async () => {
      if (int(4) === 0) return (await remove(store, target(name), {}, context)).entry
      return (await update(
        store,
        {
          ...config(name, { step: String(step) }),
          metadata: { name, namespace: 'default', labels: { even: String(step % 2 === 0) } }
        },
        target(name),
        context
      )).entry
    }) as { revision: number } | string
    if (typeof written === 'string') await create(store, config(name), target(''), context)
    else versions.push(String(written.revision))

    const resourceVersion = versions[int(versions.length)] ?? ''
    t.same(
      await outcome(async () => (await get(plain, 'default', name, resourceVersion)).json.toString()),
      await outcome(async () => (await get(cached, 'default', name, resourceVersion)).json.toString())
    )
    const request: Partial<ListRequest> = {
      resourceVersion,
      limit: int(3) * 3,
      resourceVersionMatch: ['', '', 'Exact', 'NotOlderThan'][int(4)] ?? '',
      labels: parseLabelSelector(['', '', 'even=true'][int(3)] ?? ''),
      fields: parseFieldSelector(
        ['', '', `metadata.name=${name}`, 'metadata.name!=c1', 'metadata.namespace=elsewhere'][int(5)] ?? '', configMaps
      ),
      namespace: ['', 'default', 'elsewhere'][int(3)] ?? ''
    }
    const one = await listed(cached, request)
    const other = await listed(plain, request)
    t.same(other, one, JSON.stringify({ ...request, labels: request.labels?.text, fields: request.fields?.text }))
    const token = (one as { token?: string }).token ?? ''
    if (token === '') continue
    const next = { ...request, continue: token, resourceVersion: '', resourceVersionMatch: '' }
    t.same(await listed(plain, next), await listed(cached, next), 'and so does the next page')
  }
})

t.test('a read of a future version waits for it, and is refused if it does not come', async t => {
  const backend = await openBackend({ kind: 'memory' })
  const store = configMapStore(t, backend, { windowSize: 0 })
  const now = await backend.revision()
  const soon = list(store, { ...everything, resourceVersion: String(now + 1) })
  await create(store, config('one'), target(''), context)
  t.equal((await soon).entries.length, 1)
  t.intercept(performance, 'now', { value: ((at: number) => () => { at += 1000; return at })(0) })
  t.equal(await outcome(async () => await get(store, 'default', 'one', String(now + 1000))), 'FutureRevision')
  t.equal(
    await outcome(async () =>
      await list(store, { ...everything, resourceVersion: String(now + 1000), resourceVersionMatch: 'Exact' })),
    'FutureRevision'
  )
})

t.test('a watch starts with the state or a version, follows selectors, and ends with the store', async t => {
  const backend = await openBackend({ kind: 'memory' })
  const store = configMapStore(t, backend, { windowSize: 0 })
  const before = await backend.revision()
  await create(store, config('one'), target(''), context)
  let ended = ''
  const subscriber = { wake: () => {}, end: ({ code }: { code: string }) => { ended = code } }
  const state = await watch(store, { ...everything, resourceVersion: '' }, subscriber)
  const since = await watch(store, { ...everything, resourceVersion: String(before) }, subscriber)
  const one = await watch(
    store,
    {
      ...everything,
      fields: parseFieldSelector('metadata.name=one,metadata.namespace=default', configMaps),
      resourceVersion: String(before)
    },
    subscriber
  )
  t.equal(state.initial?.map.size, 1)
  await create(store, config('two'), target(''), context)
  const taken = async (feed: Feed): Promise<string[]> => {
    for (let turns = 0; turns < 5; turns++) await new Promise(resolve => { setImmediate(resolve) })
    return feed.take(100).events.map(({ type, entry }) => `${type} ${entry.name}`)
  }
  t.same(await taken(state.feed), ['ADDED two'])
  t.same(await taken(since.feed), ['ADDED one', 'ADDED two'])
  t.same(await taken(one.feed), ['ADDED one'])
  await backend.compact(await backend.revision())
  t.equal(
    await outcome(async () => await watch(store, { ...everything, resourceVersion: String(before) }, subscriber)),
    'Expired'
  )
  await backend.close()
  t.equal(ended, 'Closed')
})

/** Entries that servers of one process share when one continues from the state of another. */
import t from 'tap'
import { decodedBefore, rememberDecoded } from '../../../storage/cache/decoded-values.js'
import { continueInMemory, openMemory } from '../../../storage/embedded/memory.js'
import { create } from '../../../registry/verbs/create.js'
import { change } from '../../../registry/verbs/change.js'
import type { ResourceStore } from '../../../registry/resource-store.js'
import { cacheOf, config, configMapStore, context, target } from '../store.js'

const KEY = (name: string): string => `/registry/configmaps/default/${name}`

t.test('a store that continues from another shares the entries that have not changed since', async t => {
  const backend = openMemory()
  const original = configMapStore(t, backend)
  await original.open()
  for (const name of ['a', 'b']) await create(original, config(name, { n: '0' }), target(''), context)
  const contents = backend.contents()
  const values = new Map(contents.versions.map(version => [version.key, version]))
  const [a, b] = ['a', 'b'].map(name => cacheOf(original).get(KEY(name)))
  await change(original, target('b'), context, () => config('b', { n: '1' }))
  original.shareDecoded(values)
  const next = async (): Promise<ResourceStore> => {
    const store = configMapStore(t, await continueInMemory(contents))
    await store.open()
    return store
  }
  const [one, other] = [await next(), await next()]
  for (const store of [one, other]) {
    t.equal(cacheOf(store).get(KEY('a')), a, 'the same entry')
    t.not(cacheOf(store).get(KEY('b')), b)
    t.strictSame(cacheOf(store).get(KEY('b'))?.copy(), b?.copy(), 'entries that the original has dropped are decoded')
  }
  await change(one, target('a'), context, () => config('a', { n: 'one' }))
  t.match(cacheOf(one).get(KEY('a'))?.copy(), { data: { n: 'one' } })
  for (const store of [original, other]) {
    t.match(cacheOf(store).get(KEY('a'))?.copy(), { data: { n: '0' } }, 'a change stays in its store')
  }
})

t.test('an entry is that of its value, type, key and revision', async t => {
  const backend = openMemory()
  const store = configMapStore(t, backend)
  await store.open()
  const entry = await create(store, config('a'), target(''), context)
  const value = Buffer.from('value')
  rememberDecoded(value, store.type, entry)
  t.equal(decodedBefore(value, store.type, entry.key, entry.revision), entry)
  for (const [bytes, type, key, revision] of [
    [Buffer.from(value), store.type, entry.key, entry.revision],
    [value, {}, entry.key, entry.revision],
    [value, store.type, KEY('b'), entry.revision],
    [value, store.type, entry.key, 99]
  ] as const) {
    t.equal(decodedBefore(bytes, type, key, revision), undefined)
  }
})

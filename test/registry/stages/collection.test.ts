/** The stages that delete a collection, each alone. */
import t from 'tap'
import { CollectionWrite, find, removeAll, removeCollection } from '../../../registry/verbs/delete-collection.js'
import { create } from '../../../registry/verbs/create.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { config, configMapStore, context, everything, target } from '../../storage/store.js'
import type { Test } from '../../build.js'
import { failureOf } from './write.js'

async function collection (t: Test, deletion: ConstructorParameters<typeof CollectionWrite>[1]['deletion'] = {}) {
  const store = configMapStore(t, openMemory())
  for (const name of ['a', 'b', 'c']) await create(store, config(name), target(''), context)
  return new CollectionWrite(
    store, { selection: { ...everything, namespace: 'default' }, deletion, workers: 2 }, context
  )
}

const namesIn = async ({ store }: CollectionWrite): Promise<string[]> =>
  (await store.backend.list({ start: '/', end: '0' })).kvs.map(({ key }) => key.slice(key.lastIndexOf('/') + 1))

t.test('list: what is selected is queued, and nothing is deleted yet', async t => {
  const write = await collection(t)
  await find(write)
  t.strictSame([...write.queue].map(({ name }) => name), ['a', 'b', 'c'])
  t.strictSame(write.listed?.entries.map(({ name }) => name), ['a', 'b', 'c'])
  t.strictSame(await namesIn(write), ['a', 'b', 'c'])
})

t.test('delete: objects that are gone already do not matter', async t => {
  const write = await collection(t)
  await find(write)
  await write.store.backend.delete(write.store.keys.of('default', 'b'), write.listed?.entries[1]?.revision ?? 0)
  await removeAll(write)
  t.strictSame(await namesIn(write), [])
})

t.test('delete: it stops at the first refusal, and what was deleted until then stays so', async t => {
  const write = await collection(t, { preconditions: { uid: 'other' } })
  await find(write)
  t.match(await failureOf(() => removeAll(write)), { status: { reason: 'Conflict' } })
  t.strictSame(await namesIn(write), ['a', 'b', 'c'])
})

t.test('options that a client sent are decoded before anything is listed', async t => {
  const { store, request, context } = await collection(t)
  const failure = new Error('not options')
  t.equal(
    await failureOf(() => removeCollection(store, { ...request, deletion: function * () { throw failure } }, context)),
    failure
  )
  const { entries } = await removeCollection(store, { ...request, deletion: function * () { return {} } }, context)
  t.equal(entries.length, 3)
})

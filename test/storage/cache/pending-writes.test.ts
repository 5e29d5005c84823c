/** Entries that a writer passes to the cache, so that the event of its own write is not decoded. */
import t from 'tap'
import { ownBytes } from '../../../storage/bytes.js'
import { Entry } from '../../../storage/cache/entry.js'
import { PendingWrites } from '../../../storage/cache/pending-writes.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { create } from '../../../registry/verbs/create.js'
import { change } from '../../../registry/verbs/change.js'
import { cacheOf, config, configMapStore, context, target } from '../store.js'

t.test('the cache takes the entry of the write itself and decodes nothing', async t => {
  const store = configMapStore(t, openMemory())
  await store.open()
  store.entries.decode = () => { throw new Error('decoded') }
  const made = await create(store, config('a'), target(''), context)
  t.equal(cacheOf(store).get(made.key), made)
  const changed = await change(store, target('a'), context, () => config('a', { n: '1' }))
  t.equal(cacheOf(store).get(made.key), changed)
})

t.test('another client\'s value under the key is not taken for the pending write', async t => {
  const writes = new PendingWrites()
  const pending = (text: string) => ({
    value: Buffer.from(text), entry: (revision: number) => new Entry('k', revision, ownBytes(text), undefined, [])
  })
  const stored = (text: string) => ({ key: 'k', value: Buffer.from(text), modRevision: 7, createRevision: 7 })
  writes.add('k', pending('mine'))
  t.equal(writes.take(stored('theirs'), 7), undefined)
  t.equal(writes.take(stored('mine'), 7), undefined, 'a pending write counts once')
  writes.add('k', pending('mine'))
  t.equal(writes.take(stored('mine'), 7)?.revision, 7)
})

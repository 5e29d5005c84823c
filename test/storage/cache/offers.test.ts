/** What a writer hands to the cache, so that the event of its own write is not decoded. */
import t from 'tap'
import { ownBytes } from '../../../storage/bytes.js'
import { Entry } from '../../../storage/cache/entry.js'
import { Offers } from '../../../storage/cache/offers.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { create } from '../../../registry/operations/create.js'
import { change } from '../../../registry/operations/update.js'
import { cacheOf, config, configMapStore, context, target } from '../store.js'

t.test('the cache takes the entry of the write itself and decodes nothing', async t => {
  const store = configMapStore(t, openMemory())
  await store.open()
  store.decode = () => { throw new Error('decoded') }
  const made = await create(store, config('a'), target(''), context)
  t.equal(cacheOf(store).get(made.key), made)
  const changed = await change(store, target('a'), context, () => config('a', { n: '1' }))
  t.equal(cacheOf(store).get(made.key), changed)
})

t.test('what somebody else stored under the key is not taken for the offer', async t => {
  const offers = new Offers()
  const offer = (text: string) => ({ value: Buffer.from(text), entry: (revision: number) => new Entry('k', revision, ownBytes(text), undefined, []) })
  const stored = (text: string) => ({ key: 'k', value: Buffer.from(text), modRevision: 7, createRevision: 7 })
  offers.add('k', offer('mine'))
  t.equal(offers.take(stored('theirs'), 7), undefined)
  t.equal(offers.take(stored('mine'), 7), undefined, 'an offer counts once')
  offers.add('k', offer('mine'))
  t.equal(offers.take(stored('mine'), 7)?.revision, 7)
})

/** Objects that are kept in decoded form for their next change. */
import t from 'tap'
import { toJson } from '../../../schemas/codec/json/encode.js'
import { decode } from '../../../schemas/language/decode.js'
import { applyDefaults } from '../../../schemas/language/defaults.js'
import { representations } from '../../../schemas/resources.js'
import { AdmissionChain } from '../../../admission/chain.js'
import { Entry } from '../../../storage/cache/entry.js'
import { keepDecoded } from '../../../storage/cache/recent-objects.js'
import { openMemory } from '../../../storage/embedded/memory.js'
import { create } from '../../../registry/verbs/create.js'
import { change } from '../../../registry/verbs/change.js'
import { ResourceStore } from '../../../registry/resource-store.js'
import { value } from '../../properties/objects.js'
import { random } from '../../random.js'
import { config, configMapStore, context, target } from '../store.js'

const entry = (bytes: number): Entry => new Entry('/k', 7, Buffer.alloc(bytes), undefined, [])

t.test('an updated object is kept decoded for the next change, and a new one is read from its bytes', async t => {
  const store = configMapStore(t, openMemory())
  await store.open()
  const made = await create(store, config('a', { n: '0' }), target(''), context)
  t.equal(made.decoded, undefined)
  const changed = await change(store, target('a'), context, () => config('a', { n: '1' }))
  const kept = changed.decoded
  t.ok(kept)
  t.strictSame(JSON.parse(JSON.stringify(store.entries.read(changed))), changed.copy())
  let seen: unknown
  const again = await change(store, target('a'), context, (_, old) => {
    seen = old
    return config('a', { n: '2' })
  })
  t.equal(seen, kept)
  t.equal(changed.decoded, undefined, 'the replaced entry no longer keeps it')
  t.strictSame(again.copy(), JSON.parse(JSON.stringify(store.entries.read(again))))
})

t.test('a decoded object with an empty member that is not stored is not kept', async t => {
  const store = configMapStore(t, openMemory())
  await store.open()
  await create(store, config('a'), target(''), context)
  const changed = await change(store, target('a'), context, () => ({ ...config('a', { n: '1' }), binaryData: {} }))
  t.ok(changed.decoded)
  t.notOk('binaryData' in store.entries.read(changed))
})

t.test('the last five hundred are kept, less of large ones, and none that is very large', async t => {
  const all = Array.from({ length: 600 }, () => entry(100))
  for (const one of all) keepDecoded(one, config('a'))
  t.equal(all.filter(({ decoded }) => decoded !== undefined).length, 512)
  t.equal(all.at(-1)?.decoded?.metadata.resourceVersion, '7')
  const large = Array.from({ length: 100 }, () => entry(60_000))
  for (const one of large) keepDecoded(one, config('a'))
  t.ok(large.filter(({ decoded }) => decoded !== undefined).length < 70)
  t.ok(all.every(({ decoded }) => decoded === undefined))
  const huge = entry(1_000_000)
  keepDecoded(huge, config('a'))
  t.equal(huge.decoded, undefined)
})

t.test('kept objects equal their stored bytes, for every type', async t => {
  const dice = random()
  t.comment(`seed ${dice.seed}`)
  const backend = openMemory()
  t.teardown(() => backend.close())
  for (const resource of representations.filter(one => one === one.type.stored)) {
    const store = new ResourceStore({
      type: resource.type,
      backend,
      prefix: '/registry',
      mediaType: 'application/json',
      admission: new AdmissionChain([]),
      windowSize: 10,
      log: () => {}
    })
    for (let run = 0; run < 10; run++) {
      const { object } = decode(resource.message, value(dice, resource.message))
      applyDefaults(resource.message, object)
      const stored = store.entries.of('/key', object, 7)
      const read = toJson(resource.message, store.entries.read(stored))
      keepDecoded(stored, object)
      if (toJson(resource.message, store.entries.read(stored)) !== read) {
        t.fail(`${resource.kind}: ${stored.json.toString()}`)
      }
    }
  }
  t.pass('of all kinds')
})

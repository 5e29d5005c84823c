/** Caches of a process to which the changes of others are pushed. */
import t from 'tap'
import { openMemory } from '../../../storage/embedded/memory.js'
import { Entry } from '../../../storage/cache/entry.js'
import { WatchCache } from '../../../storage/cache/watch-cache.js'
import { polled } from '../../polled.js'
import type { Test } from '../../build.js'

const PATHS = ['/things/a', '/things/b']

/** What has been decoded of what is written after the cache has loaded. */
async function written (t: Test, indexedFields: readonly number[]): Promise<{ cache: WatchCache, decoded: string[] }> {
  const decoded: string[] = []
  const backend = openMemory()
  const cache = new WatchCache({
    backend,
    type: 'things',
    indexedFields,
    scope: '/things/',
    decode: ({ key, value }, revision) => {
      decoded.push(key)
      return new Entry(key, revision, Buffer.from(value), undefined, [key])
    },
    decodesLate: true,
    windowSize: 10,
    log: text => { throw new Error(text) }
  })
  t.teardown(async () => {
    cache.close()
    await backend.close()
  })
  await cache.open()
  let revision = 0
  for (const path of PATHS) revision = (await backend.create(path, Buffer.from(`${path}\n`))).revision
  await polled(() => cache.revision >= revision)
  return { cache, decoded }
}

t.test('changes are decoded when they are read, each once', async t => {
  const { cache, decoded } = await written(t, [])
  t.equal(cache.size, PATHS.length)
  t.strictSame(decoded, [])
  for (let time = 0; time < 2; time++) t.equal(cache.get('/things/a')?.json.toString(), '/things/a\n')
  t.strictSame(decoded, ['/things/a'])
})

t.test('those of a type that has an index are decoded for it', async t => {
  const { cache, decoded } = await written(t, [0])
  t.strictSame(decoded, PATHS)
  t.strictSame([...cache.keysWith(cache.snapshot, [{ at: 0, value: '/things/b' }]) ?? []], ['/things/b'])
})

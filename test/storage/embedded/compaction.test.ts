/** What a compaction removes from a long history, and in which order. */
import t from 'tap'
import { Compactor } from '../../../storage/embedded/compaction.js'
import type { Change } from '../../../storage/embedded/medium.js'
import { Readers } from '../../../storage/embedded/readers.js'
import { Versions } from '../../../storage/embedded/versions.js'
import { FakeClock } from '../fake-clock.js'

const VALUE = new Uint8Array(1)

class Store {
  readonly versions = new Versions()
  readonly stored: Change[] = []
  readonly compactor = new Compactor(
    this.versions, new Readers(), async changes => { this.stored.push(...changes) }, new FakeClock()
  )

  /** @returns the revision */
  write (key: string): number { return this.#append(key, VALUE) }

  #append (key: string, value: Uint8Array | undefined): number {
    const entry = this.versions.index.ensure(key)
    const created = entry.newest?.created
    const { revision } = this.versions.append(entry, value, created === 0 ? undefined : created, 0)
    this.versions.durable = revision
    return revision
  }

  delete (key: string): number { return this.#append(key, undefined) }

  /** Removed versions, in order. */
  get forgotten (): string[] {
    return this.stored.flatMap(change =>
      change.type === 'forget' ? [`${change.version.entry.key}@${change.version.revision}`] : [])
  }

  /** The chain of a key, newest first. */
  chain (key: string): number[] {
    const chain: number[] = []
    for (let at = this.versions.index.ensure(key).newest; at !== undefined; at = at.older) chain.push(at.revision)
    return chain
  }
}

t.test('a key with a long history is compacted at once', async t => {
  const store = new Store()
  for (let write = 0; write < 300_000; write++) store.write('/hot')
  const { durable } = store.versions
  await store.compactor.compact(durable - 1)
  t.equal(store.forgotten.length, 299_998)
  t.same(store.chain('/hot'), [durable, durable - 1])
})

t.test('each key keeps the version that readers see, and deletions go last', async t => {
  const store = new Store()
  const [a2, b3, a4, b5] = [store.write('/a'), store.write('/b'), store.write('/a'), store.delete('/b')]
  const [b6, c7, c8, d9, d10] = [
    store.write('/b'), store.write('/c'), store.delete('/c'), store.write('/d'), store.delete('/d')
  ]
  const [d11, a12, a13] = [store.write('/d'), store.write('/a'), store.delete('/a')]
  await store.compactor.compact(d10)
  t.same(store.forgotten, [`/a@${a2}`, `/b@${b3}`, `/b@${b5}`, `/c@${c7}`, `/d@${d9}`, `/c@${c8}`, `/d@${d10}`])
  t.same(['/a', '/b', '/d'].map(key => store.chain(key)), [[a13, a12, a4], [b6], [d11]])
  t.same([store.versions.log.length, store.versions.index.size], [3, 3], 'a deleted key is removed')
  store.stored.length = 0
  await store.compactor.compact(a13)
  t.same(store.forgotten, [`/a@${a4}`, `/a@${a12}`, `/a@${a13}`])
  t.same(store.chain('/d'), [d11])
})

/**
 * A type that this server stores. Its objects are followed as they are stored: in the watch cache or, where there is
 * none or a webhook converts them for readers, in the store, so that no conversion is waited for.
 */
import { parseExactly } from '../../schemas/codec/json/exact.js'
import { resourceLabel } from '../../schemas/resource.js'
import { current } from '../../registry/current.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { EVERY_READABLE, watch, type ObjectWatch } from '../../registry/verbs/watch.js'
import type { Backend, BackendEvent, KeyValue, RangeResult } from '../../storage/backend.js'
import type { Entry } from '../../storage/cache/entry.js'
import { StorageError } from '../../storage/errors.js'
import {
  pathOf, type Change, type CollectedType, type KindName, type Place, type Progress, type Step
} from './collected-type.js'
import { stateIn, stateOf, type ObjectState } from './object-state.js'
import { Wakeable } from './wakeable.js'

const PAGE = 500
/** Events that may wait; with more, all objects are listed again. */
const MAX_WAITING = 10_000

export class StoredType implements CollectedType {
  readonly isOwn = true
  readonly label: string
  readonly namespaced: boolean
  readonly kinds: readonly KindName[]
  readonly #store: ResourceStore
  readonly #plurals: ReadonlyMap<string, string>

  /** @param served all versions, the preferred one first */
  constructor (served: readonly [ResourceStore, ...ResourceStore[]]) {
    const [store] = served
    this.#store = store
    this.label = resourceLabel(store.type)
    this.namespaced = store.type.namespaced
    this.kinds = served.map(({ representation: { apiVersion, kind } }) => ({ apiVersion, kind }))
    this.#plurals = new Map(served.map(({ representation: { apiVersion, plural } }) => [apiVersion, plural]))
  }

  pathOf ({ storedVersion, namespace, name }: Pick<ObjectState, 'namespace' | 'name' | 'storedVersion'>): string {
    const { apiVersion: preferred } = this.#store.representation
    const apiVersion = this.#plurals.has(storedVersion) ? storedVersion : preferred
    return pathOf(apiVersion, this.#plurals.get(apiVersion) ?? '', { namespace, name })
  }

  async read ({ namespace, name }: Place): Promise<ObjectState | undefined> {
    const store = this.#store
    const key = store.keys.of(namespace, name)
    if (store.cache !== undefined) {
      const entry = await current(store, key)
      return entry === undefined ? undefined : stateIn(entry.json)
    }
    const { kv } = await this.#backend.get(key)
    return kv === undefined ? undefined : this.#stateOf(kv)
  }

  async isThere ({ namespace, name, uid }: Pick<ObjectState, 'namespace' | 'name' | 'uid'>): Promise<boolean> {
    const { kv } = await this.#backend.get(this.#store.keys.of(namespace, name))
    return kv !== undefined && (kv.damage !== undefined || this.#stateOf(kv).uid === uid)
  }

  async newest (): Promise<number> {
    const { cache } = this.#store
    if (cache === undefined) return await this.#backend.revision()
    await cache.fresh()
    return cache.revision
  }

  follow (signal: AbortSignal, progress: Progress): AsyncGenerator<Step, void, void> {
    return this.#store.cache === undefined ? this.#followStore(signal, progress) : this.#followCache(signal, progress)
  }

  async * #followCache (signal: AbortSignal, progress: Progress): AsyncGenerator<Step, void, void> {
    const woken = new Wakeable(signal)
    let failure: StorageError | undefined
    const { initial, range, feed } = await watch(this.#store, EVERY_READABLE, {
      wake: () => { woken.wake() },
      end: error => {
        failure = error
        woken.wake()
      }
    })
    try {
      yield * pagesOf(initial, range)
      yield 'listed'
      progress.ask = () => { woken.wake() }
      while (!signal.aborted) {
        if (failure !== undefined) throw failure
        const { events, more } = feed.take(PAGE)
        if (events.length > 0) yield events.map(({ type, entry }) => type === 'DELETED' ? gone(entry) : ofEntry(entry))
        progress.reach(feed.revision() ?? 0)
        if (!more) await woken.wait()
      }
    } finally {
      feed.close()
    }
  }

  /** From the store, which outlives the cache of a type that is no longer served. */
  async * keys (): AsyncGenerator<readonly string[], void, void> {
    for await (const { kvs } of this.#pages()) yield kvs.map(({ key }) => key)
  }

  async * #pages (): AsyncGenerator<RangeResult, void, void> {
    const { start, end } = this.#store.keys.range('')
    for (let [from, revision, more] = [start, 0, true]; more;) {
      const page = await this.#backend.list({ start: from, end, limit: PAGE, revision })
      yield page
      revision = page.revision
      more = page.more
      from = `${page.kvs.at(-1)?.key ?? start}\0`
    }
  }

  async * #followStore (signal: AbortSignal, progress: Progress): AsyncGenerator<Step, void, void> {
    const { start, end } = this.#store.keys.range('')
    let after = 0
    for await (const { kvs, revision } of this.#pages()) {
      after = revision
      yield kvs.map(kv => this.#ofValue(kv))
    }
    yield 'listed'
    const woken = new Wakeable(signal)
    let waiting: BackendEvent[] = []
    let failure: StorageError | undefined
    const fail = (error: StorageError): void => {
      failure = error
      woken.wake()
    }
    const watching = this.#backend.watch({
      start, end, after, previous: false,
      onEvents: (events, revision) => {
        if (waiting.length > MAX_WAITING) return fail(new StorageError('Compacted', 'more changes than can wait'))
        waiting.push(...events)
        after = revision
        woken.wake()
      },
      onProgress: revision => {
        after = Math.max(after, revision)
        woken.wake()
      },
      onEnd: fail
    })
    progress.ask = () => { watching.requestProgress() }
    try {
      while (!signal.aborted) {
        if (failure !== undefined) throw failure
        const reached = after
        const events = waiting
        waiting = []
        yield events.map(({ type, kv }) => type === 'delete' ? gone(kv) : this.#ofValue(kv))
        progress.reach(reached)
        if (waiting.length === 0 && after === reached) await woken.wait()
      }
    } finally {
      watching.cancel()
    }
  }

  get #backend (): Backend { return this.#store.unconverted ?? this.#store.backend }

  #ofValue (kv: KeyValue): Change { return { key: kv.key, state: () => this.#stateOf(kv) } }

  /** @throws StorageError for a value that cannot be read */
  #stateOf (kv: KeyValue): ObjectState {
    if (kv.damage !== undefined) throw kv.damage
    return this.#store.unconverted === undefined
      ? stateIn(this.#store.entries.decode(kv, kv.modRevision).json)
      : stateOf(parseExactly(kv.value), kv.modRevision)
  }
}

const gone = ({ key }: { readonly key: string }): Change => ({ key, state: undefined })
const ofEntry = (entry: Entry): Change => ({ key: entry.key, state: () => stateIn(entry.json) })

function * pagesOf (initial: ObjectWatch['initial'], range: ObjectWatch['range']): Generator<Change[], void, void> {
  for (let { start } = range, more = true; more;) {
    const page: Change[] = []
    initial?.map.forEach(start, range.end, entry => page.push(ofEntry(entry)) < PAGE)
    yield page
    more = page.length === PAGE
    start = `${page.at(-1)?.key ?? start}\0`
  }
}

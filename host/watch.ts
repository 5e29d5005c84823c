/**
 * A watch that goes on by itself. It remembers what it delivered of each object, so that after history was lost
 * it delivers the differences to the present state, and nothing twice. A slow reader holds back itself, nobody else.
 */
import type { WatchAnswer } from '../answers/answer.js'
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import { statusOf } from '../plugins/errors.js'
import { EVERYTHING } from '../registry/verbs/list-request.js'
import { list } from '../registry/verbs/list.js'
import type { ObjectWatch } from '../registry/verbs/watch.js'
import { isStatusError } from '../schemas/status.js'
import type { Entry } from '../storage/cache/entry.js'
import { isStorageError } from '../storage/errors.js'
import type { WatchEvent } from './contract.js'
import { objectOf, unexpected } from './objects.js'
import type { Answered } from './requests.js'

/** Events that are taken at once. */
const BATCH = 100
/** Milliseconds before a store that does not answer is asked again. */
const RETRY_MS = 1000

export interface WatchSource {
  /** Asks for the watch, after a version or, with '', from the present state. */
  readonly open: (resourceVersion: string) => Promise<Answered>
  readonly namespace: string
  /** '' for the present state. */
  readonly resourceVersion: string
  readonly signal: AbortSignal | undefined
  /** Aborts when the server closes. */
  readonly closing: AbortSignal
}

/** A source and its reader. */
interface Read extends WatchSource {
  /** Aborts when they read no further. */
  readonly ended: AbortSignal
}

const isOver = ({ closing, ended }: Read): boolean => closing.aborted || ended.aborted

interface Told { readonly type: WatchEvent<unknown>['type'], readonly entry: Entry }

/** Ends at once when its reader returns, also while they wait for an event: a generator alone would wait, too. */
export function watchObjects<T> (source: WatchSource): AsyncIterableIterator<WatchEvent<T>> {
  const ended = new AbortController()
  const events = eventsOf<T>({ ...source, ended: ended.signal })
  return {
    next: () => events.next(),
    return: () => {
      ended.abort()
      return events.return(undefined)
    },
    throw: (error: unknown) => {
      ended.abort()
      return events.throw(error)
    },
    [Symbol.asyncIterator] () { return this }
  }
}

/** @throws StatusError; the reason of the signal once it is aborted */
async function * eventsOf<T> (source: Read): AsyncGenerator<WatchEvent<T>, undefined, undefined> {
  const known = new Map<string, Entry>()
  let version = source.resourceVersion
  let isKnown = version === ''
  let hasBegun = false
  while (!isOver(source)) {
    let opened: Answered
    try {
      source.signal?.throwIfAborted()
      opened = await source.open(version)
    } catch (error) {
      source.signal?.throwIfAborted()
      if (isOver(source)) return
      if (!hasBegun) throw error // the caller needs the reason
      if (isStatusError(error, 'Expired')) version = ''
      else if (isStatusError(error, 'ServiceUnavailable') || isStatusError(error, 'Timeout')) {
        await pause(RETRY_MS, source)
      } else throw error
      continue
    }
    const { answer } = opened
    if (answer.kind !== 'watch') throw unexpected(answer)
    try {
      if (!isKnown) await remember(answer, source, known)
      isKnown = hasBegun = true
      for await (const { type, entry } of new Round(answer, source, known).events()) {
        const object = objectOf<T>(answer.store, entry)
        yield { type, object: object instanceof Promise ? await object : object }
      }
      version = String(answer.watch.feed.revision() ?? '')
    } catch (error) {
      if (isOver(source)) return
      source.signal?.throwIfAborted()
      if (!isKnown || !isLost(error)) throw statusOf(error)
      version = ''
    } finally {
      answer.watch.feed.close()
      opened.close()
    }
  }
}

/** Its history is no longer kept, or the type was replaced by another one. */
const isLost = (error: unknown): boolean => isStorageError(error, 'Compacted') || isStorageError(error, 'Closed') ||
  isStatusError(error, 'Expired')

/** What the caller knows: the objects at the version from which it watches. */
async function remember (
  { store, watch: { matches } }: WatchAnswer, { namespace, resourceVersion, signal }: WatchSource,
  known: Map<string, Entry>
): Promise<void> {
  const { entries } = await list(store, {
    ...EVERYTHING, namespace, resourceVersion, resourceVersionMatch: 'Exact',
    ...(signal === undefined ? {} : { signal })
  })
  for (const entry of entries) {
    if (matches(entry)) known.set(entry.key, entry)
    if (turnIsOver()) await nextTurn()
  }
}

/** One watch of several that follow each other. */
class Round {
  readonly #answer: WatchAnswer
  readonly #source: Read
  readonly #known: Map<string, Entry>

  constructor (answer: WatchAnswer, source: Read, known: Map<string, Entry>) {
    this.#answer = answer
    this.#source = source
    this.#known = known
  }

  /** Ends when the lifetime of the watch is over. @throws StorageError 'Compacted', 'Closed' */
  async * events (): AsyncGenerator<Told, undefined, undefined> {
    const { watch: { initial, feed, toVersion }, seconds, store, subscriber } = this.#answer
    const { signal, closing, ended } = this.#source
    const known = this.#known
    if (initial !== undefined) yield * this.#differences(initial.map)
    const wakes = new Wakes([signal, closing, ended])
    const cancel = store.clock.after(seconds * 1000, () => { wakes.end() })
    subscriber.stream = { wake: () => { wakes.wake() }, fail: () => { wakes.wake() } }
    try {
      for (;;) {
        const isOver = wakes.isEnded
        const { events, more } = feed.take(BATCH)
        for (const event of events) {
          const shown = toVersion(event)
          if (shown === undefined) continue
          const { type, last } = shown
          const entry = last ? (event.previous ?? event.entry).at(event.revision) : event.entry
          if (type === 'DELETED') known.delete(entry.key)
          else known.set(entry.key, entry)
          yield { type, entry }
        }
        signal?.throwIfAborted()
        if (more) continue
        if (subscriber.ended !== undefined) throw subscriber.ended
        if (isOver) return
        await wakes.next()
      }
    } finally {
      cancel()
      wakes.stop()
      subscriber.stream = undefined
    }
  }

  async * #differences (map: NonNullable<ObjectWatch['initial']>['map']): AsyncGenerator<Told, undefined, undefined> {
    const { watch: { range: { start, end }, matches } } = this.#answer
    const known = this.#known
    const gone = new Map(known)
    let from: string | undefined = start
    while (from !== undefined) {
      const batch: Entry[] = []
      let next: string | undefined
      map.forEach(from, end, (entry, key) => {
        if (matches(entry)) batch.push(entry)
        next = `${key}\0`
        return batch.length < BATCH && !turnIsOver()
      })
      for (const entry of batch) {
        gone.delete(entry.key)
        const before = known.get(entry.key)
        if (before?.revision === entry.revision) continue
        known.set(entry.key, entry)
        yield { type: before === undefined ? 'ADDED' : 'MODIFIED', entry }
      }
      if (turnIsOver()) await nextTurn()
      from = next
    }
    for (const [key, entry] of gone) {
      known.delete(key)
      yield { type: 'DELETED', entry }
    }
  }
}

/** Wakes one who waits for events, for the end of a watch, or for a signal. */
class Wakes {
  isEnded = false
  readonly #signals: readonly AbortSignal[]
  readonly #end = (): void => { this.end() }
  #isWoken = false
  #waiting: (() => void) | undefined

  constructor (signals: ReadonlyArray<AbortSignal | undefined>) {
    this.#signals = signals.filter(signal => signal !== undefined)
    for (const signal of this.#signals) {
      if (signal.aborted) this.isEnded = true
      signal.addEventListener('abort', this.#end)
    }
  }

  wake (): void {
    this.#isWoken = true
    this.#waiting?.()
  }

  end (): void {
    this.isEnded = true
    this.wake()
  }

  async next (): Promise<void> {
    if (!this.#isWoken) await new Promise<void>(resolve => { this.#waiting = resolve })
    this.#waiting = undefined
    this.#isWoken = false
  }

  stop (): void {
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#end)
  }
}

/** Real time, as of all waits for the store. */
async function pause (milliseconds: number, { signal, closing, ended }: Read): Promise<void> {
  const wakes = new Wakes([signal, closing, ended])
  const timer = setTimeout(() => { wakes.end() }, milliseconds)
  timer.unref()
  if (!wakes.isEnded) await wakes.next()
  clearTimeout(timer)
  wakes.stop()
}

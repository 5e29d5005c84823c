/**
 * The state that a watch begins with, and how far it is sent. Whole leaves of it are sent as the bytes that all watches
 * share; the rest as entries, of which each watch makes its own. Benchmark: `npm run bench -- informers`, '100
 * informers of 10,000 objects, JSON, beside lists': 1.7 times as much without leaves.
 */
import type { Entry } from '../../storage/cache/entry.js'
import type { ObjectWatch } from '../../registry/verbs/watch.js'
import { turnIsOver } from '../../event-loop/turns.js'

/** The joined bytes of a leaf, or entries. */
export type Part = Buffer | Entry[]

export interface Portion {
  readonly parts: readonly Part[]
  /** Number of objects in this portion. */
  readonly count: number
  /** The objects that are to be encoded, of all parts. */
  readonly entries: readonly Entry[]
  readonly bytes: number
  /** Nothing follows. */
  readonly isLast: boolean
}

export interface Limits {
  /** Maximum bytes of a portion; one object or leaf may have more. */
  readonly bytes: number
  /** Maximum number of objects that are slow to encode; by default all are. */
  readonly most: number
  readonly isSlow?: ((entry: Entry) => boolean) | undefined
  /** Bytes of an object, nearly. */
  readonly sizeOf: (entry: Entry) => number
  /** The joined bytes of a leaf, if they are kept. */
  readonly leaf: (entries: readonly Entry[]) => Buffer | undefined
}

/** A leaf of as many bytes is a portion of its own, which is not copied. */
const APART_BYTES = 32 * 1024

export class InitialState {
  readonly #map: NonNullable<ObjectWatch['initial']>['map']
  readonly #watch: Pick<ObjectWatch, 'matches' | 'everything'>
  readonly #end: string
  #from: string

  /** Only what it needs of the watch is retained. */
  constructor (
    { map }: NonNullable<ObjectWatch['initial']>,
    { range, matches, everything }: Pick<ObjectWatch, 'range' | 'matches' | 'everything'>
  ) {
    this.#map = map
    this.#watch = { matches, everything }
    this.#from = range.start
    this.#end = range.end
  }

  /** The next objects, up to the limits or the end of the turn; none if the turn has ended before one matches. */
  next (limits: Limits): Portion {
    const { matches, everything } = this.#watch
    const parts: Part[] = []
    const entries: Entry[] = []
    let [bytes, count, slow] = [0, 0, 0]
    let run: Entry[] | undefined
    let next: string | undefined
    this.#map.forEachRun(this.#from, this.#end, ({ keys, values, from, to }) => {
      let at = from
      const joined = everything && from === 0 && to === values.length ? limits.leaf(values) : undefined
      const isApart = joined !== undefined && joined.length >= APART_BYTES
      if (joined !== undefined && parts.length > 0 && (isApart || bytes + joined.length > limits.bytes)) {
        next = keys[from]
        return false
      }
      if (joined !== undefined) {
        parts.push(joined)
        bytes += joined.length
        count += values.length
        run = undefined
        at = to
      }
      for (; at < to && slow < limits.most; at++) {
        const entry = values[at] as Entry // within the leaf
        if (!matches(entry)) continue
        const size = limits.sizeOf(entry)
        if (parts.length > 0 && bytes + size > limits.bytes) {
          next = keys[at]
          return false
        }
        if (run === undefined) parts.push(run = [])
        run.push(entry)
        entries.push(entry)
        if (limits.isSlow?.(entry) !== false) slow++
        count++
        bytes += size
      }
      if (at === to && !isApart && bytes < limits.bytes && slow < limits.most && !turnIsOver()) return true
      next = `${keys[at - 1] as string}\0` // at least one is taken
      return false
    })
    this.#from = next ?? this.#end
    return { parts, count, entries, bytes, isLast: next === undefined }
  }
}

/**
 * What selectors hold for as long as somebody watches by them: nothing twice, hundreds of values in little more than their
 * letters, large ones once for all that ask the same, and none more than a bound. A list holds its selectors for no
 * longer than it takes, so the bound is that of watches alone.
 */
import { createHash } from 'node:crypto'
import { DecodeError } from '../language/decode-error.js'

/** Bytes one selector may hold: room for hundreds of values. */
const MOST_HELD = 8 * 1024
/** Smaller ones cost less than finding them again. */
const SHARED_FROM = 1000
/** About what a requirement holds beside its letters, and a text that is by itself. */
export const REQUIREMENT_BYTES = 180
const TEXT_BYTES = 32
/** So many are compared one by one. */
const FEW = 32
/** Shorter pieces of a text are copies of their own as they are: the engine cuts nothing so small. */
const SHORTEST_PIECE = 13
const SEPARATOR = '\0'

/** The same text, by itself: a piece cut from a longer text keeps all of that alive. */
export const own = (text: string): string => text.length < SHORTEST_PIECE ? text : JSON.parse(JSON.stringify(text)) as string // a string again

/** Values without the character NUL, as a set. */
export class Values {
  readonly size: number
  /** Sorted; many of them joined, with a separator around each. */
  readonly #held: string | readonly string[]

  constructor (values: Iterable<string>) {
    const sorted = [...new Set(values)].sort()
    this.size = sorted.length
    this.#held = sorted.length > FEW ? own(SEPARATOR + sorted.join(SEPARATOR) + SEPARATOR) : sorted.map(own)
  }

  has (value: string): boolean {
    const held = this.#held
    return typeof held === 'string' ? held.includes(SEPARATOR + value + SEPARATOR) : held.includes(value)
  }

  /** About the bytes it holds. */
  get weight (): number {
    const held = this.#held
    return typeof held === 'string' ? held.length + TEXT_BYTES : held.reduce((sum, { length }) => sum + length + TEXT_BYTES, 0)
  }

  all (): readonly string[] {
    const held = this.#held
    return typeof held === 'string' ? held.slice(1, -1).split(SEPARATOR) : held
  }
}

/** Selectors that somebody holds, by their text. The text itself would double what they hold, so a digest stands for it. */
export class Shared<T extends { readonly text: string, readonly weight: number }> {
  readonly #known = new Map<string, WeakRef<T>>()
  readonly #gone = new FinalizationRegistry<string>(digest => { if (this.#known.get(digest)?.deref() === undefined) this.#known.delete(digest) })

  /**
   * The selector, or another of the same text that is held already.
   * @throws DecodeError for one that is larger than may be held
   */
  one (selector: T, what: string): T {
    const { weight } = selector
    if (weight > MOST_HELD) throw new DecodeError(`the ${what} is too large for a watch, which would hold ${weight} bytes for it; at most ${MOST_HELD} are allowed`)
    if (weight < SHARED_FROM) return selector
    const digest = createHash('sha256').update(selector.text).digest('base64')
    const known = this.#known.get(digest)?.deref()
    if (known !== undefined) return known
    this.#known.set(digest, new WeakRef(selector))
    this.#gone.register(selector, digest)
    return selector
  }
}

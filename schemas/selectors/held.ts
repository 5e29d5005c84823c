/**
 * Compact selectors for watches, which hold them as long as they run: duplicates are dropped, values packed, equal
 * large selectors shared, and the size limited. A list drops its selector at once, so the limit applies to watches
 * only. Without this, a watch with `a,a,a,…` of 60 KB held 5.4 MB (`test/schemas/selectors/held.test.ts`).
 */
import { createHash } from 'node:crypto'
import { DecodeError } from '../language/decode-error.js'

/** Bytes of one selector: room for hundreds of values. */
const MAX_KEPT = 8 * 1024
/** Smaller selectors cost less than looking them up. */
const SHARED_FROM = 1000
/** Approximate overhead of a requirement, and of a string. */
export const REQUIREMENT_BYTES = 180
const TEXT_BYTES = 32
/** Up to this many values are compared one by one. */
const FEW = 32
/** V8 copies shorter substrings; longer ones keep the whole string alive. */
const SHORTEST_PIECE = 13
const SEPARATOR = '\0'

/** A copy of the text that does not keep the string it was cut from alive. */
// a string again
export const ownCopy = (text: string): string =>
  text.length < SHORTEST_PIECE ? text : JSON.parse(JSON.stringify(text)) as string

/** A set of values without NUL characters. */
export class Values {
  readonly size: number
  /** Sorted. Many values are joined, each between separators. */
  readonly #held: string | readonly string[]

  constructor (values: Iterable<string>) {
    const sorted = [...new Set(values)].sort()
    this.size = sorted.length
    this.#held = sorted.length > FEW ? ownCopy(SEPARATOR + sorted.join(SEPARATOR) + SEPARATOR) : sorted.map(ownCopy)
  }

  has (value: string): boolean {
    const held = this.#held
    return typeof held === 'string' ? held.includes(SEPARATOR + value + SEPARATOR) : held.includes(value)
  }

  /** Approximate bytes in memory. */
  get weight (): number {
    const held = this.#held
    return typeof held === 'string'
      ? held.length + TEXT_BYTES
      : held.reduce((sum, { length }) => sum + length + TEXT_BYTES, 0)
  }

  all (): readonly string[] {
    const held = this.#held
    return typeof held === 'string' ? held.slice(1, -1).split(SEPARATOR) : held
  }
}

/** The large selectors in use, by a digest of their text, because the text would double their memory. */
export class Shared<T extends { readonly text: string, readonly weight: number }> {
  readonly #known = new Map<string, WeakRef<T>>()
  readonly #collected = new FinalizationRegistry<string>(digest => {
    if (this.#known.get(digest)?.deref() === undefined) this.#known.delete(digest)
  })

  /**
   * Returns an equal selector already in use, or this one.
   * @throws DecodeError for a selector beyond the limit
   */
  one (selector: T, what: string): T {
    const { weight } = selector
    if (weight > MAX_KEPT) {
      throw new DecodeError(
        `the ${what} is too large for a watch, which would hold ${weight} bytes for it; at most ${MAX_KEPT} are allowed`
      )
    }
    if (weight < SHARED_FROM) return selector
    const digest = createHash('sha256').update(selector.text).digest('base64')
    const known = this.#known.get(digest)?.deref()
    if (known !== undefined) return known
    this.#known.set(digest, new WeakRef(selector))
    this.#collected.register(selector, digest)
    return selector
  }
}

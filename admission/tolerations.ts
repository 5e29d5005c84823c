/**
 * Tolerations of pods, and the taints of the system. Pods may have thousands of tolerations, so comparisons use an
 * index.
 */
import type { Toleration } from '../schemas/api/core/affinity.js'

export const NOT_READY = 'node.orch.io/not-ready'
export const UNREACHABLE = 'node.orch.io/unreachable'
export const MEMORY_PRESSURE = 'node.orch.io/memory-pressure'

const ANY = ''
const LIMITED: ReadonlySet<string> = new Set(['', 'NoExecute'])

/**
 * A key shared by tolerations that differ only in duration. Includes lengths, so that different parts cannot form the
 * same text.
 */
const bucketKey = (key: string, effect: string, value: string | undefined): string =>
  `${key.length} ${effect.length} ${key}${effect}${value === undefined ? '' : `=${value}`}`
const matchesAnyValue = ({ operator }: Toleration): boolean => operator === 'Exists'
const textOf = ({ key = '', operator = '', effect = '', value = '', tolerationSeconds }: Toleration): string =>
  `${operator.length} ${operator}${tolerationSeconds} ${bucketKey(key, effect, value)}`

/** Keys of tolerations that cover this one, if they last long enough. */
function coveringKeys (toleration: Toleration): string[] {
  const { key = '', effect = '', value = '' } = toleration
  const places: string[] = []
  for (const wanted of effect === ANY ? [ANY] : [effect, ANY]) {
    places.push(bucketKey(key, wanted, undefined))
    if (key !== ANY) places.push(bucketKey(ANY, wanted, undefined))
    if (!matchesAnyValue(toleration)) places.push(bucketKey(key, wanted, value))
  }
  return places
}

interface Duration { readonly text: string, readonly seconds: number | bigint }

/** A set of tolerations, indexed to test whether one of them covers another. */
export class Tolerated {
  /** Per key the two longest distinct tolerations. */
  readonly #longest = new Map<string, readonly Duration[]>()

  constructor (tolerations: readonly Toleration[] = []) { for (const toleration of tolerations) this.add(toleration) }

  add (toleration: Toleration): void {
    const { key = '', effect = '', value = '', tolerationSeconds = Infinity } = toleration
    const at = bucketKey(key, effect, matchesAnyValue(toleration) ? undefined : value)
    const text = textOf(toleration)
    const seconds = LIMITED.has(effect) ? tolerationSeconds : Infinity
    const existing = this.#longest.get(at)
    if (existing === undefined) this.#longest.set(at, [{ text, seconds }])
    else if (!existing.some(duration => duration.text === text)) {
      this.#longest.set(at, [...existing, { text, seconds }].sort((one, other) =>
        one.seconds > other.seconds ? -1 : one.seconds < other.seconds ? 1 : 0).slice(0, 2))
    }
  }

  /** @param others whether to ignore identical tolerations */
  covers (toleration: Toleration, others = false): boolean {
    const { tolerationSeconds = Infinity } = toleration
    const text = others ? textOf(toleration) : undefined
    return coveringKeys(toleration)
      .some(at => this.#longest.get(at)?.some(duration => duration.seconds >= tolerationSeconds &&
        duration.text !== text) === true)
  }
}

/** Merges both lists without covered tolerations; of equivalent ones the last remains, else the first. */
export function mergeTolerations (first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second]
  const later = new Tolerated()
  const redundant = all.toReversed().map(toleration => {
    const isCovered = later.covers(toleration, true)
    later.add(toleration)
    return isCovered
  }).reverse()
  const merged = new Tolerated()
  return all.filter((toleration, index) => {
    if (redundant[index] === true || merged.covers(toleration)) return false
    merged.add(toleration)
    return true
  })
}

/** Tolerations of pods, and the taints that the system itself sets. A pod may have thousands, so that none is compared with all others. */
import type { Toleration } from '../schemas/api/core/affinity.js'

export const NOT_READY = 'node.orch.io/not-ready'
export const UNREACHABLE = 'node.orch.io/unreachable'
export const MEMORY_PRESSURE = 'node.orch.io/memory-pressure'

const ANY = ''
const LIMITED: ReadonlySet<string> = new Set(['', 'NoExecute'])

/** Those that differ in nothing but how long they last stand in one place. With lengths, so that no text runs into the next. */
const place = (key: string, effect: string, value: string | undefined): string => `${key.length} ${effect.length} ${key}${effect}${value === undefined ? '' : `=${value}`}`
const isWide = ({ operator }: Toleration): boolean => operator === 'Exists'
const textOf = ({ key = '', operator = '', effect = '', value = '', tolerationSeconds }: Toleration): string => `${operator.length} ${operator}${tolerationSeconds} ${place(key, effect, value)}`

/** Where those stand that tolerate all that this one does, if they last. */
function placesOver (toleration: Toleration): string[] {
  const { key = '', effect = '', value = '' } = toleration
  const places: string[] = []
  for (const one of effect === ANY ? [ANY] : [effect, ANY]) {
    places.push(place(key, one, undefined))
    if (key !== ANY) places.push(place(ANY, one, undefined))
    if (!isWide(toleration)) places.push(place(key, one, value))
  }
  return places
}

interface Lasting { readonly text: string, readonly seconds: number | bigint }

/** Some tolerations, asked whether one of them tolerates all that another one does. */
export class Tolerated {
  /** By place the one that lasts longest, and of those that are not the same the next. */
  readonly #longest = new Map<string, readonly Lasting[]>()

  constructor (tolerations: readonly Toleration[] = []) { for (const one of tolerations) this.add(one) }

  add (toleration: Toleration): void {
    const { key = '', effect = '', value = '', tolerationSeconds = Infinity } = toleration
    const at = place(key, effect, isWide(toleration) ? undefined : value)
    const text = textOf(toleration)
    const seconds = LIMITED.has(effect) ? tolerationSeconds : Infinity
    const known = this.#longest.get(at)
    if (known === undefined) this.#longest.set(at, [{ text, seconds }])
    else if (!known.some(one => one.text === text)) this.#longest.set(at, [...known, { text, seconds }].sort((one, other) => one.seconds > other.seconds ? -1 : one.seconds < other.seconds ? 1 : 0).slice(0, 2))
  }

  /** @param others whether only those count that are not the same */
  covers (toleration: Toleration, others = false): boolean {
    const { tolerationSeconds = Infinity } = toleration
    const text = others ? textOf(toleration) : undefined
    return placesOver(toleration).some(at => this.#longest.get(at)?.some(one => one.seconds >= tolerationSeconds && one.text !== text) === true)
  }
}

/** Both, without those that another one covers; of those that say the same in other words the last, else the first. */
export function mergeTolerations (first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second]
  const later = new Tolerated()
  const redundant = all.toReversed().map(one => {
    const isCovered = later.covers(one, true)
    later.add(one)
    return isCovered
  }).reverse()
  const merged = new Tolerated()
  return all.filter((one, index) => {
    if (redundant[index] === true || merged.covers(one)) return false
    merged.add(one)
    return true
  })
}

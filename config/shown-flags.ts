/** The flags as `/flagz` shows them: the values that apply, by name. */
import { defaultTextOf, isThere } from './flags-of-release.js'
import { FLAGS } from './flags/index.js'
import type { Flag } from './flag.js'
import type { Parsed } from './command-line.js'
import { withoutUrlSecrets } from '../schemas/quote.js'

/** In the place of a value that may hold a secret, as upstream. */
const CLASSIFIED = 'CLASSIFIED'

export function shownFlags ({ values, given }: Parsed): Record<string, string> {
  const all = Object.entries(FLAGS) as Array<[keyof typeof FLAGS, Flag<unknown>]> // flags differ in their value types
  const { 'emulated-version': release } = values
  const there = all.filter(([name]) => isThere(name, release))
  return Object.fromEntries(there.sort(([one], [other]) => one < other ? -1 : 1).map(([name, flag]) => {
    const text = textOf(values[name], given.get(name) ?? defaultTextOf(flag, release))
    return [name, withoutUrlSecrets(text) !== text ? CLASSIFIED : text]
  }))
}

/** @param given of the last occurrence, or the default */
function textOf (value: unknown, given: string): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return `[${value.join(',')}]`
  return value instanceof Map && [...value.values()].every(item => typeof item === 'string')
    ? [...(value as ReadonlyMap<unknown, string>)].map(([key, text]) => `${String(key)}=${text}`).join(',')
    : given
}

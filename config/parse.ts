/**
 * Arguments to values. `--flag=value` and `--flag value`; a bool alone is true and never takes the next
 * argument; of a scalar given twice the last one holds, lists and maps add up. What is wrong ends in a
 * FlagError naming flag, value and mend.
 */
import { FlagError, Problem, printable, type Flag } from './flag.js'
import { FLAGS, isFlagName, type FlagName, type Values } from './flags/index.js'

export interface Parsed {
  readonly values: Values
  /** The flags that were given, whatever their value, with the text of their last occurrence. */
  readonly given: ReadonlyMap<FlagName, string>
}

export function parseArguments (args: readonly string[]): Parsed {
  const found = new Map<FlagName, unknown>()
  const given = new Map<FlagName, string>()
  for (let index = 0; index < args.length; index++) {
    const argument = args[index] ?? ''
    const { name, value: attached } = split(argument)
    const flag: Flag<unknown> = FLAGS[name] as Flag<unknown> // each flag parses what it made itself
    let value = attached
    if (value === undefined && flag.bare) value = 'true'
    if (value === undefined) {
      value = args[++index]
      if (value === undefined) throw new FlagError(name, undefined, `needs a value (${flag.type})`)
      if (value.startsWith('--')) throw new FlagError(name, undefined, `needs a value (${flag.type}) before ${printable(value)}; write --${name}=VALUE where the value begins with dashes`)
    }
    try {
      found.set(name, flag.parse(value, found.get(name)))
      given.set(name, value)
    } catch (error) {
      if (error instanceof Problem) throw new FlagError(name, value, error.message)
      throw error
    }
  }
  const values: Record<string, unknown> = {}
  for (const [name, flag] of Object.entries(FLAGS)) values[name] = isFlagName(name) && found.has(name) ? found.get(name) : flag.default
  return { values: values as Values, given } // one value per declared flag, made by that flag
}

const SHORTS: ReadonlyMap<string, FlagName> = new Map(Object.entries(FLAGS).flatMap(([name, flag]) => {
  const { short } = flag as Flag<unknown> // the sections differ in the type of their values alone
  return short !== undefined && isFlagName(name) ? [[short, name]] : []
}))

function split (argument: string): { name: FlagName, value: string | undefined } {
  if (argument.startsWith('--') && argument.length > 2) {
    const at = argument.indexOf('=')
    const name = argument.slice(2, at < 0 ? undefined : at)
    if (!isFlagName(name)) throw unknown(name, `--${name}`)
    return { name, value: at < 0 ? undefined : argument.slice(at + 1) }
  }
  const short = /^-([a-z])(?:=?(.*))$/s.exec(argument)
  if (short !== null) {
    const name = SHORTS.get(short[1] ?? '')
    if (name === undefined) throw unknown(argument.slice(1), argument)
    return { name, value: argument.length === 2 ? undefined : short[2] }
  }
  throw new ArgumentError(`unexpected argument ${printable(JSON.stringify(argument))}: the server takes flags only, a flag begins with -- and its value follows = or a space (a bool is set by --flag=value)`)
}

/** An argument that belongs to no flag. */
export class ArgumentError extends Error {}

function unknown (name: string, shown: string): ArgumentError {
  const near = nearest(name.slice(0, 80))
  return new ArgumentError(`unknown flag ${printable(shown)}: ${near === undefined ? '' : `did you mean --${near}? `}--help lists all flags`)
}

/** The flag whose name takes the fewest edits, if it is no more than a third of it. */
function nearest (name: string): string | undefined {
  let best: { name: string, distance: number } | undefined
  for (const candidate of Object.keys(FLAGS)) {
    const distance = editDistance(name, candidate)
    if (distance <= Math.max(candidate.length, name.length) / 3 && (best === undefined || distance < best.distance)) best = { name: candidate, distance }
  }
  return best?.name
}

function editDistance (left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const changed = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[right.length] ?? Infinity
}

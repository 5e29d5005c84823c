/**
 * Flag declarations: type, default and help in one value, from which parsing, `--help` and the value's type are
 * derived. The constructors below are the interface's flag types.
 * @see interface, 'Server start-up options' and the flag tables of its other parts
 */
import { isIP } from 'node:net'
import { formatDuration, parseDuration } from '../schemas/meta/duration.js'
import { MAX_SOCKET_PATH } from '../schemas/limits.js'
import { escapeControls, shorten } from '../schemas/quote.js'
import { didYouMean } from './suggestions.js'

export interface Flag<T> {
  /** Displayed in `--help`. */
  readonly type: string
  readonly default: T
  /** One or two sentences, lower case, without a full stop. */
  readonly help: string
  /** One letter, `-v`. */
  readonly short?: string
  /** True if the bare flag means `=true` and never takes the next argument. */
  readonly bare: boolean
  /** Parses one occurrence; `before` is the value of earlier ones. @throws Problem */
  readonly parse: (text: string, before: T | undefined) => T
  /** Checks a host's value for the option of the same meaning (`option.ts`), in the same words. @throws Problem */
  readonly accept: (value: unknown) => void
  /** The default as on the command line; empty for none, and for empty lists and maps. */
  readonly defaultText: string
  /** The first release without the flag. */
  readonly removed?: string
  /** The default from a release on. */
  readonly later?: { readonly since: string, readonly default: T, readonly defaultText: string }
  /** How help displays the empty default. Default `[]` for lists and `{}` for maps. */
  readonly emptyText?: string
}

/** An invalid value and its remedy, without the flag's name. */
export class Problem extends Error {
  /** @param at which item of a list is invalid, and its value */
  constructor (mend: string, readonly at?: { readonly index: number, readonly value: unknown }) { super(mend) }
}

/** Ends the start with one line: flag, value and remedy. */
export class FlagError extends Error {
  constructor (
    readonly flag: string, value: string | undefined, readonly problem: string, options?: ErrorOptions
  ) {
    super(`--${flag}${value === undefined ? '' : `=${printable(value)}`}: ${printable(problem, 1200)}`, options)
    this.name = 'FlagError'
  }
}

const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Escapes control characters and limits the length; looks at no more of a long text than is kept. */
export function printable (text: string, limit = 300): string {
  const kept = text.slice(0, limit + 1).replace(/[\n\r\t]/g, character => NAMED[character] ?? character)
  return shorten(escapeControls(kept), limit)
}

/** Describes an invalid value; undefined if valid. */
export type Check = (value: string) => string | undefined

const scalar = <T>(
  type: string, facts: Pick<Flag<T>, 'default' | 'help' | 'defaultText'>, parse: (text: string) => T,
  accept: (value: unknown) => void
): Flag<T> => ({ type, ...facts, bare: false, parse: text => parse(text), accept })

function aString (value: unknown): string {
  if (typeof value !== 'string') throw new Problem('must be a string')
  return value
}

function aNumber (value: unknown, form: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Problem(`must be ${form}`)
  return value
}

/** Checks each item. */
export function eachItem (value: unknown, accept: (item: unknown) => void): void {
  if (!Array.isArray(value)) throw new Problem('must be a list')
  for (const [index, item] of value.entries()) {
    try {
      accept(item)
    } catch (error) {
      throw error instanceof Problem ? new Problem(error.message, error.at ?? { index, value: item }) : error
    }
  }
}

const strings = (check?: Check) => (value: unknown): void => { eachItem(value, item => checked(aString(item), check)) }

function checked (value: string, check: Check | undefined): string {
  const problem = value === '' ? undefined : check?.(value)
  if (problem !== undefined) throw new Problem(problem)
  return value
}

/** Any string; `check` applies to non-empty ones. */
export const text = (initial: string, help: string, check?: Check): Flag<string> =>
  scalar(
    'string', { default: initial, help, defaultText: initial }, value => checked(value, check),
    value => checked(aString(value), check)
  )

/** A file or folder. */
export const path = (help: string, initial = ''): Flag<string> => ({
  ...text(initial, help, value => value.includes('\u0000') ? 'a path has no NUL character' : undefined), type: 'path'
})

/** One of a closed set. */
export function choice<const V extends string> (values: readonly V[], initial: V, help: string): Flag<V> {
  const read = (value: unknown): V => {
    const match = values.find(known => known === value)
    if (match === undefined) throw new Problem(notAmong(value, values.filter(known => known !== '')))
    return match
  }
  return scalar(
    values.filter(value => value !== '').join('|'), { default: initial, help, defaultText: initial }, read, read
  )
}

/** Describes a value outside a closed set. */
const notAmong = (value: unknown, values: readonly string[]): string =>
  `must be ${values.length === 1 ? values[0] ?? '' : `one of ${values.join(', ')}`}${didYouMean(value, values)}`

export interface Range { readonly min?: number, readonly max?: number, readonly why?: string }

const inRange = (value: number, { min = -Infinity, max = Infinity, why }: Range): number => {
  if (value >= min && value <= max) return value
  const bounds = max === Infinity ? `at least ${min}` : `between ${min} and ${max}`
  throw new Problem(`must be ${bounds}${why === undefined ? '' : `, ${why}`}`)
}

/** An integer. */
export const int = (initial: number, help: string, range: Range = {}): Flag<number> =>
  scalar('int', { default: initial, help, defaultText: String(initial) }, value => {
    const number = Number(value)
    if (!/^[+-]?\d+$/.test(value) || !Number.isSafeInteger(number)) throw new Problem('must be a whole number')
    return inRange(number, range)
  }, value => {
    if (!Number.isSafeInteger(value)) throw new Problem('must be a whole number')
    inRange(Number(value), range)
  })

export const float = (initial: number, help: string, range: Range = {}): Flag<number> =>
  scalar('float', { default: initial, help, defaultText: String(initial) }, value => {
    if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(value)) throw new Problem('must be a number such as 0.001')
    return inRange(Number(value), range)
  }, value => inRange(aNumber(value, 'a number such as 0.001'), range))

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

function readBool (value: string): boolean {
  if (TRUE.has(value)) return true
  if (FALSE.has(value)) return false
  throw new Problem('must be true or false')
}

/** `--flag`, `--flag=true`, `--flag=false`. */
export const bool = (initial: boolean, help: string): Flag<boolean> =>
  ({
    ...scalar('bool', { default: initial, help, defaultText: String(initial) }, readBool, value => {
      if (typeof value !== 'boolean') throw new Problem('must be true or false')
    }),
    bare: true
  })

const NANOSECONDS = 1e6

/** Parses `1m30s`, `500ms` or `0` to milliseconds; undefined if invalid. */
export function readDuration (value: string): number | undefined {
  const nanoseconds = parseDuration(value)
  return nanoseconds === undefined ? undefined : Number(nanoseconds) / NANOSECONDS
}

/** The value of a flag: `1m30s`. */
export const showDuration = (milliseconds: number): string =>
  formatDuration(BigInt(Math.round(milliseconds * NANOSECONDS)))

export interface DurationRange {
  /** Milliseconds. */
  readonly min?: number
  readonly max?: number
  readonly why?: string
}

/** Milliseconds, by default at least 0 and at most the longest timer. */
export function duration (
  initial: number, help: string, { min = 0, max = 2 ** 31 - 1, why }: DurationRange = {}
): Flag<number> {
  const within = (milliseconds: number): number => {
    if (milliseconds < min) {
      throw new Problem(`must be at least ${showDuration(min)}${why === undefined ? '' : `, ${why}`}`)
    }
    if (milliseconds > max) {
      throw new Problem(`must be at most ${showDuration(max)}${why === undefined ? '' : `, ${why}`}`)
    }
    return milliseconds
  }
  return scalar('duration', { default: initial, help, defaultText: showDuration(initial) }, value => {
    const milliseconds = readDuration(value)
    if (milliseconds === undefined) throw new Problem('must be a duration such as 1m30s, 500ms or 0')
    return within(milliseconds)
  }, value => within(aNumber(value, 'a duration in milliseconds')))
}

/**
 * Comma-separated and repeatable; the first occurrence replaces the default. An empty value is the empty list. `check`
 * does not quote the item.
 */
export const list = (initial: readonly string[], help: string, check?: Check): Flag<readonly string[]> => ({
  type: 'strings',
  default: initial,
  help,
  defaultText: initial.join(','),
  bare: false,
  parse: (value, before = []) => {
    const items = value.trim() === '' ? [] : value.split(',').map(item => item.trim())
    if (items.includes('')) throw new Problem('has an empty value between its commas')
    return [...before, ...items.map(item => checked(item, check && (single => quoted(single, check(single)))))]
  },
  accept: strings(check)
})

const quoted = (value: string, problem: string | undefined): string | undefined => problem &&
  `${printable(JSON.stringify(value))} ${problem}`

/** One whole value per occurrence, commas included. */
export const repeated = (help: string, check?: Check): Flag<readonly string[]> => ({
  type: 'string, repeatable',
  default: [],
  help,
  defaultText: '',
  bare: false,
  parse: (value, before = []) => {
    if (value === '') throw new Problem('needs a value')
    return [...before, checked(value, check)]
  },
  accept: strings(check)
})

export interface PairOptions {
  /** Type displayed in help. */
  readonly type?: string
  /** Value of a key without `=value`; if undefined, such keys are rejected. */
  readonly bareValue?: string
  readonly check?: (key: string, value: string) => string | undefined
}

/** Comma-separated `key=value`; later occurrences add and override. */
export const pairs = (
  help: string, { type = 'key=value,...', bareValue, check }: PairOptions = {}
): Flag<ReadonlyMap<string, string>> => ({
  type,
  default: new Map(),
  help,
  defaultText: '',
  bare: false,
  parse: (value, before) => {
    const map = new Map(before)
    for (const item of value.trim() === '' ? [] : value.split(',')) {
      const at = item.indexOf('=')
      const key = (at < 0 ? item : item.slice(0, at)).trim()
      const given = at < 0 ? bareValue : item.slice(at + 1).trim()
      if (key === '' || given === undefined) {
        throw new Problem(`${printable(JSON.stringify(item))} must have the form key=value`)
      }
      const problem = check?.(key, given)
      if (problem !== undefined) throw new Problem(problem)
      map.set(key, given)
    }
    return map
  },
  accept: value => {
    if (!(value instanceof Map) || ![...value].flat().every(part => typeof part === 'string')) {
      throw new Problem('must be a Map of strings')
    }
    for (const [key, given] of value as Map<string, string>) checked(key, () => check?.(key, given))
  }
})

export interface PortRange { readonly from: number, readonly to: number }

const isPort = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1 &&
  Number(value) <= 65535

/** `N1-N2`, inclusive. */
export function portRange (from: number, to: number, help: string): Flag<PortRange> {
  const ordered = (range: PortRange): PortRange => {
    if (!isPort(range.from) || !isPort(range.to) || range.from > range.to) {
      throw new Problem('must be two ports N1-N2 with 1 <= N1 <= N2 <= 65535')
    }
    return range
  }
  return scalar('N1-N2', { default: { from, to }, help, defaultText: `${from}-${to}` }, value => {
    const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(value) ?? []
    return ordered({ from: Number(first), to: Number(last) })
  }, value => ordered(Object(value) as PortRange)) // its members may be anything
}

export function cidrProblem (value: string): string | undefined {
  const [address = '', bits = '', ...rest] = value.split('/')
  const family = isIP(address)
  const width = family === 4 ? 32 : 128
  return family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > width
    ? 'must be a CIDR such as 10.0.0.0/24 or fd00::/108'
    : undefined
}

export const cidrs = (initial: readonly string[], help: string): Flag<readonly string[]> =>
  ({ ...list(initial, help, cidrProblem), type: 'cidrs' })

/** Adds a one-letter alias. */
export const withShort = <T>(short: string, flag: Flag<T>): Flag<T> => ({ ...flag, short })

/** A flag that went with a release. */
export const until = <T>(removed: string, flag: Flag<T>): Flag<T> => ({ ...flag, removed })

/** A flag of another default from a release on. @param text that default on the command line */
export const withLater = <T extends string | number | boolean>(
  since: string, initial: T, flag: Flag<T>, text = String(initial)
): Flag<T> => ({ ...flag, later: { since, default: initial, defaultText: text } })

/** Rejects list values outside a closed set. */
export const oneOf = (values: readonly string[]): Check => value =>
  values.includes(value) ? undefined : notAmong(value, values)

export const ipAddress: Check = value => isIP(value) === 0 ? 'must be an IP address' : undefined

/** The path of a Unix socket. */
export const socketPath: Check = path => !path.startsWith('/')
  ? 'must be an absolute path'
  : Buffer.byteLength(path) > MAX_SOCKET_PATH ? `must have at most ${MAX_SOCKET_PATH} bytes` : undefined

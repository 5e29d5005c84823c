/**
 * Types of a host's options, as `flag.ts` has types of flags. An option that corresponds to a flag uses the flag's
 * check. Errors are one sentence: the path of the option, its value unless that may be a secret, and what is allowed.
 */
import {
  duration, eachItem, float, int, Problem, printable, text, type Check, type DurationRange, type Flag, type Range
} from './flag.js'
import { didYouMean } from './suggestions.js'

/** Rejects the registration of the plugin, before anything is opened. */
export class OptionError extends TypeError {
  /** In the manner of Fastify's own errors. */
  readonly code = 'ORCH_ERR_INVALID_OPTION'

  constructor (readonly option: string, value: string | undefined, mend: string) {
    super(`${option}: ${value === undefined ? '' : `${value}: `}${printable(mend, 2000)}`)
    this.name = 'OptionError'
  }
}

export interface Option<T> {
  /** @throws OptionError */
  readonly check: (value: unknown, path: string) => void
  readonly required?: boolean
  /** For the compiler: the type of valid values. */
  readonly type?: T
}

/** An option for each member; required ones are marked. A missing or superfluous option does not compile. */
export type Table<T> =
  { readonly [K in keyof T]-?: undefined extends T[K] ? Option<Exclude<T[K], undefined>> : Option<T[K]>
    & { readonly required: true } }

/** The check of a flag. */
export const fromFlag = <T>(flag: Flag<T>): Option<T> => option(flag.accept)

/** An option from a check that throws a Problem. */
export const option = <T>(accept: (value: unknown) => void, show: (value: unknown) => string = display): Option<T> => ({
  check: (value, path) => {
    try {
      accept(value)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const { at, message } = error
      throw at === undefined
        ? new OptionError(path, show(value), message)
        : new OptionError(`${path}[${at.index}]`, show(at.value), message)
    }
  }
})

export const required = <T>(inner: Option<T>): Option<T> & { readonly required: true } => ({ ...inner, required: true })

export const wholeNumber = (range: Range = { min: 0 }): Option<number> => fromFlag(int(0, '', range))
export const number = (range: Range = { min: 0 }): Option<number> => fromFlag(float(0, '', range))
export const milliseconds = (range: DurationRange = {}): Option<number> => fromFlag(duration(0, '', range))
export const string = (check?: Check): Option<string> => fromFlag(text('', '', check))

/** Errors never quote the value. */
export const secret = <T>(inner: Option<T>): Option<T> => ({
  check: (value, path) => {
    try {
      inner.check(value, path)
    } catch {
      throw new OptionError(path, kindOf(value), 'must be a string')
    }
  }
})
export const secretString: Option<string> = secret(string())

const kind = <T>(isValid: (value: unknown) => boolean, what: string): Option<T> => option(value => {
  if (!isValid(value)) throw new Problem(`must be ${what}`)
}, kindOf)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Object.prototype.toString.call(value) === '[object Object]'

/** An object with unchecked members. */
export const object = <T extends object>(): Option<T> => kind(isObject, 'an object')
export const anything: Option<unknown> = { check: () => {} }
export const callback = <T extends (...args: never[]) => unknown>(): Option<T> =>
  kind(value => typeof value === 'function', 'a function')
export const promise: Option<Promise<void>> = kind(value => value instanceof Promise, 'a promise')
export const url: Option<URL> = kind(value => value instanceof URL, 'a URL object')
export const pem: Option<string | Uint8Array> = kind(value => typeof value === 'string' ||
  value instanceof Uint8Array, 'the text of a PEM file')

/** An object with this method. */
export const withMethod = <T extends object>(method: keyof T & string): Option<T> =>
  kind(value => typeof value === 'object' && value !== null &&
    typeof (value as Readonly<Record<string, unknown>>)[method] === 'function', `an object with the method ${method}`)

/** Either of two options; errors come from the second. */
export const either = <A, B>(one: Option<A>, other: Option<B>): Option<A | B> => ({
  check: (value, path) => {
    try {
      one.check(value, path)
    } catch {
      other.check(value, path)
    }
  }
})

export const each = <T>(inner: Option<T>): Option<readonly T[]> => ({
  check: (value, path) => {
    option(list => { eachItem(list, () => {}) }, kindOf).check(value, path)
    for (const [index, item] of (value as unknown[]).entries()) inner.check(item, `${path}[${index}]`)
  }
})

/** Arbitrary names with values of one type. */
export const record = <T>(
  inner: Option<T>, check: (name: string, value: unknown) => string | undefined = () => undefined
): Option<Readonly<Record<string, T>>> => ({
  check: (value, path) => {
    object().check(value, path)
    for (const [name, member] of Object.entries(value as object) as Array<[string, unknown]>) {
      const at = join(path, name)
      inner.check(member, at)
      const problem = check(name, member)
      if (problem !== undefined) throw new OptionError(at, undefined, problem)
    }
  }
})

/** An object with these members and no others. */
export const members = <T extends object>(table: Table<T>): Option<T> =>
  ({ check: (value, path) => { checkMembers(table, value, path) } })

/**
 * Checks declared members, inherited ones included, and refuses others.
 * @param unknown describes a member that is not in the table; undefined allows it
 */
export function checkMembers (
  table: Readonly<Record<string, Option<unknown>>>, value: unknown, path: string,
  unknown: (name: string) => string | undefined = notIn(table)
): void {
  object().check(value, path === '' ? 'options' : path)
  const given = value as Readonly<Record<string, unknown>>
  for (const name of Object.keys(given)) {
    const problem = Object.hasOwn(table, name) ? undefined : unknown(name)
    if (problem !== undefined) throw new OptionError(join(path, name), undefined, problem)
  }
  for (const [name, { check, required = false }] of Object.entries(table)) {
    const member = given[name]
    if (member !== undefined) check(member, join(path, name))
    else if (required) throw new OptionError(join(path, name), undefined, 'needs a value')
  }
}

const notIn = (table: Readonly<Record<string, unknown>>) => (name: string): string => {
  const names = Object.keys(table)
  const near = didYouMean(name, names)
  return `is no option${near === '' ? `; the options here are ${names.join(', ')}` : near}`
}

const join = (path: string, name: string): string =>
  /^[\w$-]{1,100}$/.test(name)
    ? path === '' ? name : `${path}.${name}`
    : `${path}[${printable(JSON.stringify(name), 100)}]`

/** Omits user and password of URLs. */
function display (value: unknown): string {
  if (typeof value === 'string') return printable(JSON.stringify(value.replace(/\/\/[^/@\s]*@/g, '//…@')))
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? String(value) : kindOf(value)
}

function kindOf (value: unknown): string {
  if (value === undefined || value === null) return String(value)
  const type = Array.isArray(value)
    ? 'list'
    : typeof value === 'object'
      ? Object.prototype.toString.call(value).slice('[object '.length, -1).replace(/^Object$/, 'object')
      : typeof value
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}

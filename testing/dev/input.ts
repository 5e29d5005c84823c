/** Parses what clients of the admin API send; unknown members and wrong types are errors. */
import { isObject } from '../../schemas/language/values.js'
import type { Duration } from '../clock.js'
import type { Break, Fault } from '../faults.js'
import type { RequestMatch } from '../match.js'
import { checkMembers } from '../options.js'

type Json = Readonly<Record<string, unknown>>
type Reader = (value: unknown, name: string) => unknown

const string: Reader = (value, name) => {
  if (typeof value !== 'string') throw new TypeError(`${name}: must be a string`)
  return value
}
const number: Reader = (value, name) => {
  if (typeof value !== 'number' || !(value >= 0 && value < Infinity)) throw new TypeError(`${name}: must be a number`)
  return value
}

export const duration = (value: unknown): Duration =>
  typeof value === 'number' ? number(value, 'move') as number : string(value, 'move') as string

/** @param names allowed members; default any @throws TypeError, SyntaxError */
export function objectOf (body: string, names?: readonly string[]): Json {
  const value: unknown = JSON.parse(body)
  if (!isObject(value)) throw new TypeError('the body must be an object in JSON')
  if (names !== undefined) checkMembers(value, names, '')
  return value
}

function read (given: Json, table: Readonly<Record<string, Reader>>): object {
  checkMembers(given, Object.keys(table), '')
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, table[name]?.(value, name)]))
}

const MATCH: Readonly<Record<keyof RequestMatch, Reader>> = {
  method: string, verb: string, url: string, group: string, resource: string, namespace: string, name: string,
  user: string
}

export const matchOf = (given: Json): RequestMatch => read(given, MATCH)

const FAULT: Readonly<Record<keyof Fault, Reader>> = {
  on: (value, name) => matchOf(objectOf(JSON.stringify(value ?? name))),
  skip: number,
  times: number,
  probability: number,
  name: string,
  delay: value => typeof value === 'number' ? number(value, 'delay') : string(value, 'delay'),
  status: number,
  retryAfter: number,
  // `Faults.add` checks the text
  disconnect: (value, name): Break => typeof value === 'string'
    ? value as Break
    : read(objectOf(JSON.stringify(value ?? name)), { bytes: number, events: number }) as Break,
  stale: number,
  staleReads: (value, name) => string(value, name),
  duplicate: value => {
    if (value !== true) throw new TypeError('duplicate: must be true')
    return value
  }
}

/** `Faults.add` checks the values of the members. */
export const faultOf = (body: string): Fault => read(objectOf(body), FAULT)

/** What a macro makes of the items it visits, and what its parts cost. */
import { Entries, Fault, isDict, Items, List, Uint, type Dict, type Key, type Value } from './values.js'
import type { Fold } from './syntax.js'

/** The cost of what a macro expands to, without its own parts: upstream expands macros, and charges for that. */
interface Costs {
  /** Of the initial value in estimates; evaluations get it for nothing. */
  readonly initial: number
  /** Before each item. */
  readonly condition: number
  /** For an item that counts. */
  readonly step: number
  /** For an item that does not. */
  readonly skipped: number
  readonly result: number
}
export const COSTS: Readonly<Record<Fold['kind'], Costs>> = {
  all: { initial: 0, condition: 2, step: 1, skipped: 1, result: 1 },
  exists: { initial: 0, condition: 3, step: 1, skipped: 1, result: 1 },
  one: { initial: 0, condition: 0, step: 2, skipped: 0, result: 2 },
  list: { initial: 10, condition: 0, step: 12, skipped: 0, result: 1 },
  map: { initial: 30, condition: 0, step: 3, skipped: 0, result: 1 },
  entries: { initial: 30, condition: 0, step: 2, skipped: 0, result: 1 }
}

export interface Folding {
  /** @returns the result, if the loop ends here */
  readonly step: (holds: Value, result: Value, key: Value) => Value | undefined
  readonly end: () => Value
}

const NO_BOOL = new Fault('no such overload')
const notBool = (holds: Value): Value | undefined =>
  holds instanceof Fault ? holds : typeof holds === 'boolean' ? undefined : NO_BOOL

/** One item may decide; errors of other items then do not matter. */
const quantifier = (decisive: boolean) => (): Folding => {
  let fault: Value | undefined
  return {
    step: holds => {
      if (holds === decisive) return decisive
      fault ??= notBool(holds)
      return undefined
    },
    end: () => fault ?? !decisive
  }
}

function collecting (): Folding {
  const items: Value[] = []
  return {
    step: (holds, result) => {
      if (holds !== true) return notBool(holds)
      if (result instanceof Fault) return result
      items.push(result)
      return undefined
    },
    end: () => new List(items)
  }
}

function counting (): Folding {
  let count = 0
  return {
    step: holds => {
      if (holds === true) count++
      return notBool(holds)
    },
    end: () => count === 1
  }
}

/** Adds an entry. Undefined if it is there now. */
export function put (entries: Map<Key, Value>, key: Value, value: Value): Fault | undefined {
  const name = keyOf(key)
  if (name === undefined) return new Fault('unsupported key type')
  if (entries.has(name)) return new Fault(`insert failed: key ${String(name)} already exists`)
  entries.set(name, value)
  return undefined
}

export function keyOf (value: Value): Key | undefined {
  if (value instanceof Uint) return value.value
  return typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean' ? value : undefined
}

const mapping = (isEntry: boolean) => (): Folding => {
  const entries = new Map<Key, Value>()
  return {
    step: (holds, result, key) => {
      if (holds !== true) return notBool(holds)
      if (result instanceof Fault) return result
      if (!isEntry) return put(entries, key, result)
      if (typeof result !== 'object' || result === null || !isDict(result)) return NO_BOOL
      for (const inner of result.keys()) {
        const fault = put(entries, inner, result.get(inner) ?? null)
        if (fault !== undefined) return fault
      }
      return undefined
    },
    end: () => new Entries(entries)
  }
}

export const FOLDS: Readonly<Record<Fold['kind'], () => Folding>> = {
  all: quantifier(false), exists: quantifier(true), one: counting, list: collecting, map: mapping(false),
  entries: mapping(true)
}

export interface Range {
  readonly size: number
  /** The item, or the key of a map, with one variable; with two, both. */
  readonly first: (index: number) => Value
  readonly second: (index: number) => Value
}

export function rangeOf (range: Value, both: boolean): Range | Fault {
  if (range instanceof Items) {
    const at = (index: number): Value => range.at(index) ?? null
    return { size: range.size, first: both ? BigInt : at, second: at }
  }
  if (range instanceof Fault) return range
  if (typeof range !== 'object' || range === null || !isDict(range)) return NO_BOOL
  const keys = range.keys()
  const key = (index: number): Value => keys[index] ?? null
  return { size: keys.length, first: key, second: index => memberOf(range, keys[index]) }
}

const memberOf = (range: Dict, key: Key | undefined): Value => key === undefined ? null : range.get(key) ?? null

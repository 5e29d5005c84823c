/** Columns of tables, and what they are built of. */
import type { LabelSelector } from './meta/options.js'
import type { CellBudget } from './cell-budget.js'
import type { ApiObject } from './meta/api-object.js'
import { selectorText } from './selectors/objects.js'
import { parseTime } from './meta/time.js'
import type { Ages } from './meta/duration.js'

export type Cell = string | number | bigint | boolean | null

export interface Column<T> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'date' | 'boolean' | 'number'
  readonly format: string
  readonly description: string
  /** 0: shown by default; 1: wide output only. */
  readonly priority: 0 | 1
  /** The feature gate, or the release, that brings it. Default: always there. */
  readonly gate?: string
  /** The first release without it. */
  readonly removed?: string
  /**
   * `named` gives the name of a key of ours in the object.
   * @throws OVER_BUDGET (`cell-budget.ts`) if it costs too much
   */
  readonly cell: (object: T, ages: Ages, named: (own: string) => string, budget?: CellBudget) => Cell
}

export const name: Column<ApiObject> = {
  name: 'Name', type: 'string', format: 'name', description: 'Name of the object.', priority: 0,
  cell: ({ metadata }) => metadata.name ?? ''
}

/** Time since creation, in short form such as `5d`. */
export const age: Column<ApiObject> = {
  name: 'Age', type: 'string', format: '', description: 'Time since creation.', priority: 0,
  cell: ({ metadata }, ages) => ageOf(metadata.creationTimestamp, ages)
}

/** Shown beside the name for types that declare no columns. */
export const createdAt: Column<ApiObject> = {
  name: 'Created At', type: 'date', format: '', description: 'Time of creation.', priority: 0,
  cell: ({ metadata }) => metadata.creationTimestamp ?? null
}

export const NONE = '<none>'
export const UNSET = '<unset>'

type CellOf<T> = (object: T, ages: Ages, named: (own: string) => string) => Cell | undefined

/** A string column shown by default. As upstream, its cells may be numbers. */
export function text<T> (name: string, description: string, cell: CellOf<T>): Column<T> {
  return {
    name, type: 'string', format: '', description, priority: 0,
    cell: (object, ages, named) => cell(object, ages, named) ?? ''
  }
}

/** An integer column shown by default; unset is 0. */
export function integer<T> (name: string, description: string, cell: (object: T) => number | undefined): Column<T> {
  return { name, type: 'integer', format: '', description, priority: 0, cell: object => cell(object) ?? 0 }
}

/** A boolean column shown by default; unset is false. */
export function flag<T> (name: string, description: string, cell: (object: T) => Cell | undefined): Column<T> {
  return { name, type: 'boolean', format: '', description, priority: 0, cell: object => cell(object) ?? false }
}

/** The same column, from a release on. */
export const since = <T>(gate: string, column: Column<T>): Column<T> => ({ ...column, gate })

/** The same column, before a release. */
export const until = <T>(removed: string, column: Column<T>): Column<T> => ({ ...column, removed })

/** The same column, shown only in wide output. */
export const wideOnly = <T>(column: Column<T>): Column<T> => ({ ...column, priority: 1 })

export function count (map: object | undefined): number {
  return map === undefined ? 0 : Object.keys(map).length
}

export const join = (values: readonly string[] | undefined): string => (values ?? []).join(',')

const FEW = 3

/** The first three values, and how many follow. @param values as many as are read @param count of all values */
export function firstThree (values: Iterable<string>, count: number): string {
  const first: string[] = []
  for (const value of values) if (first.push(value) === FEW) break
  return join(first) + (count > FEW ? ` + ${count - FEW} more...` : '')
}

export function labels (map: Readonly<Record<string, string>> | undefined): string {
  return join(Object.entries(map ?? {}).sort(byFirst).map(([key, value]) => `${key}=${value}`)) || NONE
}

/** Orders entries by key. */
export const byFirst = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : one > other ? 1 : 0

export const selector = (selector: LabelSelector | undefined): string => (selectorText(selector) ?? '<error>') || NONE

interface Containers {
  readonly containers?: ReadonlyArray<{ readonly name: string, readonly image?: string | undefined }> | undefined
}

const names = ({ containers = [] }: Containers): string => join(containers.map(({ name }) => name))
const images = ({ containers = [] }: Containers): string => join(containers.map(({ image = '' }) => image))

/** Names and images of the containers of a pod or pod template. */
export function containerColumns<T> (spec: (object: T) => Containers | undefined): [Column<T>, Column<T>] {
  return [
    text('Containers', 'Names of the containers.', object => names(spec(object) ?? {})),
    text('Images', 'Images of the containers.', object => images(spec(object) ?? {}))
  ]
}

/** Time since `timestamp`, in short form such as `5d`. */
export function ageOf (timestamp: string | undefined, ages: Ages): string {
  const then = milliseconds(timestamp)
  return then === undefined ? '<unknown>' : ages.since(then)
}

/** Since the epoch. */
export function milliseconds (timestamp: string | undefined): number | undefined {
  const instant = timestamp === undefined ? undefined : parseTime(timestamp)
  return instant === undefined ? undefined : instant.seconds * 1000 + instant.nanos / 1e6
}

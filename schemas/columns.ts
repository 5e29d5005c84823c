/** What the columns of tables are made of. */
import type { ApiObject, Cell, Column } from './resource.js'
import { parseTime } from './time.js'
import { humanDuration } from './duration.js'

export const name: Column<ApiObject> = {
  name: 'Name', type: 'string', format: 'name', text: 'Name of the object.', priority: 0, cell: ({ metadata }) => metadata.name ?? ''
}

/** Time since creation, as people say it. */
export const age: Column<ApiObject> = {
  name: 'Age', type: 'string', format: '', text: 'Time since creation.', priority: 0, cell: ({ metadata }, now) => ageOf(metadata.creationTimestamp, now)
}

/** What tables of types without columns of their own show beside the name. */
export const createdAt: Column<ApiObject> = {
  name: 'Created At', type: 'date', format: '', text: 'Time of creation.', priority: 0, cell: ({ metadata }) => metadata.creationTimestamp ?? null
}

/** A column of type string that is always shown; it may hold numbers, as its peers elsewhere do. */
export function text<T> (name: string, description: string, cell: (object: T) => Cell | undefined): Column<T> {
  return { name, type: 'string', format: '', text: description, priority: 0, cell: object => cell(object) ?? '' }
}

export function count (map: object | undefined): number {
  return map === undefined ? 0 : Object.keys(map).length
}

function ageOf (timestamp: string | undefined, now: number): string {
  const instant = timestamp === undefined ? undefined : parseTime(timestamp)
  return instant === undefined ? '<unknown>' : humanDuration(now - instant.seconds * 1000)
}

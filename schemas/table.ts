/** Objects as rows of printable cells, for people: the columns a resource declares, else its name and time of creation. */
import { createdAt, name } from './columns.js'
import type { TableColumnDefinition } from './meta/answers.js'
import type { ApiObject, Cell, Column, ResourceDefinition } from './resource.js'

const DEFAULT_COLUMNS: ReadonlyArray<Column<ApiObject>> = [name, createdAt]

/** In the order of the cells. */
export function tableColumns (resource: ResourceDefinition): TableColumnDefinition[] {
  return (resource.columns ?? DEFAULT_COLUMNS).map(({ name, type, format, text, priority }) => ({ name, type, format, description: text, priority }))
}

/** `now` in milliseconds since the epoch, for ages. */
export function tableRow (resource: ResourceDefinition, object: ApiObject, now: number): Cell[] {
  return (resource.columns ?? DEFAULT_COLUMNS).map(column => column.cell(object, now))
}

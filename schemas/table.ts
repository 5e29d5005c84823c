/** Objects as rows of printable cells, by the columns of their resource. */
import { createdAt, name } from './columns.js'
import { withoutNulls } from './language/unset.js'
import type { TableColumnDefinition, TableRowCondition } from './meta/answers.js'
import type { ApiObject, Cell, Column, Representation } from './resource.js'

const DEFAULT_COLUMNS: ReadonlyArray<Column<ApiObject>> = [name, createdAt]

/** What can be printed as a table: a representation, or the view of a subresource. */
export type Tabular = Partial<Pick<Representation, 'columns' | 'rowConditions' | 'rowSubject' | 'message'>>

export function tableColumns ({ columns = DEFAULT_COLUMNS }: Tabular): TableColumnDefinition[] {
  return columns.map(({ name, type, format, description, priority }) => ({ name, type, format, description, priority }))
}

export interface Row {
  readonly cells: Cell[]
  /** States of the object that change how its row is displayed. */
  readonly conditions: readonly TableRowCondition[]
}

const AS_OURS = (own: string): string => own

/** @param now milliseconds since the epoch, for ages @param named the names that our keys have in the object */
export function tableRow ({ columns = DEFAULT_COLUMNS, message, rowConditions, rowSubject }: Tabular, object: ApiObject, now: number, named = AS_OURS): Row {
  const decoded = message === undefined ? object : withoutNulls(message, object)
  const subject = rowSubject === undefined ? decoded : rowSubject(decoded)
  return { cells: columns.map(column => column.cell(subject, now, named)), conditions: rowConditions?.(subject) ?? [] }
}

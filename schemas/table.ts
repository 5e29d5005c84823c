/** Objects as rows of printable cells, by the columns of their resource. */
import { CellBudget, MAX_CELL_TEXT, OVER_BUDGET } from './cell-budget.js'
import { createdAt, name, type Cell, type Column } from './columns.js'
import { agesAt, type Ages } from './meta/duration.js'
import { withoutNulls } from './language/unset.js'
import type { TableColumnDefinition, TableRowCondition } from './meta/answers.js'
import type { Gates } from './gates.js'
import type { ApiObject } from './meta/api-object.js'
import { isServed, type Representation } from './resource.js'

const DEFAULT_COLUMNS: ReadonlyArray<Column<ApiObject>> = [name, createdAt]

/** What can be printed as a table: a representation, or the view of a subresource. */
export type Tabular = Partial<Pick<Representation, 'columns' | 'rowConditions' | 'rowSubject' | 'message'>>

/** What a server with these gates prints. */
export function tabularOf (representation: Representation, gates: Pick<Gates, 'enabled'>): Tabular {
  const { columns, rowConditions, rowSubject, message } = representation
  if (columns === undefined || !columns.some(({ gate, removed }) => (gate ?? removed) !== undefined)) {
    return representation
  }
  return { columns: columns.filter(column => isServed(column, gates)), rowConditions, rowSubject, message }
}

export function tableColumns ({ columns = DEFAULT_COLUMNS }: Tabular): TableColumnDefinition[] {
  return columns.map(({ name, type, format, description, priority }) => ({ name, type, format, description, priority }))
}

export interface Row {
  readonly cells: Cell[]
  /** States of the object that change how its row is displayed. */
  readonly conditions: readonly TableRowCondition[]
}

const AS_OURS = (own: string): string => own

export interface RowView {
  /** The names that our keys have in the object. */
  readonly named?: ((own: string) => string) | undefined
  /** How ages are written; by default as they are now. */
  readonly ages?: Ages | undefined
  /** Of the answer; by default that of one row. */
  readonly budget?: CellBudget | undefined
}

/** @param now milliseconds since the epoch, for ages */
export function tableRow (tabular: Tabular, object: ApiObject, now: number, view: RowView = {}): Row {
  const { named = AS_OURS, budget = new CellBudget(), ages = agesAt(now) } = view
  const { columns = DEFAULT_COLUMNS, message, rowConditions, rowSubject } = tabular
  const decoded = message === undefined ? object : withoutNulls(message, object)
  const subject = rowSubject === undefined ? decoded : rowSubject(decoded)
  budget.startRow()
  const cellOf = ({ cell }: Column<ApiObject>): Cell => {
    budget.startCell()
    try {
      const cellValue = cell(subject, ages, named, budget)
      return typeof cellValue === 'string' && cellValue.length > MAX_CELL_TEXT ? null : cellValue
    } catch (error) {
      if (error === OVER_BUDGET) return null
      throw error
    }
  }
  return { cells: columns.map(cellOf), conditions: rowConditions?.(subject) ?? [] }
}

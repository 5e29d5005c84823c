/** Table columns of custom resources, by JSONPath. */
import type { CustomResourceColumnDefinition } from '../api/apiextensions/customresourcedefinitions.js'
import { isNumber } from '../api/apiextensions/plain-values.js'
import { sortedJson } from '../codec/json/escape.js'
import { CellBudget } from '../cell-budget.js'
import { ageOf, name, type Cell, type Column } from '../columns.js'
import type { Ages } from '../meta/duration.js'
import { parseTime } from '../meta/time.js'
import type { ApiObject } from '../meta/api-object.js'
import { finder } from './json-path.js'

const AGE: CustomResourceColumnDefinition = {
  name: 'Age', type: 'date', description: 'Time of creation.', jsonPath: '.metadata.creationTimestamp'
}

/** Name, then the columns of the definition; without any, the age. */
export function customColumns (
  columns: readonly CustomResourceColumnDefinition[] = []
): ReadonlyArray<Column<ApiObject>> {
  return [name, ...(columns.length === 0 ? [AGE] : columns).map(columnOf)]
}

function columnOf (
  { name, type, format = '', description = '', priority = 0, jsonPath: path }: CustomResourceColumnDefinition
): Column<ApiObject> {
  let find: ReturnType<typeof finder> | undefined
  return {
    name,
    type: type as Column<ApiObject>['type'], // validated
    format,
    description: description === '' ? `Custom resource definition column (in JSONPath format): ${path}` : description,
    priority: priority as 0 | 1, // clients show columns above 0 only in wide tables
    cell: (object, ages, _named, budget = new CellBudget()) => {
      find ??= finder(path)
      return cellOf(type, find(object, budget), ages, budget)
    }
  }
}

function cellOf (type: string, value: unknown, ages: Ages, budget: CellBudget): Cell {
  if (value === undefined || (value === null && type !== 'string')) return null
  switch (type) {
    case 'string':
      budget.spendText(value)
      return value === null ? '<no value>' : typeof value === 'object' ? sortedJson(value) : String(value as Cell)
    case 'integer': return isNumber(value) ? (typeof value === 'bigint' ? value : Math.trunc(value)) : null
    case 'number': return isNumber(value) ? value : null
    case 'boolean': return typeof value === 'boolean' ? value : null
    default: return typeof value !== 'string' ? null : dateOf(value, ages)
  }
}

/** No text is the zero time, whose age is unknown. */
const dateOf = (text: string, ages: Ages): Cell =>
  text !== '' && parseTime(text) === undefined ? '<invalid>' : ageOf(text, ages)

/** Table columns of custom resources, by JSONPath. */
import type { JSONPathQuery } from 'json-p3'
import type * as JsonP3 from 'json-p3'
import type { CustomResourceColumnDefinition } from '../api/apiextensions/customresourcedefinitions.js'
import { isNumber } from '../api/apiextensions/plain-values.js'
import { sortedJson } from '../codec/json/escape.js'
import { ageOf, name } from '../columns.js'
import { parseTime } from '../meta/time.js'
import { onDemand } from '../on-demand.js'
import type { ApiObject, Cell, Column } from '../resource.js'

const jsonPath = onDemand<typeof JsonP3>('json-p3')

const AGE: CustomResourceColumnDefinition = { name: 'Age', type: 'date', description: 'Time of creation.', jsonPath: '.metadata.creationTimestamp' }

/** Name, then the columns of the definition; without any, the age. */
export function customColumns (columns: readonly CustomResourceColumnDefinition[] = []): ReadonlyArray<Column<ApiObject>> {
  return [name, ...(columns.length === 0 ? [AGE] : columns).map(columnOf)]
}

function columnOf ({ name, type, format = '', description = '', priority = 0, jsonPath: path }: CustomResourceColumnDefinition): Column<ApiObject> {
  let find: ((object: ApiObject) => unknown) | undefined
  return {
    name,
    type: type as Column<ApiObject>['type'], // validated
    format,
    description: description === '' ? `Custom resource definition column (in JSONPath format): ${path}` : description,
    priority: priority as 0 | 1, // clients show columns above 0 only in wide tables
    cell: (object, now) => cellOf(type, (find ??= finder(path))(object), now)
  }
}

/** The first value at a path; undefined for an invalid path, as upstream. */
function finder (path: string): (object: ApiObject) => unknown {
  const { JSONPathEnvironment } = jsonPath()
  const environment = new JSONPathEnvironment()
  environment.functionRegister.clear() // they match regular expressions that may backtrack
  let query: JSONPathQuery
  try {
    query = environment.compile(`$${standardPath(path)}`)
  } catch {
    return () => undefined
  }
  return object => query.match(object as never)?.value // a plain object
}

/**
 * Kubernetes' dialect ends names at few characters and escapes dots in them: `.metadata.annotations.example\.com/size`. Quoted in
 * brackets, they are read in the same way. Filters stay as they are.
 */
const standardPath = (path: string): string => path.replace(/\[\?\(.*?\)\]|\['([^']*)'\]|\.((?:[^\\.,[\]$@{}\s]|\\.)+)/g, (part, quoted?: string, name?: string) =>
  quoted !== undefined ? namesIn(quoted).map(quotedName).join('') : name === undefined || PLAIN.test(name) ? part : quotedName(name))

const PLAIN = /^(?:\*|[A-Za-z_][\w-]*)$/
const namesIn = (text: string): readonly string[] => text.match(/(?:[^\\.]|\\.)+/g) ?? []
const quotedName = (name: string): string => `[${JSON.stringify(name.replaceAll('\\', ''))}]`

function cellOf (type: string, value: unknown, now: number): Cell {
  if (value === undefined || (value === null && type !== 'string')) return null
  switch (type) {
    case 'string': return value === null ? '<no value>' : typeof value === 'object' ? sortedJson(value) : String(value as Cell)
    case 'integer': return isNumber(value) ? (typeof value === 'bigint' ? value : Math.trunc(value)) : null
    case 'number': return isNumber(value) ? value : null
    case 'boolean': return typeof value === 'boolean' ? value : null
    default: return typeof value !== 'string' ? null : dateOf(value, now)
  }
}

/** No text is the zero time, whose age is unknown. */
const dateOf = (text: string, now: number): Cell => text !== '' && parseTime(text) === undefined ? '<invalid>' : ageOf(text, now)

/** Validation of selectable fields: simple paths to scalars of the schema, few, distinct, outside metadata. */
import type { Report } from '../../../language/declare.js'
import { duplicate, invalid, required } from '../../../rules/findings.js'
import type { SelectableField } from '../customresourcedefinitions.js'
import { isSchema, type JSONSchemaProps as Schema } from '../schemas.js'

export const SELECTABLE_GATE = 'CustomResourceFieldSelectors'

/** Each costs a value beside every object. */
const MAX_FIELDS = 8
const TYPES: ReadonlySet<unknown> = new Set(['string', 'boolean', 'integer'])

/** @param mayBeMany they were as many before */
export function validateSelectableFields (
  fields: readonly SelectableField[], schema: Schema | undefined, { at, mayBeMany }: { at: string, mayBeMany: boolean },
  report: Report
): void {
  if (fields.length === 0) return
  if (schema === undefined) {
    return invalid(report, at, '', 'need a schema of the version; versions that share one have the same fields')
  }
  const distinct = new Set<string>()
  for (const [index, { jsonPath }] of fields.entries()) {
    const field = `${at}[${index}].jsonPath`
    if (jsonPath === '') {
      required(report, field)
      continue
    }
    const selected = schemaAt(jsonPath, schema)
    if (typeof selected === 'string') {
      invalid(report, field, jsonPath, `is an invalid path: ${selected}`)
      continue
    }
    if (/^\.metadata(?:\.|$)/.test(jsonPath)) {
      invalid(report, field, jsonPath, 'must not point to fields in metadata')
    }
    if (!isSchema(selected) || !TYPES.has(selected.type)) {
      invalid(report, field, jsonPath, 'must point to a field of type string, boolean or integer')
    }
    if (distinct.has(jsonPath)) duplicate(report, field, jsonPath)
    distinct.add(jsonPath)
  }
  if (distinct.size > MAX_FIELDS && !mayBeMany) {
    report({
      type: 'FieldValueTooMany', field: at, value: distinct.size, detail: `must have at most ${MAX_FIELDS} items`
    })
  }
}

/** The schema at a path of properties and map keys, or why there is none. */
function schemaAt (path: string, root: Schema): Schema | boolean | string {
  if (/[[\]]/.test(path)) return 'array notation is not allowed'
  const [before = '', ...names] = path.split('.')
  if (before !== '') return `expected . but got: ${before}`
  let selected: Schema | boolean = root
  for (const name of names) {
    if (name === '') return 'a name is missing'
    const { properties, additionalProperties }: Schema = isSchema(selected) ? selected : {}
    const next: unknown = properties === undefined
      ? additionalProperties
      : Object.hasOwn(properties, name) ? properties[name] : undefined
    if (next === undefined || next === false) return 'does not refer to a valid field'
    selected = isSchema(next) ? next : true
  }
  return selected
}

/** Validation of embedded objects (`x-orch-embedded-resource`): apiVersion, kind and metadata. */
import { DecodeError } from '../../language/decode-error.js'
import { decode } from '../../language/decode.js'
import { collect } from '../../language/validation.js'
import { validateMetadata } from '../../meta/metadata.js'
import { ObjectMeta } from '../../meta/object.js'
import { dns1035Label, pathSegment } from '../../names.js'
import { invalid, required } from '../../rules/findings.js'
import type { FieldError } from '../../status.js'
import type { Report } from '../../language/declare.js'
import { isSchema, type JSONSchemaProps as Schema } from './schemas.js'
import { isObject } from '../../language/values.js'

/**
 * Findings of the objects within a value, and of the value itself if `isOne`. Metadata that cannot be decoded is the
 * only finding.
 */
export function embeddedFindings (
  value: unknown, schema: Schema, at: string, isOne = schema['x-orch-embedded-resource'] === true
): FieldError[] {
  const misread: FieldError[] = []
  const findings = collect(report => { check(value, schema, at, isOne, report, error => misread.push(error)) })
  return misread.length > 0 ? misread.slice(0, 1) : findings
}

function check (
  value: unknown, schema: Schema | undefined, at: string, isOne: boolean, report: Report, misread: Report
): void {
  if (schema === undefined) return
  const inner = (item: unknown, part: unknown, path: string): void => {
    if (isSchema(part)) check(item, part, path, part['x-orch-embedded-resource'] === true, report, misread)
  }
  const below = (name: string): string => at === '' ? name : `${at}.${name}`
  if (Array.isArray(value)) return value.forEach((item, index) => { inner(item, schema.items, `${at}[${index}]`) })
  if (!isObject(value)) return
  if (isOne) checkObject(value, below, report, misread)
  const { properties = {}, additionalProperties } = schema
  for (const [name, item] of Object.entries(value)) {
    if (Object.hasOwn(properties, name)) inner(item, properties[name], below(name))
    else inner(item, additionalProperties, `${at}[${name}]`)
  }
}

function checkObject (
  object: Readonly<Record<string, unknown>>, below: (name: string) => string, report: Report, misread: Report
): void {
  for (const name of ['apiVersion', 'kind'] as const) {
    const text = object[name]
    if (text === undefined) required(report, below(name))
    else if (typeof text !== 'string') invalid(misread, below(name), text, 'must be a string')
    else if (text === '') invalid(report, below(name), text, 'must not be empty')
    else if (name === 'apiVersion') {
      if (text.split('/').length > 2) invalid(report, below(name), text, `unexpected GroupVersion string: ${text}`)
    } else {
      const wrong = dns1035Label(text.toLowerCase())
      if (wrong.length > 0) {
        invalid(report, below(name), text, `may have mixed case, but should otherwise match: ${wrong.join()}`)
      }
    }
  }
  if (Object.hasOwn(object, 'metadata')) checkMetadata(object['metadata'], below('metadata'), report, misread)
}

function checkMetadata (value: unknown, at: string, report: Report, misread: Report): void {
  try {
    const { object: metadata } = decode(ObjectMeta, value)
    const named = {
      ...metadata, name: metadata.name === undefined || metadata.name === '' ? 'fakename' : metadata.name
    }
    const namespaced = metadata.namespace !== undefined && metadata.namespace !== ''
    for (const error of collect(note => {
      validateMetadata({ namespaced, nameRule: pathSegment, anyFinalizer: true }, named, note)
    })) {
      report({ ...error, field: `${at}${error.field.slice('metadata'.length)}` })
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    invalid(misread, at, value, error.message)
  }
}

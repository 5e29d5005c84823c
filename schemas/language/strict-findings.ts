/** Errors of fieldValidation Strict and warnings of Warn, with upstream's messages and order. */
import { decodeText } from '../codec/json/parse.js'
import { inOrderOfText } from '../codec/json/repeated-keys.js'

const unknownFields = (unknown: readonly string[]): string[] =>
  [...unknown].sort().map(path => `unknown field "${path}"`)

/** For patches and custom resources: duplicate fields, then unknown fields by path. */
export function strictFindings (unknown: readonly string[], duplicates: readonly string[]): string[] {
  return [...duplicates.map(path => `duplicate field "${path}"`), ...unknownFields(unknown)]
}

/** For JSON of built-in types: in text order. A field both unknown and duplicate is reported as unknown. */
export function findingsOfJson (body: Uint8Array, unknown: readonly string[], duplicates: readonly string[]): string[] {
  if (unknown.length + duplicates.length < 2) return strictFindings(unknown, duplicates)
  return inOrderOfText(decodeText(body), unknown).map(([finding, path]) => `${finding} field "${path}"`)
}

const YAML_ERRORS = 'yaml: unmarshal errors:\n'

/** For YAML: all duplicate fields are one error. */
export function findingsOfYaml (unknown: readonly string[], lines: readonly string[] = []): string[] {
  return [
    ...lines.length === 0 ? [] : [YAML_ERRORS + lines.map(line => `  ${line}`).join('\n')], ...unknownFields(unknown)
  ]
}

/** The warnings for an error: one per line for YAML. */
export function warningsOf (finding: string): string[] {
  return finding.startsWith(YAML_ERRORS)
    ? finding.slice(YAML_ERRORS.length).split('\n').map(line => line.trimStart())
    : [finding]
}

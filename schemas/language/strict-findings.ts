/** The sentences fieldValidation Strict refuses with and Warn warns with, in the words and in the order clients know from the convention. */
import { decodeText } from '../codec/json/parse.js'
import { inOrderOfText } from '../codec/json/repeated-keys.js'

const unknownFields = (unknown: readonly string[]): string[] => [...unknown].sort().map(path => `unknown field "${path}"`)

/** Of what is read into maps first, as patches and objects of types that are defined at run time are: duplicates, then unknown fields by their paths. */
export function strictFindings (unknown: readonly string[], duplicates: readonly string[]): string[] {
  return [...duplicates.map(path => `duplicate field "${path}"`), ...unknownFields(unknown)]
}

/** Of JSON that is read straight into an object: as they stand in the text. What is unknown and a duplicate is unknown. */
export function findingsOfJson (body: Uint8Array, unknown: readonly string[], duplicates: readonly string[]): string[] {
  if (unknown.length + duplicates.length < 2) return strictFindings(unknown, duplicates)
  return inOrderOfText(decodeText(body), unknown).map(([finding, path]) => `${finding} field "${path}"`)
}

const YAML_ERRORS = 'yaml: unmarshal errors:\n'

/** Of YAML: its lines are one finding. */
export function findingsOfYaml (unknown: readonly string[], lines: readonly string[] = []): string[] {
  return [...lines.length === 0 ? [] : [YAML_ERRORS + lines.map(line => `  ${line}`).join('\n')], ...unknownFields(unknown)]
}

/** What a finding warns of: each line of YAML for itself. */
export function warningsOf (finding: string): string[] {
  return finding.startsWith(YAML_ERRORS) ? finding.slice(YAML_ERRORS.length).split('\n').map(line => line.trimStart()) : [finding]
}

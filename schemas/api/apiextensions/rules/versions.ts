/** Validation of a version besides its schema: warning, subresources and columns. */
import type { Report } from '../../../language/declare.js'
import { invalid, required } from '../../../rules/findings.js'
import type {
  CustomResourceColumnDefinition, CustomResourceSubresourceScale, CustomResourceSubresources
} from '../customresourcedefinitions.js'

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const MAX_WARNING = 256
/** Printable are letters, marks, numbers, punctuation, symbols and the ASCII space. */
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u

/** Every response of the version has the warning in a header. */
export function validateWarning (deprecated: boolean, warning: string | undefined, at: string, report: Report): void {
  if (warning === undefined) return
  if (!deprecated) return invalid(report, at, warning, 'can only be set for deprecated versions')
  if (Buffer.byteLength(warning) > MAX_WARNING) {
    invalid(report, at, warning, `must be <= ${MAX_WARNING} characters long`)
  }
  if (warning === '') invalid(report, at, warning, 'must not be an empty string')
  const odd = warning.search(UNPRINTABLE)
  if (odd < 0) return
  const index = Buffer.byteLength(warning.slice(0, odd))
  invalid(
    report, at, warning, `must only contain printable UTF-8 characters; non-printable character found at index ${index}`
  )
}

export function validateSubresources (
  subresources: CustomResourceSubresources | undefined, at: string, report: Report
): void {
  const scale = subresources?.scale
  if (scale !== undefined) validateScale(scale, `${at}.scale`, report)
}

function validateScale (
  { specReplicasPath, statusReplicasPath, labelSelectorPath = '' }: CustomResourceSubresourceScale, at: string,
  report: Report
): void {
  validateBelow(specReplicasPath, ['.spec.'], 'should be a json path under .spec', `${at}.specReplicasPath`, report)
  validateBelow(
    statusReplicasPath, ['.status.'], 'should be a json path under .status', `${at}.statusReplicasPath`, report
  )
  if (labelSelectorPath === '') return
  validateBelow(
    labelSelectorPath, ['.spec.', '.status.'], 'should be a json path under either .spec or .status',
    `${at}.labelSelectorPath`, report
  )
}

function validateBelow (path: string, places: readonly string[], detail: string, at: string, report: Report): void {
  if (validatePath(path, at, report) && !places.some(place => path.startsWith(place))) invalid(report, at, path, detail)
}

/** As upstream, only the leading dot is validated. @returns whether the path is valid */
function validatePath (path: string, at: string, report: Report): boolean {
  if (path === '') required(report, at)
  else if (!path.startsWith('.')) invalid(report, at, path, 'must be a simple json path starting with .')
  else return true
  return false
}

type ColumnDefinition = CustomResourceColumnDefinition

export function validateColumns (columns: readonly ColumnDefinition[], most: number, at: string, report: Report): void {
  const detail = `must have at most ${most} items`
  if (columns.length > most) report({ type: 'FieldValueTooMany', field: at, value: columns.length, detail })
  else for (const [index, column] of columns.entries()) validateColumn(column, `${at}[${index}]`, report)
}

/** Upstream's path of jsonPath is `JSONPath`, its name in v1beta1. */
function validateColumn ({ name, type, format = '', jsonPath }: ColumnDefinition, at: string, report: Report): void {
  if (name === '') required(report, `${at}.name`)
  const types = `must be one of ${COLUMN_TYPES.join()}`
  if (type === '') required(report, `${at}.type`, types)
  else if (!COLUMN_TYPES.includes(type)) invalid(report, `${at}.type`, type, types)
  if (format !== '' && !COLUMN_FORMATS.includes(format)) {
    invalid(report, `${at}.format`, format, `must be one of ${COLUMN_FORMATS.join()}`)
  }
  validatePath(jsonPath, `${at}.JSONPath`, report)
}

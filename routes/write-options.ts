/** Query parameters of writes, which the convention knows as fields of their options. */
import { invalid } from '../schemas/status.js'
import type { FieldError } from '../schemas/status.js'
import { bool, text } from './query.js'

/** Parameters of a write are fields of its options: those of its method. */
function refuseOption (method: string, error: FieldError): never {
  throw invalid({ group: 'meta.orch.io', kind: OPTIONS[method] ?? 'CreateOptions' }, '', [error])
}

const OPTIONS: Readonly<Record<string, string>> = { PUT: 'UpdateOptions', PATCH: 'PatchOptions' }
const VALIDATIONS = ['Ignore', 'Warn', 'Strict'] as const
export type FieldValidation = typeof VALIDATIONS[number]

/** @throws StatusError 422 */
export function fieldValidation (query: URLSearchParams, method: string): FieldValidation {
  const value = query.get('fieldValidation') ?? ''
  if (value === '') return 'Warn'
  return VALIDATIONS.find(one => one === value) ?? refuseOption(method, { type: 'FieldValueNotSupported', field: 'fieldValidation', value, detail: `supported values: ${['', ...VALIDATIONS].sort().map(one => JSON.stringify(one)).join(', ')}` })
}

const MOST_MANAGER = 128
// eslint-disable-next-line no-control-regex -- unprintable characters are what is looked for
const UNPRINTABLE = /[\x00-\x1f\x7f]/

/** @throws StatusError 422 */
export function checkFieldManager (query: URLSearchParams, method: string): void {
  const manager = query.get('fieldManager') ?? ''
  if (Buffer.byteLength(manager) > MOST_MANAGER) refuseOption(method, { type: 'FieldValueTooLong', field: 'fieldManager', detail: `must have at most ${MOST_MANAGER} bytes` })
  const found = UNPRINTABLE.exec(manager)
  if (found === null) return
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  refuseOption(method, { type: 'FieldValueInvalid', field: 'fieldManager', value: manager, detail: `invalid character U+${code} (at position ${Buffer.byteLength(manager.slice(0, found.index))})` })
}

/** Of a patch that applies nothing. @throws StatusError 400, 422 */
export function refuseForce (query: URLSearchParams): void {
  if (bool(query, 'force')) refuseOption('PATCH', { type: 'FieldValueForbidden', field: 'force', detail: 'may not be specified for non-apply patch' })
}

/** Who makes the change: as they say, or by the name of their program. */
export function fieldManager (query: URLSearchParams, userAgent = ''): string {
  const manager = text(query, 'fieldManager')
  if (manager !== '') return manager
  const end = userAgent.indexOf('/')
  const program = end === -1 ? userAgent : userAgent.slice(0, end)
  return [...program].filter(letter => !UNPRINTABLE.test(letter)).join('').slice(0, MOST_MANAGER)
}

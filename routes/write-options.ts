/** Query parameters of writes. */
import type { VerbRequest } from '../answers/answer.js'
import { managerOf, validateFieldManager } from '../schemas/meta/field-manager.js'
import { invalid, type FieldError } from '../schemas/status.js'
import { text } from './query.js'

/** Upstream reports them as fields of the options object of the method. */
function refuseOption (method: string, ...errors: readonly FieldError[]): never {
  throw invalid({ group: 'meta.orch.io', kind: OPTIONS[method] ?? 'CreateOptions' }, '', errors)
}

const OPTIONS: Readonly<Record<string, string>> = { PUT: 'UpdateOptions', PATCH: 'PatchOptions' }
const VALIDATIONS = ['Ignore', 'Warn', 'Strict'] as const
export type FieldValidation = typeof VALIDATIONS[number]

/** @throws StatusError 422 */
export function fieldValidation ({ method, orch: { query }, server }: VerbRequest): FieldValidation {
  const value = query.get('fieldValidation') ?? ''
  const isOn = server.orchSettings.featureGates.enabled('ServerSideFieldValidation')
  if (value === '') return isOn ? 'Warn' : 'Ignore'
  const known = VALIDATIONS.find(candidate => candidate === value) ?? refuseOption(method, {
    type: 'FieldValueNotSupported', field: 'fieldValidation', value,
    detail: `supported values: ${['', ...VALIDATIONS].sort().map(choice => JSON.stringify(choice)).join(', ')}`
  })
  return isOn ? known : 'Ignore'
}

/** @throws StatusError 422 */
export function checkFieldManager ({ method, orch: { query }, server }: VerbRequest): void {
  const findings: FieldError[] = []
  const report = (finding: FieldError): void => { findings.push(finding) }
  validateFieldManager(
    query.get('fieldManager') ?? '', 'fieldManager',
    Object.assign(report, { gates: server.orchSettings.featureGates })
  )
  if (findings.length > 0) refuseOption(method, ...findings)
}

/** Refuses `force`, whatever it says, on patches other than apply. @throws StatusError 422 */
export function refuseForce (query: URLSearchParams): void {
  if (query.has('force')) {
    refuseOption('PATCH', {
      type: 'FieldValueForbidden', field: 'force', detail: 'may not be specified for non-apply patch'
    })
  }
}

/** Owns the changes of clients that name neither a manager nor, in their user agent, a program. */
const UNKNOWN_MANAGER = 'unknown'

/** The field manager: as requested, else the program name in the user agent. */
export function fieldManager (query: URLSearchParams, userAgent = ''): string {
  const manager = text(query, 'fieldManager')
  if (manager !== '') return manager
  const end = userAgent.indexOf('/')
  const program = end === -1 ? userAgent : userAgent.slice(0, end)
  return managerOf(Buffer.from(program, 'latin1').toString()) || UNKNOWN_MANAGER // Node decodes header bytes as latin1
}

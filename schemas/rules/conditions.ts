/** Validation of `metav1.Condition` lists. */
import type { Report } from '../language/types.js'
import { formed, qualifiedName } from '../names.js'
import { duplicate, invalid, checkName, notSupported, required, tooLong } from './findings.js'

const STATES = ['False', 'True', 'Unknown']
const REASON_FORM = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'
const REASON = new RegExp(`^${REASON_FORM}$`)
const REASON_WORDS = formed(
  'a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric ' +
    "characters or '_,:', and must end with an alphanumeric character or '_'",
  REASON_FORM, 'my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'
)
const MAX_REASON = 1024
const MAX_MESSAGE = 32768

interface Condition {
  readonly type: string
  readonly status: string
  readonly observedGeneration?: number | bigint | undefined
  readonly lastTransitionTime?: string | undefined
  readonly reason: string
  readonly message: string
}

export function validateConditions (conditions: readonly Condition[], at: string, report: Report): void {
  const types = new Set<string>()
  for (const [index, { type, status, observedGeneration, lastTransitionTime, reason, message }] of conditions
    .entries()) {
    const field = `${at}[${index}]`
    if (types.has(type)) duplicate(report, `${field}.type`, type)
    types.add(type)
    checkName(report, `${field}.type`, type, qualifiedName)
    if (!STATES.includes(status)) notSupported(report, `${field}.status`, status, STATES)
    if (observedGeneration !== undefined && observedGeneration < 0) {
      invalid(report, `${field}.observedGeneration`, observedGeneration, 'must be greater than or equal to zero')
    }
    if (lastTransitionTime === undefined) required(report, `${field}.lastTransitionTime`, 'must be set')
    if (reason === '') required(report, `${field}.reason`, 'must be set')
    else if (!REASON.test(reason)) invalid(report, `${field}.reason`, reason, REASON_WORDS)
    if (Buffer.byteLength(reason) > MAX_REASON) tooLong(report, `${field}.reason`, MAX_REASON)
    if (Buffer.byteLength(message) > MAX_MESSAGE) tooLong(report, `${field}.message`, MAX_MESSAGE)
  }
}

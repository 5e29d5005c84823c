/** Conditions of the shared form, as status carries them. */
import type { Report } from '../language/types.js'
import { qualifiedName } from '../names.js'
import { duplicate, invalid, named, nonnegative, notSupported, required, tooLong } from './findings.js'

const STATES = ['False', 'True', 'Unknown']
const REASON = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/
const MOST_REASON = 1024
const MOST_MESSAGE = 32768

interface Condition {
  readonly type: string
  readonly status: string
  readonly observedGeneration?: number | bigint | undefined
  readonly lastTransitionTime?: string | undefined
  readonly reason: string
  readonly message: string
}

export function validateConditions (conditions: readonly Condition[], at: string, report: Report): void {
  for (const [index, { type, status, observedGeneration, lastTransitionTime, reason, message }] of conditions.entries()) {
    const field = `${at}[${index}]`
    named(report, `${field}.type`, type, qualifiedName)
    if (conditions.findIndex(one => one.type === type) < index) duplicate(report, `${field}.type`, type)
    if (!STATES.includes(status)) notSupported(report, `${field}.status`, status, STATES)
    nonnegative(report, `${field}.observedGeneration`, observedGeneration)
    if (lastTransitionTime === undefined) required(report, `${field}.lastTransitionTime`, 'must be set')
    if (reason === '') required(report, `${field}.reason`, 'must be set')
    else if (!REASON.test(reason)) invalid(report, `${field}.reason`, reason, 'must be a word of letters and digits, without blanks')
    if (reason.length > MOST_REASON) tooLong(report, `${field}.reason`, MOST_REASON)
    if (message.length > MOST_MESSAGE) tooLong(report, `${field}.message`, MOST_MESSAGE)
  }
}

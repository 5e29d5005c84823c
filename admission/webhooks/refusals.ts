/** Statuses of requests that webhooks refuse or whose calls fail, in upstream's words. */
import type { AdmissionResponse } from '../../schemas/api/admission/v1.js'
import { isDecodeError } from '../../schemas/language/decode-error.js'
import { StatusError, badRequest, isStatusError, type StatusReason } from '../../schemas/status.js'
import { withoutValue } from './target.js'

const MAX_TEXT = 4000
const MAX_CAUSES = 100

/** A refusal by the webhook, with its code, reason and details. Codes that are not errors become 400. */
export function denied (hook: string, status: AdmissionResponse['status']): StatusError {
  const { code = 0, reason = '', message = '', details } = status ?? {}
  const why = message !== '' ? `: ${message}` : reason !== '' ? `: ${reason}` : ' without explanation'
  const refusal = new StatusError('BadRequest', `admission webhook ${JSON.stringify(hook)} denied the request${why}`, {
    code: code < 400 ? 400 : code > 599 ? 500 : code
  })
  const answer = refusal.status
  if (reason === '') delete answer.reason
  else answer.reason = reason.slice(0, MAX_TEXT) as StatusReason // any text is valid
  if (details === undefined) return refusal
  const { name, group, kind, uid, causes = [], retryAfterSeconds } = details
  answer.details = {
    ...texts({ name, group, kind, uid }),
    ...(causes.length === 0
      ? {}
      : { causes: causes.slice(0, MAX_CAUSES).map(({ reason, message, field }) => texts({ reason, message, field })) }),
    ...(retryAfterSeconds === undefined || retryAfterSeconds <= 0 ? {} : { retryAfterSeconds })
  }
  if (answer.details.retryAfterSeconds !== undefined) {
    refusal.headers['retry-after'] = String(answer.details.retryAfterSeconds)
  }
  return refusal
}

const texts = (fields: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined &&
    field[1] !== '').map(([name, text]) => [name, text.slice(0, MAX_TEXT)]))

export const dryRunUnsupported = (hook: string): StatusError =>
  badRequest(`admission webhook ${JSON.stringify(hook)} does not support dry run`)

/** A 500. @param message without the common prefix */
export const internal = (message: string, cause?: unknown): StatusError =>
  new StatusError('InternalError', `Internal error occurred: ${message}`, {
    cause, details: { causes: [{ message: message.slice(0, MAX_TEXT) }] }
  })

/** Whatever the failure policy, as upstream. @throws StatusError 500 for an error of a conversion between versions */
export function unconverted (error: unknown): never {
  if (isStatusError(error)) throw internal(error.message, error)
  // Logged without the value, which may be a secret.
  if (isDecodeError(error)) throw internal(error.message, new Error(withoutValue(error)))
  throw error
}

export const timedOut = (): StatusError =>
  new StatusError('Timeout', 'Timeout: request did not complete within requested timeout')

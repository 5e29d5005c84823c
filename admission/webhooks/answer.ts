/** Reads webhook responses, strictly and by the rules of the version of the review. */
import { AdmissionReview, API_VERSION, type AdmissionResponse } from '../../schemas/api/admission/v1.js'
import { parseInSteps } from '../../schemas/codec/json/parse.js'
import { isDecodeError } from '../../schemas/language/decode-error.js'
import { decode } from '../../schemas/language/decode.js'
import type { Steps } from '../../schemas/steps.js'
import { CallFailure, HookFailure, withoutValue } from './target.js'
import type { ReviewVersion } from './hook.js'
import { GROUP } from './review.js'

export interface HookPatch { readonly text: string, readonly type: string }

export interface Verdict {
  readonly allowed: boolean
  /** The reason of a refusal. */
  readonly status: AdmissionResponse['status']
  /** The patch text and its declared type; undefined for none. */
  readonly patch: HookPatch | undefined
  readonly annotations: Readonly<Record<string, string>>
  readonly warnings: readonly string[]
}

/** The response is not a review. */
const invalidResponse = (why: string, clientWhy = why): HookFailure => new CallFailure(why, 503, { clientWhy })
/** The response is a review, but invalid. */
const invalidReview = (why: string): HookFailure => new HookFailure(`received invalid webhook response: ${why}`, 503)

/**
 * @param version of the review that was sent
 * @throws HookFailure
 */
export function * readAnswer (
  body: Uint8Array, version: ReviewVersion, uid: string, mutating: boolean
): Steps<Verdict> {
  const { value, kind, apiVersion } = yield * parseReview(body)
  yield
  const expected = `${GROUP}/${version}`
  if (kind !== '' && (kind !== 'AdmissionReview' || !apiVersion.startsWith(`${GROUP}/`))) {
    throw invalidResponse(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
      'it answered something else than a review'
    )
  }
  if (kind !== '' && apiVersion !== expected) {
    throw invalidResponse(
      `expected an AdmissionReview of ${expected}, got one of ${apiVersion}`, 'it answered in another version'
    )
  }
  const response = decodeResponse(value)
  yield
  if (response === undefined) throw invalidReview('webhook response was absent')
  if (version === 'v1') {
    if (response.uid !== uid) {
      throw invalidReview(
        `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid.slice(0, MAX_QUOTED))}`
      )
    }
    if (kind === '' || apiVersion === '') {
      throw invalidReview(
        `expected an AdmissionReview of ${expected}, got ${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)}`
      )
    }
    checkPatch(response, mutating)
  }
  const { allowed, status, patch = '', auditAnnotations = {}, warnings = [] } = response
  const type = version === 'v1' ? response.patchType ?? '' : JSON_PATCH // before v1 it was the only type
  return {
    allowed, status, patch: mutating && patch !== ''
      ? { text: Buffer.from(patch, 'base64').toString(), type }
      : undefined, annotations: auditAnnotations, warnings
  }
}

function * parseReview (
  body: Uint8Array
): Steps<{ value: Record<string, unknown>, kind: string, apiVersion: string }> {
  let value: unknown
  try {
    value = (yield * parseInSteps(body)).value
  } catch (cause) {
    throw invalidResponse(
      `couldn't get version/kind; json parse error: ${cause instanceof Error ? cause.message : String(cause)}`
    )
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidResponse("couldn't get version/kind; json parse error: it is not an object")
  }
  const fields = value as Record<string, unknown>
  const { kind = '', apiVersion = '' } = fields
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') {
    throw invalidResponse("couldn't get version/kind; json parse error: kind and apiVersion are text")
  }
  return { value: fields, kind: kind.slice(0, MAX_QUOTED), apiVersion: apiVersion.slice(0, MAX_QUOTED) }
}

const MAX_QUOTED = 200
export const JSON_PATCH = 'JSONPatch'

/** The response has the same fields in both versions. */
function decodeResponse (value: Record<string, unknown>): AdmissionResponse | undefined {
  try {
    return decode(AdmissionReview, {
      kind: 'AdmissionReview', apiVersion: API_VERSION, response: value['response']
    }).object.response
  } catch (cause) {
    if (!isDecodeError(cause)) throw cause
    throw invalidResponse(cause.message, withoutValue(cause))
  }
}

/** Rules of v1; earlier versions have none. @throws HookFailure */
function checkPatch ({ patch = '', patchType }: AdmissionResponse, mutating: boolean): void {
  const [hasPatch, hasType] = [patch !== '', patchType !== undefined]
  if (!mutating) {
    if (hasPatch) throw invalidReview('validating webhook may not return response.patch')
    if (hasType) throw invalidReview('validating webhook may not return response.patchType')
    return
  }
  if (hasPatch && !hasType) throw invalidReview('webhook returned response.patch but not response.patchType')
  if (!hasPatch && hasType) throw invalidReview('webhook returned response.patchType but not response.patch')
  if (patchType === '') throw invalidReview('webhook returned invalid response.patchType of ""')
}

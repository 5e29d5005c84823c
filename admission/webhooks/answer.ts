/** What a webhook answers: read strictly, as it comes from elsewhere, and by the rules of the version it was asked in. */
import { AdmissionReview, API_VERSION } from '../../schemas/api/admission/v1.js'
import type { AdmissionResponse } from '../../schemas/api/admission/v1.js'
import { decode, isDecodeError, parseJson } from '../../schemas/index.js'
import { HookFailure, withoutValue } from './target.js'
import type { ReviewVersion } from './hook.js'
import { GROUP } from './review.js'

export interface HookPatch { readonly text: string, readonly type: string }

export interface Verdict {
  readonly allowed: boolean
  /** Of a refusal: why. */
  readonly status: AdmissionResponse['status']
  /** As text, and of what type it says it is; undefined for none. */
  readonly patch: HookPatch | undefined
  readonly annotations: Readonly<Record<string, string>>
  readonly warnings: readonly string[]
}

/** What was answered is no review. */
const noReview = (why: string, told = why): HookFailure => new HookFailure(`failed to call webhook: ${why}`, 503, { clientMessage: `failed to call webhook: ${told}` })
/** It is one, and not of what was asked. */
const badReview = (why: string): HookFailure => new HookFailure(`received invalid webhook response: ${why}`, 503)

/**
 * @param version that it was asked in
 * @throws HookFailure
 */
export function readAnswer (body: Uint8Array, version: ReviewVersion, uid: string, mutating: boolean): Verdict {
  const { value, kind, apiVersion } = parsed(body)
  const asked = `${GROUP}/${version}`
  if (kind !== '' && (kind !== 'AdmissionReview' || !apiVersion.startsWith(`${GROUP}/`))) throw noReview(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`, 'it answered something else than a review')
  if (kind !== '' && apiVersion !== asked) throw noReview(`expected an AdmissionReview of ${asked}, got one of ${apiVersion}`, 'it answered in another version')
  const response = decoded(value)
  if (response === undefined) throw badReview('webhook response was absent')
  if (version === 'v1') {
    if (response.uid !== uid) throw badReview(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid.slice(0, MOST_SHOWN))}`)
    if (kind === '' || apiVersion === '') throw badReview(`expected an AdmissionReview of ${asked}, got ${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)}`)
    checkPatch(response, mutating)
  }
  const { allowed, status, patch = '', auditAnnotations = {}, warnings = [] } = response
  const type = version === 'v1' ? response.patchType ?? '' : JSON_PATCH // before v1 there was no other
  return { allowed, status, patch: mutating && patch !== '' ? { text: Buffer.from(patch, 'base64').toString(), type } : undefined, annotations: auditAnnotations, warnings }
}

function parsed (body: Uint8Array): { value: Record<string, unknown>, kind: string, apiVersion: string } {
  let value: unknown
  try {
    value = parseJson(body).value
  } catch (cause) {
    throw noReview(`couldn't get version/kind; json parse error: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw noReview("couldn't get version/kind; json parse error: it is not an object")
  const fields = value as Record<string, unknown>
  const { kind = '', apiVersion = '' } = fields
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') throw noReview("couldn't get version/kind; json parse error: kind and apiVersion are text")
  return { value: fields, kind: kind.slice(0, MOST_SHOWN), apiVersion: apiVersion.slice(0, MOST_SHOWN) }
}

const MOST_SHOWN = 200
export const JSON_PATCH = 'JSONPatch'

/** The response of both versions has the same fields. */
function decoded (value: Record<string, unknown>): AdmissionResponse | undefined {
  try {
    return decode(AdmissionReview, { kind: 'AdmissionReview', apiVersion: API_VERSION, response: value['response'] }).object.response
  } catch (cause) {
    if (!isDecodeError(cause)) throw cause
    throw noReview(cause.message, withoutValue(cause))
  }
}

/** As of v1; before it, patches were taken as they came. @throws HookFailure */
function checkPatch ({ patch = '', patchType }: AdmissionResponse, mutating: boolean): void {
  const [hasPatch, hasType] = [patch !== '', patchType !== undefined]
  if (!mutating) {
    if (hasPatch) throw badReview('validating webhook may not return response.patch')
    if (hasType) throw badReview('validating webhook may not return response.patchType')
    return
  }
  if (hasPatch && !hasType) throw badReview('webhook returned response.patch but not response.patchType')
  if (!hasPatch && hasType) throw badReview('webhook returned response.patchType but not response.patch')
  if (patchType === '') throw badReview('webhook returned invalid response.patchType of ""')
}

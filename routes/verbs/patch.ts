/** PATCH of an object: decodes the patch and runs the operation. An apply patch is in `apply.ts`. */
import { stringify } from '../../schemas/codec/json/exact.js'
import type { Message } from '../../schemas/language/declare.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { isDecodeError } from '../../schemas/language/decode-error.js'
import { decode } from '../../schemas/language/decode.js'
import { findingsOfJson, strictFindings } from '../../schemas/language/strict-findings.js'
import {
  patchTypesOf, JSON_PATCH_TYPE, STRATEGIC_MERGE_PATCH_TYPE, APPLY_TYPE, type PatchType
} from '../../schemas/media-types.js'
import { invalid, unsupportedMediaType, badRequest, type StatusError } from '../../schemas/status.js'
import { entryAnswer, type Verb, type VerbRequest } from '../../answers/answer.js'
import { viewOf } from '../../answers/view.js'
import { reportTooLarge } from '../../registry/stages/object-limits.js'
import { patch, patched, type PatchRequest } from '../../registry/verbs/patch.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { clone } from '../../schemas/language/values.js'
import type { Steps } from '../../schemas/steps.js'
import { applyFieldValidation, bodyOf, contentType, parseBody, recordSentValue, type RequestBody } from '../body.js'
import { keepsNamedType } from '../named-types.js'
import { checkFieldManager, fieldValidation, refuseForce } from '../write-options.js'
import { contextOf, targetOf } from './write.js'

/** @throws StatusError 415 */
function patchType (request: VerbRequest, store: ResourceStore): PatchType {
  const type = contentType(request)
  const types = patchTypesOf(store.representation)
  const known = types.find(candidate => candidate === type)
  if (known !== undefined) return known
  const why = type === STRATEGIC_MERGE_PATCH_TYPE
    ? `${type} is not for ${store.representation.plural}, a type defined at run time, which does not say how its ` +
      'lists are merged'
    : 'the body of the request was in an unknown format'
  const accepted = [...types, APPLY_TYPE].join(', ')
  throw unsupportedMediaType(`${why} - accepted media types include: ${accepted}`, { 'accept-patch': accepted })
}

const MAX_QUOTED = 2000

/** Decodes a patched object. @throws StatusError 422 if it does not match its type */
function decodePatched<T> (patched: unknown, decodeAs: (value: unknown) => T): T {
  try {
    return decodeAs(patched)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw invalidPatch(patched, error.message)
  }
}

/** A 422 in upstream's form for patches. */
const invalidPatch = (patched: unknown, detail: string): StatusError =>
  invalid({ group: '', kind: '' }, '', [
    { type: 'FieldValueInvalid', field: 'patch', value: String(stringify(patched)).slice(0, MAX_QUOTED), detail }
  ])

/**
 * Parses the patch of a request. Unknown fields, of the patch and of the patched object, are treated as fieldValidation
 * requires.
 * @param own what it changes
 * @throws StatusError 400, 415
 */
export function * patchOf (
  request: VerbRequest, store: ResourceStore, own: Message<ApiObject> = store.representation.message
): Steps<PatchRequest> {
  const { query } = request.orch
  const type = patchType(request, store) // first, as options are those of a known type
  checkFieldManager(request)
  refuseForce(query)
  const validation = fieldValidation(request)
  const body = bodyOf(request)
  if (body.length === 0) throw badRequest('the request body is empty; a patch is needed')
  const { value, duplicates } = parseBody(body)
  yield
  const view = viewOf(request.orch)
  const message = view.message(own)
  // A JSON patch has names in its paths too, and is recorded as it was sent.
  const isLikeObject = view.renames && type !== JSON_PATCH_TYPE
  recordSentValue(request, () => isLikeObject ? view.value(own, clone(value)) : value)
  yield
  const patchFindings = validation === 'Ignore' ? [] : findingsOf(type, body, value, duplicates)
  const { apply, members } = patched(type, message, value)
  return {
    members,
    apply: function * (copy) {
      const shown = view.shown(own, copy)
      yield
      return yield * apply(shown)
    },
    decode: patched => {
      view.value(own, patched)
      if (!keepsNamedType(own, patched)) throw invalidPatch(patched, 'the kind is missing')
      const { object, unknown } = decodePatched(patched, value => reportTooLarge(() => decode(message, value)))
      applyFieldValidation(request, validation, [...patchFindings, ...strictFindings(unknown, [])], why =>
        invalidPatch(patched, `strict decoding error: ${why}`))
      return object
    }
  }
}

const OPERATION_MEMBERS: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value'])

function findingsOf (
  type: PatchType, body: RequestBody, value: unknown, duplicates: readonly string[]
): string[] {
  if (type !== JSON_PATCH_TYPE) return strictFindings([], duplicates)
  const operations: unknown[] = Array.isArray(value) ? value : []
  const unknown = operations.flatMap((operation, at) => typeof operation !== 'object' || operation === null
    ? []
    : Object.keys(operation).filter(name => !OPERATION_MEMBERS.has(name)).map(name => `[${at}].${name}`))
  const findings = body instanceof Uint8Array
    ? findingsOfJson(body, unknown, duplicates)
    : strictFindings(unknown, duplicates)
  return findings.map(finding => `json patch ${finding}`)
}

export function patchVerb (store: ResourceStore): Verb {
  return async request => {
    const { entry } = await patch(store, () => patchOf(request, store), targetOf(request), contextOf(request))
    return entryAnswer(request, store, entry)
  }
}

/** POST, PUT and PATCH: decodes the body and runs the operation. */
import { stringify } from '../../schemas/codec/json/exact.js'
import type { Message } from '../../schemas/language/declare.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { isDecodeError } from '../../schemas/language/decode-error.js'
import { decode } from '../../schemas/language/decode.js'
import { findingsOfJson, strictFindings } from '../../schemas/language/strict-findings.js'
import {
  patchTypesOf, JSON_PATCH_TYPE, PROTOBUF_TYPE, STRATEGIC_MERGE_PATCH_TYPE, YAML_TYPE, APPLY_TYPE, type PatchType
} from '../../schemas/media-types.js'
import { refusal, undecided } from '../../auth/refusal.js'
import { invalid, unsupportedMediaType, badRequest, internalError, type StatusError } from '../../schemas/status.js'
import { entryAnswer, GivenBody, type Verb, type VerbRequest } from '../../answers/answer.js'
import type { Target, WriteContext } from '../../registry/write-context.js'
import type { Sent } from '../../registry/stages/given.js'
import { create } from '../../registry/verbs/create.js'
import { reportTooLarge } from '../../registry/stages/object-limits.js'
import { patch, patched, type PatchRequest } from '../../registry/verbs/patch.js'
import { update } from '../../registry/verbs/update.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { mayBeMisnamed, misnamedWarnings } from '../../schemas/compat/findings.js'
import { clone } from '../../schemas/language/values.js'
import type { Steps } from '../../schemas/steps.js'
import {
  applyFieldValidation, bodyOf, contentType, decodeBody, parseBody, recordValue, type RequestBody
} from '../body.js'
import { mayAlso } from '../other-rights.js'
import { checkFieldManager, fieldManager, fieldValidation, refuseForce } from '../write-options.js'

/** Parameters that admission receives as options. */
const NO_OPTIONS = Object.freeze({})
const OPTIONS: ReadonlySet<string> = new Set([
  'dryRun', 'fieldManager', 'fieldValidation', 'force', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'
])

/** Media types whose objects may be far larger than their bodies. */
const GROWING_TYPES: ReadonlySet<string> = new Set([YAML_TYPE, APPLY_TYPE, JSON_PATCH_TYPE])

/** What a request asks of its write; who asks is the request's own context, which is passed through. */
export function contextOf (request: VerbRequest): WriteContext {
  const { orch } = request
  return {
    caller: orch,
    verb: orch.info.verb,
    fieldManager: fieldManager(orch.query, request.headers['user-agent']),
    size: bodyOf(request).length,
    mayGrow: GROWING_TYPES.has(contentType(request)),
    mayCreate: () => mayCreate(request),
    mayGet: of => mayAlso(request, { verb: 'get', ...of }),
    options: orch.query.size === 0
      ? NO_OPTIONS
      : Object.fromEntries([...orch.query].filter(([name]) => OPTIONS.has(name))),
    unknown: paths => {
      if (contentType(request) === PROTOBUF_TYPE) return
      applyFieldValidation(request, fieldValidation(request), strictFindings(paths, []), why =>
        badRequest(`strict decoding error: ${why}`))
    },
    ...validationOf(request)
  }
}

/** Names that have no effect are refused where clients use public names, and warned of elsewhere. */
function validationOf (request: VerbRequest): Pick<WriteContext, 'validate'> {
  const { naming: { findings }, warnings } = request.orch
  if (findings !== undefined) return { validate: findings }
  const body = bodyOf(request)
  if (!(body instanceof GivenBody ? body.mayBeMisnamed : mayBeMisnamed(body))) return {}
  return {
    validate: (object, old) => {
      for (const text of misnamedWarnings(object, old)) {
        if (!warnings.includes(text)) warnings.push(text) // an attempt may be repeated
      }
      return []
    }
  }
}

/** @throws StatusError 403, 500 */
async function mayCreate ({ isOwn, server, orch: { user, info } }: VerbRequest): Promise<void> {
  if (isOwn === true) return
  if (user === undefined) throw internalError(new Error('nobody asks to create'))
  const attributes = { user, info: { ...info, verb: 'create' } }
  const { decision, reason = '', evaluationError } = await server.orchAuthorization.authorizer.authorize(attributes)
  if (decision === 'Allow') return
  const isUndecided = decision === 'NoOpinion' && evaluationError !== undefined
  throw isUndecided ? undecided(evaluationError) : refusal(attributes, reason)
}

export function targetOf (request: VerbRequest): Target {
  const { namespace, name, subresource } = request.orch.info
  return { namespace, name, subresource }
}

const sentBy = (request: VerbRequest, { representation: { message } }: ResourceStore): Sent<ApiObject> => {
  const validation = fieldValidation(request)
  return () => decodeBody(request, message, validation)
}

export function createVerb (store: ResourceStore): Verb {
  return async request => {
    checkFieldManager(request)
    const sent = sentBy(request, store)
    const entry = await create(store, sent, { ...targetOf(request), name: '' }, contextOf(request))
    return entryAnswer(request, store, entry, 201)
  }
}

export function updateVerb (store: ResourceStore): Verb {
  return async request => {
    checkFieldManager(request)
    const { entry, created } = await update(store, sentBy(request, store), targetOf(request), contextOf(request))
    return entryAnswer(request, store, entry, created ? 201 : 200)
  }
}

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
  checkFieldManager(request)
  refuseForce(query)
  const type = patchType(request, store)
  const validation = fieldValidation(request)
  const body = bodyOf(request)
  if (body.length === 0) throw badRequest('the request body is empty; a patch is needed')
  const { value, duplicates } = parseBody(body)
  yield
  const { naming } = request.orch
  const message = naming.message(own)
  // A JSON patch has names in its paths too, and is recorded as it was sent.
  const isLikeObject = naming.renames && type !== JSON_PATCH_TYPE
  recordValue(request, () => isLikeObject ? naming.value(own, clone(value)) : value)
  yield
  const patchFindings = validation === 'Ignore' ? [] : findingsOf(type, body, value, duplicates)
  const apply = patched(type, message, value)
  return {
    apply: function * (copy) {
      const shown = naming.shown(own, copy)
      yield
      return yield * apply(shown)
    },
    decode: patched => {
      naming.value(own, patched)
      const { object, unknown } = decodePatched(patched, made => reportTooLarge(() => decode(message, made)))
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

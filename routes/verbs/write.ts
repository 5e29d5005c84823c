/** POST and PUT: decodes the body and runs the operation; what every write asks of its operation. */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { strictFindings } from '../../schemas/language/strict-findings.js'
import { PROTOBUF_TYPE, JSON_PATCH_TYPE, YAML_TYPE, APPLY_TYPE } from '../../schemas/media-types.js'
import { refusal, undecided } from '../../auth/refusal.js'
import { badRequest, internalError } from '../../schemas/status.js'
import { entryAnswer, type Verb, type VerbRequest } from '../../answers/answer.js'
import type { Target, WriteContext } from '../../registry/write-context.js'
import type { Sent } from '../../registry/stages/write.js'
import { create } from '../../registry/verbs/create.js'
import { update } from '../../registry/verbs/update.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { applyFieldValidation, bodyOf, contentType, decodeBody } from '../body.js'
import { misnamed } from '../misnamed.js'
import { mayAlso } from '../other-rights.js'
import { checkFieldManager, fieldManager, fieldValidation } from '../write-options.js'

const NO_OPTIONS = Object.freeze({})
/** Parameters that admission receives as options. */
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
    misnamed: misnamed(request)
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

/** POST, PUT and PATCH: body to object, object through its operation, the result to the wire. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { decode } from '../../schemas/index.js'
import { JSON_TYPE, PATCH_TYPES } from '../../schemas/media-types.js'
import type { PatchType } from '../../schemas/media-types.js'
import { badRequest, unsupportedMediaType } from '../../schemas/status.js'
import { giveWay } from '../../storage/operations/context.js'
import type { Target, WriteContext } from '../../storage/operations/context.js'
import { create } from '../../storage/operations/create.js'
import { patch } from '../../storage/operations/patch.js'
import { update } from '../../storage/operations/update.js'
import type { ResourceStore } from '../../storage/resource-store.js'
import { bodyOf, contentType, decodeBody, judged, parseText } from '../body.js'
import { bool, checkFieldManager, fieldValidation } from '../query.js'
import { sendEntry } from '../respond.js'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** What the operations need of a request. */
export function contextOf (request: FastifyRequest): WriteContext {
  const { orch } = request
  return {
    user: orch.user,
    dryRun: orch.dryRun,
    size: bodyOf(request).length,
    warn: text => { orch.warnings.push(text) },
    get signal () { return orch.signal }
  }
}

export function targetOf (request: FastifyRequest): Target {
  const { namespace, name, subresource } = request.orch.info
  return { namespace, name, subresource }
}

export function createHandler (store: ResourceStore): Handler {
  return async (request, reply) => {
    checkFieldManager(request.orch.query)
    const object = await decodeBody(request, store.definition.message, fieldValidation(request.orch.query))
    const entry = await create(store, object, { ...targetOf(request), name: '' }, contextOf(request))
    return sendEntry(request, reply, store, entry, 201)
  }
}

export function updateHandler (store: ResourceStore): Handler {
  return async (request, reply) => {
    checkFieldManager(request.orch.query)
    const object = await decodeBody(request, store.definition.message, fieldValidation(request.orch.query))
    const { entry, created } = await update(store, object, targetOf(request), contextOf(request))
    return sendEntry(request, reply, store, entry, created ? 201 : 200)
  }
}

const LATER_TYPES = ['application/strategic-merge-patch+json', 'application/apply-patch+yaml']

/** @throws StatusError 415 */
function patchType (request: FastifyRequest): PatchType {
  const type = contentType(request)
  const known = PATCH_TYPES.find(one => one === type)
  if (known !== undefined) return known
  const offered = `supported patch types: ${PATCH_TYPES.join(', ')}`
  throw unsupportedMediaType(LATER_TYPES.includes(type) ? `${type} is not offered by this version of the server yet; ${offered}` : `the body of the request was in an unknown format; ${offered}`)
}

export function patchHandler (store: ResourceStore): Handler {
  return async (request, reply) => {
    const { query } = request.orch
    checkFieldManager(query)
    if (bool(query, 'force')) throw badRequest('force: it may be set only for apply patches')
    const type = patchType(request)
    const validation = fieldValidation(query)
    const body = bodyOf(request)
    if (body.length === 0) throw badRequest('the request body is empty; a patch is needed')
    const { value, duplicates } = await parseText(JSON_TYPE, body)
    await giveWay(body.length)
    judged(request, validation, { object: value, unknown: [], duplicates })
    const { entry } = await patch(store, {
      type,
      patch: value,
      decode: patched => judged(request, validation, { ...decode(store.definition.message, patched), duplicates: [] })
    }, targetOf(request), contextOf(request))
    return sendEntry(request, reply, store, entry)
  }
}

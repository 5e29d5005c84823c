/** Subresources that are another message than their object's, such as scale: read from the object and written into it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { applyDefaults, decode, toJson } from '../../schemas/index.js'
import type { ApiObject, SubresourceView } from '../../schemas/index.js'
import type { FieldError } from '../../schemas/index.js'
import { invalid, isStatusError, notFound } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import { get } from '../../registry/operations/get.js'
import type { Target } from '../../registry/operations/context.js'
import { matchTarget } from '../../registry/operations/identity.js'
import { change, requireUid } from '../../registry/operations/update.js'
import { patched } from '../../registry/operations/patch.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { Facts } from '../../schemas/language/types.js'
import { decodeBody } from '../body.js'
import { text } from '../query.js'
import { sendObject, sendValue, warn } from '../respond.js'
import { transformed } from '../transform.js'
import { contextOf, patchOf, targetOf } from './write.js'
import { checkFieldManager, fieldValidation } from '../write-options.js'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** What the subresource shows of what is stored. */
const viewOf = (store: ResourceStore, view: SubresourceView, entry: Entry): ApiObject => view.read(store.readStored(entry))

/** The object with what the client wants of it put in. @throws StatusError 400, 422 */
function withWanted (store: ResourceStore, view: SubresourceView, entry: Entry, old: ApiObject, wanted: ApiObject, target: Target): ApiObject {
  const { name } = target
  matchTarget(store, wanted, target)
  const findings: FieldError[] = []
  view.validate?.(wanted, finding => { findings.push(finding) })
  const { type } = view.message[Facts]
  if (findings.length > 0) throw invalid({ group: type?.group ?? '', kind: type?.kind ?? '' }, name, findings)
  requireUid(store, wanted, old, target, { ...store.resource, resource: `${store.resource.resource}/${target.subresource ?? ''}` })
  const object = entry.copy()
  const { resourceVersion } = wanted.metadata
  if (resourceVersion === undefined) delete object.metadata.resourceVersion
  else object.metadata.resourceVersion = resourceVersion
  view.write(object, wanted)
  return object
}

export function sendView (request: FastifyRequest, reply: FastifyReply, store: ResourceStore, view: SubresourceView, entry: Entry): FastifyReply {
  const { accept } = request.orch
  const object = viewOf(store, view, entry)
  if (accept?.as === undefined) return sendObject(request, reply, view.message, object)
  warn(request, reply)
  return sendValue(request, reply, transformed(request, view, accept, object))
}

/** @throws StatusError 404 that names the view, as convention, one of the core group as if it were of the group of what it shows */
async function found (store: ResourceStore, { message }: SubresourceView, { namespace, name, subresource = '' }: Target, resourceVersion: string): Promise<Entry> {
  try {
    return await get(store, namespace, name, resourceVersion)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    const { group, resource } = store.resource
    throw notFound({ group: group === '' ? message[Facts].type?.group ?? '' : group, resource: `${resource}/${subresource}` }, name)
  }
}

export function readViewHandler (store: ResourceStore, view: SubresourceView): Handler {
  return async (request, reply) => {
    const { info, query } = request.orch
    const entry = await found(store, view, info, text(query, 'resourceVersion'))
    return sendView(request, reply, store, view, entry)
  }
}

export function updateViewHandler (store: ResourceStore, view: SubresourceView): Handler {
  return async (request, reply) => {
    checkFieldManager(request.orch.query, request.method)
    const wanted = await decodeBody(request, view.message, fieldValidation(request.orch.query, request.method))
    applyDefaults(view.message, wanted)
    const entry = await change(store, targetOf(request), contextOf(request), (base, old) => withWanted(store, view, base, old, wanted, request.orch.info))
    return sendView(request, reply, store, view, entry)
  }
}

export function patchViewHandler (store: ResourceStore, view: SubresourceView): Handler {
  return async (request, reply) => {
    const { type, value, decode: decoded } = await patchOf(request, store)
    const apply = patched({ type, patch: value }, view.message)
    const entry = await change(store, targetOf(request), contextOf(request), async (base, old) => {
      const before = JSON.parse(toJson(view.message, viewOf(store, view, base))) as ApiObject // our own bytes, in our own shape
      const wanted = decoded(await apply(before), made => decode(view.message, made))
      applyDefaults(view.message, wanted)
      return withWanted(store, view, base, old, wanted, request.orch.info)
    })
    return sendView(request, reply, store, view, entry)
  }
}

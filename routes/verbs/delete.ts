/** DELETE of one object and of a collection, with DeleteOptions from the body or the query. */
import { parseDryRun } from '../../schemas/dry-run.js'
import { DeleteOptions } from '../../schemas/meta/v1.js'
import { forbidden } from '../../schemas/status.js'
import { entryAnswer, type StatusAnswer, type Verb, type VerbRequest } from '../../answers/answer.js'
import { metadataOf } from '../../answers/list-metadata.js'
import { gracePeriodOf, propagationOf } from '../../registry/stages/deletion-mark.js'
import { remove, type DeleteRequest } from '../../registry/verbs/delete.js'
import { removeCollection } from '../../registry/verbs/delete-collection.js'
import type { Sent } from '../../registry/stages/write.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { bodyOf, decodeBody } from '../body.js'
import { refuseContradictions } from '../list-options.js'
import { bool, count, integer, listRequest, text } from '../query.js'
import { mayReadFrom } from '../past.js'
import { contextOf, targetOf } from './write.js'

/** Options of the body, with the query as fallback. */
function sentBy (request: VerbRequest, store: ResourceStore): DeleteRequest | Sent<DeleteRequest> {
  if (bodyOf(request).length === 0) return deletionOf(request, store)
  return function * () { return deletionOf(request, store, yield * decodeBody(request, DeleteOptions, 'Ignore')) }
}

/** @throws StatusError 400, 422 */
function deletionOf ({ orch }: VerbRequest, store: ResourceStore, body?: DeleteOptions): DeleteRequest {
  const { query } = orch
  const { preconditions } = body ?? {}
  if (parseDryRun(body?.dryRun ?? [])) orch.dryRun = true
  const gracePeriodSeconds = gracePeriodOf(body?.gracePeriodSeconds ?? integer(query, 'gracePeriodSeconds'))
  const named = body?.propagationPolicy !== undefined || body?.orphanDependents !== undefined
  const policy = named ? body?.propagationPolicy : text(query, 'propagationPolicy') || undefined
  const orphan = named
    ? body?.orphanDependents
    : query.has('orphanDependents')
      ? bool(query, 'orphanDependents')
      : undefined
  const propagationPolicy = propagationOf(policy, orphan)
  const { dependentsWarning } = store.strategy
  if (dependentsWarning !== undefined && propagationPolicy === undefined && store.dependents === 'orphaned') {
    orch.warn(dependentsWarning)
  }
  return {
    preconditions, propagationPolicy, gracePeriodSeconds,
    options: { gracePeriodSeconds, preconditions, orphanDependents: orphan, propagationPolicy: policy }
  }
}

/** The code of a delete whose object something holds. */
const heldCode = ({ gates }: ResourceStore, dependentsFirst: boolean): number =>
  !dependentsFirst && gates.enabled('DeleteOfHeldIsOk') ? 200 : 202

export function deleteVerb (store: ResourceStore): Verb {
  return async request => {
    const target = targetOf(request)
    const reason = store.strategy.undeletable?.(target.name)
    if (reason !== undefined) throw forbidden(store.resource, target.name, reason)
    const { entry, removed, uid, dependentsFirst } = await remove(
      store, target, sentBy(request, store), contextOf(request)
    )
    if (!removed) return { ...entryAnswer(request, store, entry, heldCode(store, dependentsFirst)), held: true }
    if (store.representation.deleteReturns === 'Object') return entryAnswer(request, store, entry)
    return success(request, store, { name: target.name, uid })
  }
}

function success (
  { orch: { warnings } }: VerbRequest, store: ResourceStore, about: { name?: string, uid?: string | undefined },
  metadata: object = {}
): StatusAnswer {
  const { group, resource } = store.resource
  const { name, uid } = about
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: { ...metadata },
    status: 'Success',
    details: {
      ...(name === undefined ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource,
      ...(uid === undefined ? {} : { uid })
    }
  } as const
  return { kind: 'status', status, code: 200, warnings }
}

export function deleteCollectionVerb (store: ResourceStore, workers: number): Verb {
  return async request => {
    const { query } = request.orch
    refuseContradictions(query, 'list', store.gates)
    const seconds = count(query, 'timeoutSeconds')
    const signal = seconds !== undefined && seconds > 0
      ? AbortSignal.any([request.orch.signal, AbortSignal.timeout(Math.min(seconds, 3600) * 1000)])
      : request.orch.signal
    const listed = listRequest(request.orch, store)
    const selection = { ...listed, signal }
    const deletion = sentBy(request, store)
    const result = await removeCollection(
      store, { selection, mayReadFrom: mayReadFrom(request, store), deletion, workers }, contextOf(request)
    )
    return success(request, store, {}, metadataOf(result, store))
  }
}

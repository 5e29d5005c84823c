/** DELETE of one object and of a collection, with DeleteOptions from the body or the query. */
import { parseDryRun } from '../../schemas/dry-run.js'
import { DeleteOptions } from '../../schemas/meta/v1.js'
import { forbidden } from '../../schemas/status.js'
import { entryAnswer, type StatusAnswer, type Verb, type VerbRequest } from '../../answers/answer.js'
import { metadataOf } from '../../answers/list-metadata.js'
import { remove, propagationOf, gracePeriodOf, type DeleteRequest } from '../../registry/verbs/delete.js'
import { removeCollection } from '../../registry/verbs/delete-collection.js'
import type { WriteContext } from '../../registry/write-context.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { bodyOf, decodeBody, readBody } from '../body.js'
import { bool, count, integer, listRequest, text } from '../query.js'
import { mayReadFrom } from '../past.js'
import { contextOf, targetOf } from './write.js'

interface ParsedOptions {
  readonly request: DeleteRequest
  readonly dryRun: boolean
  /** As the client sent them, for admission. */
  readonly sentOptions: Readonly<Record<string, unknown>>
}

/** Options of the body, with the query as fallback. @throws StatusError 400, 415, 422; DecodeError */
async function optionsOf (request: VerbRequest): Promise<ParsedOptions> {
  const { query } = request.orch
  const body = bodyOf(request).length === 0
    ? undefined
    : await readBody(request, decodeBody(request, DeleteOptions, 'Ignore'))
  const { preconditions } = body ?? {}
  const dryRun = parseDryRun(body?.dryRun ?? [])
  const gracePeriodSeconds = gracePeriodOf(body?.gracePeriodSeconds ?? integer(query, 'gracePeriodSeconds'))
  const named = body?.propagationPolicy !== undefined || body?.orphanDependents !== undefined
  const policy = named ? body?.propagationPolicy : text(query, 'propagationPolicy') || undefined
  const orphan = named
    ? body?.orphanDependents
    : query.has('orphanDependents')
      ? bool(query, 'orphanDependents')
      : undefined
  return {
    request: { preconditions, propagationPolicy: propagationOf(policy, orphan), gracePeriodSeconds },
    dryRun,
    sentOptions: { gracePeriodSeconds, preconditions, orphanDependents: orphan, propagationPolicy: policy }
  }
}

const withOptions = (
  request: VerbRequest, store: ResourceStore, { dryRun, sentOptions, request: { propagationPolicy } }: ParsedOptions
): WriteContext => {
  if (dryRun) request.orch.dryRun = true
  const context = contextOf(request)
  const { dependentsWarning } = store.strategy
  if (dependentsWarning !== undefined && propagationPolicy === undefined && store.dependents === 'orphaned') {
    request.orch.warn(dependentsWarning)
  }
  return { ...context, options: { ...context.options, ...sentOptions } }
}

export function deleteVerb (store: ResourceStore): Verb {
  return async request => {
    const options = await optionsOf(request)
    const target = targetOf(request)
    const reason = store.strategy.undeletable?.(target.name)
    if (reason !== undefined) throw forbidden(store.resource, target.name, reason)
    const { entry, removed, uid } = await remove(
      store, target, options.request, withOptions(request, store, options)
    )
    if (!removed) return entryAnswer(request, store, entry, 202)
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
    const options = await optionsOf(request)
    const seconds = count(query, 'timeoutSeconds')
    const context = withOptions(request, store, options)
    const signal = seconds !== undefined && seconds > 0
      ? AbortSignal.any([request.orch.signal, AbortSignal.timeout(Math.min(seconds, 3600) * 1000)])
      : request.orch.signal
    const listed = listRequest(request.orch, store)
    const selection = { ...listed, signal }
    const deletion = options.request
    const result = await removeCollection(
      store, { selection, mayReadFrom: mayReadFrom(request, store), deletion, workers }, context
    )
    return success(request, store, {}, metadataOf(result, store))
  }
}

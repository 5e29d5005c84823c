/**
 * Eviction, posted to a pod: deletes the pod if its disruption budget allows it. Finished, pending and terminating pods
 * are deleted without using the budget.
 */
import type { Pod } from '../../schemas/api/core/pods.js'
import * as v1 from '../../schemas/api/policy/v1.js'
import * as v1beta1 from '../../schemas/api/policy/v1beta1.js'
import { parseDryRun } from '../../schemas/dry-run.js'
import { Status } from '../../schemas/meta/v1.js'
import type { DeleteOptions } from '../../schemas/meta/options.js'
import { badRequest, isStatusError, notFound, StatusError } from '../../schemas/status.js'
import type { Entry } from '../../storage/cache/entry.js'
import {
  isDryRun, now, serverContext, type ObjectWrite, type Target, type WriteContext
} from '../../registry/write-context.js'
import { gracePeriodOf, propagationOf } from '../../registry/stages/deletion-mark.js'
import { remove, type DeleteRequest } from '../../registry/verbs/delete.js'
import { changeUnowned } from '../../registry/verbs/change.js'
import { current } from '../../registry/current.js'
import type { VirtualOperation, ResourceRegistry } from '../../registry/resource-registry.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { admit } from '../../registry/stages/admit.js'
import { OtherWrite } from '../../registry/stages/write.js'
import { budgetsOf, letsUnreadyGo, stillProcessed, takeDisruption } from './disruption-budget.js'

const PODS = { group: '', resource: 'pods' }
/** The condition of pods that are evicted, for controllers that count failures. */
const DISRUPTED = 'DisruptionTarget'
/** Maximum attempts to delete a pod that keeps changing. */
const MAX_ATTEMPTS = 20

export const podEviction = (resources: ResourceRegistry): VirtualOperation => ({
  message: v1.Eviction,
  otherMessages: [v1beta1.Eviction],
  answer: Status,
  run: async (object, { namespace, name, subresource = '' }, context) => {
    const eviction = object as v1.Eviction // decoded by its message; both versions are alike
    const store = resources.find('', 'pods')
    if (store === undefined) throw notFound(PODS, name)
    const evictionContext = parseDryRun(eviction.deleteOptions?.dryRun ?? []) ? { ...context, dryRun: true } : context
    const write = { store, target: { namespace, name, subresource }, context: evictionContext }
    const request = await admit(new OtherWrite(write, 'CREATE', eviction, eviction.kind), () => {
      if ((eviction.metadata.name ?? '') !== name) {
        throw badRequest('name in URL does not match name in Eviction object')
      }
      return deletionOf(eviction)
    })
    const pod = { store, target: { namespace, name }, context: evictionContext }
    await evict(pod, request, resources.find('policy', 'poddisruptionbudgets'))
    return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }
  }
})

/** @throws StatusError 422 */
function deletionOf ({ deleteOptions }: v1.Eviction): DeleteRequest {
  const options: Partial<DeleteOptions> = deleteOptions ?? {}
  const { preconditions, propagationPolicy, orphanDependents, gracePeriodSeconds } = options
  return {
    preconditions,
    propagationPolicy: propagationOf(propagationPolicy, orphanDependents),
    gracePeriodSeconds: gracePeriodOf(gracePeriodSeconds),
    admitted: true // as an eviction
  }
}

async function evict (write: ObjectWrite, request: DeleteRequest, budgets: ResourceStore | undefined): Promise<void> {
  const { store: pods, target, context } = write
  const entry = await removeUnprotected(pods, target, request, context)
  if (entry === undefined) return
  const pod = pods.entries.read(entry) as Pod // from the store of pods
  const [budget, ...others] = budgets === undefined ? [] : await budgetsOf(budgets, pod)
  if (others.length > 0) {
    throw new StatusError(
      undefined, 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
    )
  }
  if (budgets === undefined || budget === undefined) {
    await removeMarked(pods, target, request, context)
    return
  }
  const { name = '' } = budget.metadata
  if (isReady(pod) || !letsUnreadyGo(budget)) {
    // Check preconditions first, so that a failure does not use the budget.
    if (request.preconditions !== undefined) await remove(pods, target, request, { ...context, dryRun: true })
    await takeDisruption(budgets, name, pod, context)
    // The disruption is taken, so the pod goes, even if its client has gone.
    await removeMarked(pods, target, request, { ...serverContext(context.caller.signal), dryRun: isDryRun(context) })
    return
  }
  // Precondition: the pod may have become ready since the read.
  await removeMarked(pods, target, atVersion(request, entry), context).catch((error: unknown) => {
    throw isStatusError(error, 'Conflict') && request.preconditions?.resourceVersion === undefined
      ? stillProcessed(name)
      : error
  })
}

/** Deletes the pod if no budget applies, otherwise returns it. @throws StatusError 404, 409 */
async function removeUnprotected (
  pods: ResourceStore, target: Target, request: DeleteRequest, context: WriteContext
): Promise<Entry | undefined> {
  for (let attempt = 1; ; attempt++) {
    const entry = await current(pods, pods.keys.of(target.namespace, target.name))
    if (entry === undefined) throw notFound(PODS, target.name)
    const { metadata, status: { phase } } = pods.entries.read(entry) as Pod // from the store of pods
    const isOver = phase === 'Succeeded' || phase === 'Failed' || metadata.deletionTimestamp !== undefined
    if (!isOver && phase !== 'Pending') return entry
    const named = request.preconditions?.resourceVersion !== undefined
    try {
      await removeMarked(pods, target, isOver || named ? request : atVersion(request, entry), context)
      return undefined
    } catch (error) {
      if (named || !isStatusError(error, 'Conflict') || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/** Deletes the pod, which says before that it is evicted, from 1.26 on. */
async function removeMarked (
  pods: ResourceStore, target: Target, request: DeleteRequest, context: WriteContext
): Promise<void> {
  if (isDryRun(context) || !pods.gates.enabled('PodDisruptionConditions')) {
    await remove(pods, target, request, context)
    return
  }
  const { uid, resourceVersion } = request.preconditions ?? {}
  const server = serverContext(context.caller.signal)
  const marked = await changeUnowned(pods, { ...target, subresource: 'status' }, server, (base, old) => {
    const pod = base.copy() as Pod // from the store of pods
    const isMeant = (uid === undefined || uid === old.metadata.uid) &&
      (resourceVersion === undefined || resourceVersion === String(base.revision))
    if (isMeant) mark(pod, now(pods))
    return pod // unchanged, the deletion is what refuses
  })
  const isNamed = resourceVersion !== undefined && marked.revision > BigInt(resourceVersion)
  await remove(pods, target, isNamed ? atVersion(request, marked) : request, context)
}

function mark ({ status }: Pod, time: string): void {
  const others = status.conditions ?? []
  const known = others.find(({ type }) => type === DISRUPTED)
  const condition = {
    type: DISRUPTED, status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting',
    lastTransitionTime: known?.status === 'True' ? known.lastTransitionTime ?? time : time
  }
  status.conditions = known === undefined
    ? [...others, condition]
    : others.map(entry => entry === known ? { ...known, ...condition } : entry)
}

const atVersion = (request: DeleteRequest, { revision }: Entry): DeleteRequest =>
  ({ ...request, preconditions: { ...request.preconditions, resourceVersion: String(revision) } })

const isReady = ({ status }: Pod): boolean =>
  status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true

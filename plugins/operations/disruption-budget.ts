/** Finds the disruption budgets of a pod and takes a disruption from one. */
import type { Pod } from '../../schemas/api/core/pods.js'
import type { PodDisruptionBudget } from '../../schemas/api/policy/v1.js'
import { selects } from '../../schemas/selectors/objects.js'
import { forbidden, StatusError, timeout, tooManyRequests } from '../../schemas/status.js'
import { isDryRun, now, serverContext, type WriteContext } from '../../registry/write-context.js'
import { EVERYTHING } from '../../registry/verbs/list-request.js'
import { list } from '../../registry/verbs/list.js'
import { change } from '../../registry/verbs/change.js'
import type { ResourceStore } from '../../registry/resource-store.js'

const BUDGET = { group: 'policy', resource: 'poddisruptionbudget' }
/** Maximum attempts to update a contended budget. */
const MAX_ATTEMPTS = 20
/** Maximum evicted pods that have not terminated yet. */
const MAX_DISRUPTED_PODS = 2000
/** Seconds after which a rejected eviction may be retried. */
const RETRY_AFTER = 10

/** Uses the semantics of policy/v1, where an empty selector selects every pod. */
export async function budgetsOf (
  store: ResourceStore, { metadata: { namespace = '', labels } }: Pod
): Promise<PodDisruptionBudget[]> {
  const { entries } = await list(store, { ...EVERYTHING, namespace })
  const fromStored = store.type.representations.find(({ version }) => version === 'v1')?.conversion?.fromStored
  const budgets = entries.map(entry => {
    const stored = store.entries.read(entry)
    return (fromStored?.(stored) ?? stored) as PodDisruptionBudget // from the store of budgets
  })
  return budgets.filter(({ spec }) => selects(spec.selector, labels) === true)
}

/** True if an unready pod may be evicted without using the budget: always, or as enough others are healthy. */
export const letsUnreadyGo = ({ spec, status }: PodDisruptionBudget): boolean =>
  spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' ||
  ((status.desiredHealthy ?? 0) > 0 && (status.currentHealthy ?? 0) >= (status.desiredHealthy ?? 0))

/**
 * Without Retry-After clients do not retry on their own: a node drain reports the refusal and retries at its own pace.
 */
const refuseEviction = (why: string, seconds?: number): StatusError => {
  const refused = tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", seconds)
  refused.status.details = { ...refused.status.details, causes: [{ reason: 'DisruptionBudget', message: why }] }
  return refused
}

export const stillProcessed = (name: string): StatusError =>
  refuseEviction(`The disruption budget ${name} is still being processed by the server.`, RETRY_AFTER)

/**
 * Takes one disruption from the budget for the named pod; under dry run only checks.
 * @throws StatusError 429 if none is left, 403 for an inconsistent budget, 504 if conflicts persist
 */
export async function takeDisruption (
  store: ResourceStore, name: string, pod: Pod, context: WriteContext
): Promise<void> {
  const { namespace = '', name: podName = '' } = pod.metadata
  let attempts = 0
  await change(store, {
    namespace, name, subresource: 'status'
  }, { ...serverContext(context.caller.signal), dryRun: isDryRun(context) }, base => {
    if (++attempts > MAX_ATTEMPTS) {
      throw timeout(`couldn't update PodDisruptionBudget ${JSON.stringify(name)} due to conflicts`, RETRY_AFTER)
    }
    // from the store of budgets; the fields used are the same in all versions
    const budget = base.copy() as PodDisruptionBudget
    check(budget)
    const { status } = budget
    status.disruptionsAllowed = (status.disruptionsAllowed ?? 0) - 1
    // The controller counts the pod as terminated until it observes the deletion.
    status.disruptedPods = { ...status.disruptedPods, [podName]: now(store) }
    if (status.disruptionsAllowed === 0) setExhausted(budget, now(store))
    return budget
  })
}

function check ({ metadata: { name = '', generation = 0 }, status }: PodDisruptionBudget): void {
  const { observedGeneration = 0, disruptionsAllowed = 0, disruptedPods = {}, desiredHealthy = 0, currentHealthy = 0 } =
    status
  if (observedGeneration < generation) throw stillProcessed(name)
  if (disruptionsAllowed < 0) throw forbidden(BUDGET, name, 'pdb disruptions allowed is negative')
  if (Object.keys(disruptedPods).length > MAX_DISRUPTED_PODS) {
    throw forbidden(BUDGET, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  }
  if (disruptionsAllowed === 0) {
    throw refuseEviction(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
    )
  }
}

function setExhausted ({ status }: PodDisruptionBudget, time: string): void {
  const type = 'DisruptionAllowed'
  const others = status.conditions ?? []
  const known = others.find(condition => condition.type === type)
  const lastTransitionTime = known?.status === 'False' ? known.lastTransitionTime : time
  const condition = {
    ...known, type, status: 'False', reason: 'InsufficientPods', message: known?.message ?? '', lastTransitionTime,
    ...(status.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration })
  }
  status.conditions = known === undefined
    ? [...others, condition]
    : others.map(entry => entry === known ? condition : entry)
}

/** Warns about existing pods that violate a stricter level of their namespace. */
import type { Pod } from '../../schemas/api/core/pods.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { showPolicy, type LevelVersion } from './policy.js'
import { inShort, violations } from './standards.js'

const MAX_PODS = 3000
const MAX_MS = 1000

/** One warning per set of violations, after the general ones. */
export async function warningsOf (
  namespace: string, pods: readonly Pod[], enforce: LevelVersion,
  { isExempt, newest }: { isExempt: (pod: Pod) => boolean, newest: number }
): Promise<string[]> {
  const until = performance.now() + MAX_MS
  const all = distinctFirst(pods.filter(pod => !isExempt(pod)))
  const podsByViolation = new Map<string, string[]>()
  let checked = 0
  for (const pod of all.slice(0, MAX_PODS)) {
    if (performance.now() > until) break
    if (turnIsOver()) await nextTurn()
    checked++
    const reasons = inShort(violations(enforce, pod, newest))
    if (reasons !== '') podsByViolation.set(reasons, [...podsByViolation.get(reasons) ?? [], pod.metadata.name ?? ''])
  }
  const lines = [...podsByViolation].map(([reasons, names]) => {
    const [first = ''] = names.sort()
    const others = names.length - 1
    return `${first}${others === 0 ? '' : ` (and ${others} other ${others === 1 ? 'pod' : 'pods'})`}: ${reasons}`
  }).sort()
  return [
    ...checked < all.length
      ? [`new PodSecurity enforce level only checked against the first ${checked} of ${all.length} existing pods`]
      : [],
    ...lines.length > 0
      ? [
        `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ` +
          `${JSON.stringify(showPolicy(enforce))}`
        ]
      : [],
    ...lines
  ]
}

/** Pods of one controller are alike: check the first of each before all others. */
function distinctFirst (pods: readonly Pod[]): Pod[] {
  const seen = new Set<string>()
  const [first, later]: [Pod[], Pod[]] = [[], []]
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid
    if (owner === undefined || !seen.has(owner)) first.push(pod)
    else later.push(pod)
    if (owner !== undefined) seen.add(owner)
  }
  return [...first, ...later]
}

/** Quality of service classes. */
import { compareQuantities } from '../../../meta/quantity.js'
import type { PodSpec } from '../pod-spec.js'

type Amounts = Readonly<Record<string, string>> | undefined

function amount (amounts: Amounts, name: string): string {
  return amounts !== undefined && Object.hasOwn(amounts, name) ? amounts[name] ?? '0' : '0'
}

/** Guaranteed: every container has equal cpu and memory requests and limits. BestEffort: no container has any. */
export function qosClass (
  { containers = [], initContainers = [], resources }: PodSpec
): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  let guaranteed = true
  let anything = false
  // Resources of the pod as a whole count in place of those of its containers.
  const holders = resources === undefined ? [...containers, ...initContainers] : [{ resources }]
  for (const { resources: { limits, requests } } of holders) {
    for (const name of ['cpu', 'memory']) {
      const [limit, request] = [amount(limits, name), amount(requests, name)]
      const limited = compareQuantities(limit, '0') > 0
      if (limited || compareQuantities(request, '0') > 0) anything = true
      if (!limited || compareQuantities(limit, request) !== 0) guaranteed = false
    }
  }
  return !anything ? 'BestEffort' : guaranteed ? 'Guaranteed' : 'Burstable'
}

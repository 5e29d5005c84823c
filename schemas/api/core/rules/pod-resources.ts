/** What a whole pod asks for: sums over its containers, and the defaults of pod-level resources. */
import { compareQuantities, sumQuantities } from '../../../meta/quantity.js'
import { isHugePages } from '../../../rules/quantities.js'
import type { Container } from '../containers.js'
import type { PodSpec } from '../pod-spec.js'
import { isSidecar } from './restarts.js'

type Amounts = Map<string, string>
type Member = 'requests' | 'limits'

const addTo = (sums: Amounts, { resources }: Container, member: Member): void => {
  for (const [name, amount] of Object.entries(resources[member] ?? {})) {
    sums.set(name, sumQuantities(sums.get(name) ?? '0', amount))
  }
}

/**
 * What all containers ask for together. Sidecars run beside all that follow; other init containers run alone, so the
 * largest of them counts where it exceeds the rest.
 */
function aggregate ({ containers = [], initContainers = [] }: PodSpec, member: Member): Amounts {
  const sums: Amounts = new Map()
  const most: Amounts = new Map()
  const sidecars: Amounts = new Map()
  for (const container of containers) addTo(sums, container, member)
  for (const container of initContainers) {
    if (isSidecar(container)) {
      addTo(sums, container, member)
      addTo(sidecars, container, member)
    } else {
      const there: Amounts = new Map(sidecars)
      addTo(there, container, member)
      raise(most, there)
    }
  }
  raise(most, sidecars)
  raise(sums, most)
  return sums
}

function raise (amounts: Amounts, least: Amounts): void {
  for (const [name, amount] of least) {
    if (compareQuantities(amount, amounts.get(name) ?? '0') > 0 || !amounts.has(name)) amounts.set(name, amount)
  }
}

export const aggregateRequests = (spec: PodSpec): ReadonlyMap<string, string> => aggregate(spec, 'requests')

/**
 * Defaults of pod-level resources: limits of huge pages are those of the containers, and missing requests are what the
 * containers ask for, or the limit.
 */
export function defaultPodResources (spec: PodSpec): void {
  const { resources } = spec
  if (resources === undefined) return
  const limits = { ...resources.limits }
  if (resources.limits !== undefined || resources.requests !== undefined) {
    for (const [name, amount] of aggregate(spec, 'limits')) {
      if (isHugePages(name) && limits[name] === undefined && resources.requests?.[name] === undefined) {
        limits[name] = amount
      }
    }
  }
  if (Object.keys(limits).length === 0) return
  resources.limits = limits
  const requests = { ...resources.requests }
  const needed = aggregateRequests(spec)
  for (const [name, limit] of Object.entries(limits)) {
    requests[name] ??= (isHugePages(name) ? undefined : needed.get(name)) ?? limit
  }
  resources.requests = requests
}

/** What a whole pod asks for: sums over its containers, and the defaults of pod-level resources. */
import { compareQuantities, sumQuantities } from '../../../meta/quantity.js'
import { isHugePages } from '../../../rules/quantities.js'
import type { Container } from '../containers.js'
import type { PodSpec } from '../pod-spec.js'
import { isSidecar } from './restarts.js'

type Amounts = Map<string, string>
type Member = 'requests' | 'limits'
/** What a container takes. */
type Taken = (container: Container) => Readonly<Record<string, string>> | undefined

const addTo = (sums: Amounts, amounts: ReturnType<Taken>): void => {
  for (const [name, amount] of Object.entries(amounts ?? {})) {
    sums.set(name, sumQuantities(sums.get(name) ?? '0', amount))
  }
}

/**
 * What all containers ask for together. Sidecars run beside all that follow; other init containers run alone, so the
 * largest of them counts where it exceeds the rest.
 */
function aggregate ({ containers = [], initContainers = [] }: PodSpec, taken: Taken): Amounts {
  const sums: Amounts = new Map()
  const most: Amounts = new Map()
  const sidecars: Amounts = new Map()
  for (const container of containers) addTo(sums, taken(container))
  for (const container of initContainers) {
    if (isSidecar(container)) {
      addTo(sums, taken(container))
      addTo(sidecars, taken(container))
    } else {
      const there: Amounts = new Map(sidecars)
      addTo(there, taken(container))
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

const given = (member: Member): Taken => ({ resources }) => resources[member]

export const aggregateRequests = (spec: PodSpec): ReadonlyMap<string, string> => aggregate(spec, given('requests'))

/** What all containers may use together. */
export const aggregateLimits = (spec: PodSpec): ReadonlyMap<string, string> => aggregate(spec, given('limits'))

/** What a pod takes, where amounts of the whole pod count in place of those of its containers. */
export function podAmounts (spec: PodSpec, member: Member, taken = given(member)): ReadonlyMap<string, string> {
  const sums = aggregate(spec, taken)
  for (const [name, amount] of Object.entries(spec.resources?.[member] ?? {})) sums.set(name, amount)
  return sums
}

/**
 * Defaults of pod-level resources: limits of huge pages are those of the containers, and missing requests are what the
 * containers ask for, or the limit. With a limit of anything, they are so for processors and memory without one.
 */
export function defaultPodResources (spec: PodSpec): void {
  const { resources } = spec
  if (resources === undefined) return
  const limits = { ...resources.limits }
  if (resources.limits !== undefined || resources.requests !== undefined) {
    for (const [name, amount] of aggregate(spec, given('limits'))) {
      if (isHugePages(name) && limits[name] === undefined && resources.requests?.[name] === undefined) {
        limits[name] = amount
      }
    }
  }
  if (Object.keys(limits).length === 0) return
  resources.limits = limits
  const requests = { ...resources.requests }
  const needed = aggregateRequests(spec)
  for (const name of ['cpu', 'memory']) {
    const amount = needed.get(name)
    if (amount !== undefined) requests[name] ??= amount
  }
  for (const [name, limit] of Object.entries(limits)) {
    requests[name] ??= (isHugePages(name) ? undefined : needed.get(name)) ?? limit
  }
  resources.requests = requests
}

/** The evaluator of pods: their number, until they have ended, and their requests and limits. */
import type { Container } from '../../schemas/api/core/containers.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import { podAmounts } from '../../schemas/api/core/rules/pod-resources.js'
import { isExtendedResource, isHugePages } from '../../schemas/rules/quantities.js'
import { largest, plus, type Amounts } from '../amounts.js'
import type { Evaluator } from './evaluator.js'
import { BY_CLASS, OF_CLASS, REQUESTS } from './extended-resources.js'
import { podIsIn } from './scopes.js'

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage']
const OWN: ReadonlySet<string> = new Set([
  'count/pods', 'pods', ...COMPUTE, ...COMPUTE.flatMap(name => [`requests.${name}`, `limits.${name}`])
])
/** Containers must set these if a quota limits them. */
const REQUIRED: ReadonlySet<string> = new Set([
  'cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'
])
/** Converts requests and limits to the names of quotas. */
function quotaNames (requests: Amounts, limits: Amounts): Amounts {
  const fields: Record<string, string> = {}
  for (const [name, amount] of Object.entries(requests)) {
    if (COMPUTE.includes(name) || isHugePages(name)) fields[name] = fields[REQUESTS + name] = amount
    else if (isExtendedResource(name) || name.startsWith(BY_CLASS)) fields[REQUESTS + name] = amount
  }
  for (const name of COMPUTE) if (Object.hasOwn(limits, name)) fields[`limits.${name}`] = limits[name] ?? '0'
  return fields
}

/** Ended pods, and those past their grace period, use nothing. */
function isOver ({ metadata, status }: Pod, now: number): boolean {
  if (status.phase === 'Failed' || status.phase === 'Succeeded') return true
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds !== undefined &&
    now > Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000
}

/** What a container takes: what it asks for, and what it has until a resize is done. */
function taken ({ status }: Pod, member: 'requests' | 'limits'): (container: Container) => Amounts {
  const statuses = [...status.containerStatuses ?? [], ...status.initContainerStatuses ?? []]
  const infeasible = status.conditions?.some(({ type, reason }) =>
    type === 'PodResizePending' && reason === 'Infeasible') === true
  const has = new Map(statuses.filter(({ resources }) => resources !== undefined)
    .map(({ name, resources, allocatedResources = {} }) => [name, [
      resources?.[member] ?? {}, ...member === 'requests' ? [allocatedResources] : []
    ]]))
  return ({ name, resources }) => {
    const there = has.get(name)
    const asked = resources[member] ?? {}
    return there === undefined ? asked : largest(infeasible ? there : [asked, ...there])
  }
}

export function podUsage (pod: Pod, now: number): Amounts {
  if (isOver(pod, now)) return { 'count/pods': '1' }
  const { spec } = pod
  const totalOf = (member: 'requests' | 'limits'): Amounts =>
    plus(Object.fromEntries(podAmounts(spec, member, taken(pod, member))), spec.overhead ?? {})
  return { 'count/pods': '1', pods: '1', ...quotaNames(totalOf('requests'), totalOf('limits')) }
}

/** Lists containers that lack requests or limits a quota requires. */
function podConstraint (
  { spec: { containers = [], initContainers = [], resources } }: Pod, names: readonly string[]
): string | undefined {
  const ofPod = quotaNames(resources?.requests ?? {}, resources?.limits ?? {})
  const missing = names.filter(name => REQUIRED.has(name) && !Object.hasOwn(ofPod, name)).sort().flatMap(name => {
    const incomplete = [...containers, ...initContainers]
      .filter(({ resources: { requests = {}, limits = {} } }) => !Object.hasOwn(quotaNames(requests, limits), name))
      .map(container => container.name)
    return incomplete.length === 0 ? [] : [`${name} for: ${[...new Set(incomplete)].sort().join(',')}`]
  })
  return missing.length === 0 ? undefined : `must specify ${missing.join('; ')}`
}

/** @param devices 'extended' where containers may ask for devices of a class by its name */
export const podEvaluator = (devices?: 'extended'): Evaluator => ({
  handles: ({ operation, subresource }) => (operation === 'CREATE' && subresource === '') ||
    (operation === 'UPDATE' && subresource === 'resize'),
  tracks: name => OWN.has(name) || isHugePages(name) || (devices === 'extended' && name.startsWith(OF_CLASS)) ||
    (name.startsWith(REQUESTS) &&
      (isHugePages(name.slice(REQUESTS.length)) || isExtendedResource(name.slice(REQUESTS.length)))),
  usage: (object, now) => podUsage(object as Pod, now), // the resource's type
  constraint: (object, names) => podConstraint(object as Pod, names),
  isIn: (object, scope) => podIsIn(object as Pod, scope)
})

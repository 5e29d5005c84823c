/** Checks pods and claims against the items of a LimitRange; findings are sentences. */
import type { LimitRangeItem } from '../../schemas/api/core/limitranges.js'
import type { PersistentVolumeClaim } from '../../schemas/api/core/persistentvolumeclaims.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import { amountOf, compareQuantities } from '../../schemas/meta/quantity.js'
import { oncePer } from '../../schemas/once-per.js'
import { total, largest, type Amounts } from '../amounts.js'

interface ResourceAmounts { readonly requests?: Amounts | undefined, readonly limits?: Amounts | undefined }

/** Limits the findings per object, because containers and resources multiply. */
const MAX_FINDINGS = 100

/** Sorted by resource name. */
const entriesOf = oncePer((amounts: Amounts): ReadonlyArray<readonly [resource: string, amount: string]> =>
  Object.entries(amounts).sort(([one], [other]) => one < other ? -1 : 1))

/** Findings by resource name, at most a hundred. */
function collectFindings (
  amounts: Amounts | undefined, find: (resource: string, amount: string) => string | undefined
): string[] {
  const problems: string[] = []
  for (const [resource, amount] of amounts === undefined ? [] : entriesOf(amounts)) {
    const finding = find(resource, amount)
    if (finding !== undefined && problems.push(finding) === MAX_FINDINGS) break
  }
  return problems
}

const amountIn = (amounts: Amounts | undefined, resource: string): string | undefined =>
  amounts !== undefined && Object.hasOwn(amounts, resource) ? amounts[resource] : undefined

function findings (
  { type, min, max, maxLimitRequestRatio }: LimitRangeItem, { requests, limits }: ResourceAmounts
): string[] {
  const minimums = collectFindings(min, (resource, amount) => {
    const [request, limit] = [amountIn(requests, resource), amountIn(limits, resource)]
    const rule = `minimum ${resource} usage per ${type} is ${amount}`
    if (request === undefined) return `${rule}.  No request is specified`
    if (compareQuantities(request, amount) < 0) return `${rule}, but request is ${request}`
    return limit !== undefined && compareQuantities(limit, amount) < 0 ? `${rule}, but limit is ${limit}` : undefined
  })
  const maximums = collectFindings(max, (resource, amount) => {
    const [request, limit] = [amountIn(requests, resource), amountIn(limits, resource)]
    const rule = `maximum ${resource} usage per ${type} is ${amount}`
    if (limit === undefined) return `${rule}.  No limit is specified`
    if (compareQuantities(limit, amount) > 0) return `${rule}, but limit is ${limit}`
    return request !== undefined && compareQuantities(request, amount) > 0
      ? `${rule}, but request is ${request}`
      : undefined
  })
  const ratios = collectFindings(maxLimitRequestRatio, (resource, amount) => {
    const [request, limit] = [amountIn(requests, resource), amountIn(limits, resource)]
    const rule = `${resource} max limit to request ratio per ${type} is ${amount}`
    if (request === undefined || numberOf(request) === 0) return `${rule}, but no request is specified or request is 0`
    if (limit === undefined || numberOf(limit) === 0) return `${rule}, but no limit is specified or limit is 0`
    const ratio = numberOf(limit) / numberOf(request)
    return ratio > numberOf(amount) ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined
  })
  return [...minimums, ...maximums, ...ratios]
}

/** Floating point is the precision of upstream's ratios. */
function numberOf (quantity: string): number {
  const { value, scale } = amountOf(quantity)
  return Number(`${value}e${scale}`)
}

export function podFindings (pod: Pod | undefined, limits: readonly LimitRangeItem[]): string[] {
  if (pod === undefined) return []
  const { containers = [], initContainers = [] } = pod.spec
  const problems: string[] = []
  for (const item of limits) {
    if (item.type === 'Container') {
      for (const { resources } of [...containers, ...initContainers]) {
        problems.push(...findings(item, resources))
        if (problems.length >= MAX_FINDINGS) return problems.slice(0, MAX_FINDINGS)
      }
    }
    if (item.type !== 'Pod') continue
    const sum = (member: 'requests' | 'limits'): Amounts => largest([
      total(containers.map(({ resources }) => resources[member])),
      ...initContainers.map(({ resources }) => resources[member] ?? {})
    ])
    problems.push(...findings(item, { requests: sum('requests'), limits: sum('limits') }))
  }
  return problems.slice(0, MAX_FINDINGS)
}

/** Claims have no limits: their request is also their maximum. */
export function claimFindings (claim: PersistentVolumeClaim | undefined, limits: readonly LimitRangeItem[]): string[] {
  const { requests } = claim?.spec.resources ?? {}
  return limits.filter(({ type }) => type === 'PersistentVolumeClaim').flatMap(({ type, min, max }) => {
    const maximums = collectFindings(max, (resource, amount) => {
      const request = amountIn(requests, resource)
      const rule = `maximum ${resource} usage per ${type} is ${amount}`
      if (request === undefined) return `${rule}.  No request is specified`
      return compareQuantities(request, amount) > 0 ? `${rule}, but request is ${request}` : undefined
    })
    return [...findings({ type, min }, { requests }), ...maximums]
  })
}

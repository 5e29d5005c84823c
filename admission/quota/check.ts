/** Whether what a request uses fits into the quotas of its namespace. */
import type { ResourceQuota } from '../../schemas/api/core/resourcequotas.js'
import type { ApiObject } from '../../schemas/index.js'
import { compareQuantities } from '../../schemas/meta/quantity.js'
import type { Amounts } from '../amounts.js'
import { minus, only, plus, show, some } from '../amounts.js'
import type { Evaluator } from './evaluator.js'
import { scopesOf } from './scopes.js'

/** A quota, and what the object takes of it, by names that it limits. */
export interface Charge { readonly name: string, readonly takes: Amounts }

/** Names of what the quota limits and the evaluator tracks; undefined where it is not about the object. */
export function limitsFor (quota: ResourceQuota, evaluator: Evaluator, object: ApiObject, hard: Amounts = quota.status.hard ?? {}): string[] | undefined {
  const names = Object.keys(hard).filter(evaluator.tracks)
  return names.length > 0 && scopesOf(quota).every(scope => evaluator.isIn(object, scope)) ? names : undefined
}

/**
 * What an object, in the place of an old one, takes of a quota; undefined where nothing.
 * @returns why it may not be there at all as a string
 */
export function chargeFor (quota: ResourceQuota, evaluator: Evaluator, object: ApiObject, old: ApiObject | undefined, now: number): Charge | string | undefined {
  const names = limitsFor(quota, evaluator, object)
  if (names === undefined) return undefined
  const name = quota.metadata.name ?? ''
  const constraint = evaluator.constraint?.(object, names)
  if (constraint !== undefined) return `failed quota: ${name}: ${constraint}`
  const { used = {} } = quota.status
  if (!names.every(one => Object.hasOwn(used, one))) return `status unknown for quota: ${name}, resources: ${names.sort().join(',')}`
  const usage = evaluator.usage(object, now)
  const negative = Object.keys(usage).filter(one => compareQuantities(usage[one], '0') < 0).sort()
  if (negative.length > 0) return `quota usage is negative for resource(s): ${negative.join(',')}`
  const counted = old !== undefined && limitsFor(quota, evaluator, old) !== undefined
  const takes = some(only(counted ? minus(usage, evaluator.usage(old, now)) : usage, new Set(names)))
  return Object.keys(takes).length === 0 ? undefined : { name, takes }
}

/** Why a charge does not fit, or what is used with it. */
export function charged ({ metadata, status: { hard = {}, used = {} } }: ResourceQuota, { takes }: Charge): { readonly used: Amounts } | string {
  const sum = plus(used, takes)
  const exceeded = new Set(Object.keys(takes).filter(name => Object.hasOwn(hard, name) && compareQuantities(sum[name], hard[name]) > 0))
  if (exceeded.size === 0) return { used: sum }
  return `exceeded quota: ${metadata.name ?? ''}, requested: ${show(only(takes, exceeded))}, used: ${show(only(used, exceeded))}, limited: ${show(only(hard, exceeded))}`
}

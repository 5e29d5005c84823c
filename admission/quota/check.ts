/** Checks whether the usage of a request fits the quotas of its namespace. */
import type { ResourceQuota } from '../../schemas/api/core/resourcequotas.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { compareQuantities } from '../../schemas/meta/quantity.js'
import { plus, minus, amountsText, nonZero, pick, type Amounts } from '../amounts.js'
import type { Evaluator } from './evaluator.js'
import { scopesOf } from './scopes.js'

/** The amounts to charge to a quota. */
export interface Charge { readonly name: string, readonly amounts: Amounts }

/** Names that the quota limits and the evaluator tracks; undefined if the quota does not apply to the object. */
export function limitsFor (
  quota: ResourceQuota, evaluator: Evaluator, object: ApiObject, hard: Amounts = quota.status.hard ?? {}
): string[] | undefined {
  const names = Object.keys(hard).filter(evaluator.tracks)
  return names.length > 0 && scopesOf(quota).every(scope => evaluator.isIn(object, scope)) ? names : undefined
}

/** An object of a request, which may replace an old one, and how it is evaluated. */
export interface Evaluated {
  readonly evaluator: Evaluator
  readonly object: ApiObject
  readonly old: ApiObject | undefined
  readonly now: number
}

/**
 * The charge of an object that may replace an old one; undefined if there is nothing to charge.
 * @returns a string if the object is not allowed
 */
export function chargeFor (
  quota: ResourceQuota, { evaluator, object, old, now }: Evaluated
): Charge | string | undefined {
  const names = limitsFor(quota, evaluator, object)
  if (names === undefined) return undefined
  const name = quota.metadata.name ?? ''
  const constraint = evaluator.constraint?.(object, names)
  if (constraint !== undefined) return `failed quota: ${name}: ${constraint}`
  const { used = {} } = quota.status
  if (!names.every(wanted => Object.hasOwn(used, wanted))) {
    return `status unknown for quota: ${name}, resources: ${names.sort().join(',')}`
  }
  const usage = evaluator.usage(object, now)
  const negative = Object.keys(usage).filter(resource => compareQuantities(usage[resource], '0') < 0).sort()
  if (negative.length > 0) return `quota usage is negative for resource(s): ${negative.join(',')}`
  const counted = old !== undefined && limitsFor(quota, evaluator, old) !== undefined
  const amounts = nonZero(pick(counted ? minus(usage, evaluator.usage(old, now)) : usage, new Set(names)))
  return Object.keys(amounts).length === 0 ? undefined : { name, amounts }
}

/** The usage with the charge, or why it exceeds the quota. */
export function usedAfter (
  { metadata, status: { hard = {}, used = {} } }: ResourceQuota, { amounts }: Charge
): { readonly used: Amounts } | string {
  const sum = plus(used, amounts)
  const exceeded = new Set(Object.keys(amounts).filter(name => Object.hasOwn(hard, name) &&
    compareQuantities(sum[name], hard[name]) > 0))
  if (exceeded.size === 0) return { used: sum }
  return `exceeded quota: ${metadata.name ?? ''}, requested: ${amountsText(pick(amounts, exceeded))}, used: ` +
    `${amountsText(pick(used, exceeded))}, limited: ${amountsText(pick(hard, exceeded))}`
}

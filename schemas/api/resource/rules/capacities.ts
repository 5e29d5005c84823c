/** Validation of what devices have how much of, and of how much requests consume where several share a device. */
import type { Report } from '../../../language/types.js'
import { amountOf, compareQuantities, sumQuantities } from '../../../meta/quantity.js'
import { duplicate, forbidden, invalid, required } from '../../../rules/findings.js'
import type { CapacityRequestPolicy, CapacityRequestPolicyRange, Device } from '../v1.js'
import { checkAttributeName, isShort } from './names.js'

const MOST_OPTIONS = 10
const DEFAULT = { required: (what: string) => `required when ${what} is defined` }

export function validateCapacities (
  { capacity = {}, allowMultipleAllocations }: Device, at: string, report: Report
): void {
  for (const [key, { value, requestPolicy }] of Object.entries(capacity)) {
    checkAttributeName(key, at, report)
    if (requestPolicy === undefined) continue
    const path = `${at}[${key}].requestPolicy`
    if (allowMultipleAllocations === true) validatePolicy(requestPolicy, value ?? '0', path, report)
    else forbidden(report, path, 'allowMultipleAllocations must be true')
  }
}

function validatePolicy (policy: CapacityRequestPolicy, capacity: string, at: string, report: Report): void {
  const { default: usual, validValues = [], validRange } = policy
  if (validValues.length > 0 && validRange !== undefined) {
    return forbidden(
      report, at, 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
    )
  }
  if (validValues.length > 0) {
    if (usual === undefined) required(report, `${at}.default`, DEFAULT.required('validValues'))
    else validateOptions(validValues, usual, { capacity, at: `${at}.validValues`, report })
  } else if (validRange !== undefined) {
    if (usual === undefined) required(report, `${at}.default`, DEFAULT.required('validRange'))
    else validateRange(validRange, usual, { capacity, at: `${at}.validRange`, report })
  }
}

interface Place { readonly capacity: string, readonly at: string, readonly report: Report }

function validateOptions (options: readonly string[], usual: string, { capacity, at, report }: Place): void {
  if (!isShort(options, MOST_OPTIONS, at, report)) return
  for (const [index, option] of options.entries()) {
    if (compareQuantities(options[index - 1] ?? option, option) > 0) {
      invalid(report, `${at}[${index}]`, option, 'values must be sorted in ascending order')
    }
    if (compareQuantities(option, capacity) > 0) {
      invalid(report, `${at}[${index}]`, option, `option is larger than capacity value: ${capacity}`)
    }
    if (options.slice(0, index).some(other => compareQuantities(other, option) === 0)) {
      duplicate(report, `${at}[${index}]`, option)
    }
  }
  if (!options.some(option => compareQuantities(option, usual) === 0)) {
    invalid(report, at, usual, 'default value is not valid according to the requestPolicy')
  }
}

function validateRange (
  { min, max, step }: CapacityRequestPolicyRange, usual: string, { capacity, at, report }: Place
): void {
  if (min === undefined) return required(report, `${at}.min`, DEFAULT.required('validRange'))
  if (compareQuantities(min, capacity) > 0) {
    invalid(report, `${at}.min`, min, `min is larger than capacity value: ${capacity}`)
  }
  if (compareQuantities(usual, min) < 0) invalid(report, `${at}.default`, usual, `default is less than min: ${min}`)
  if (max !== undefined) {
    if (compareQuantities(min, max) > 0) invalid(report, `${at}.max`, min, `min is larger than max: ${max}`)
    if (compareQuantities(max, capacity) > 0) {
      invalid(report, `${at}.max`, max, `max is larger than capacity value: ${capacity}`)
    }
    if (compareQuantities(usual, max) > 0) invalid(report, `${at}.default`, usual, `default is more than max: ${max}`)
  }
  if (step === undefined) return
  if (compareQuantities(step, '0') <= 0) return invalid(report, `${at}.step`, step, 'must be greater than zero')
  const first = sumQuantities(min, step)
  if (compareQuantities(first, capacity) > 0) {
    invalid(report, `${at}.step`, step, `one step ${first} is larger than capacity value: ${capacity}`)
  }
  for (const value of max === undefined ? [usual] : [usual, max]) {
    if (!isStep(sumQuantities(value, min, -1), step)) {
      invalid(report, `${at}.step`, value, `value is not a multiple of a given step (${step}) from (${min})`)
    }
  }
}

/** Whether an amount is a multiple of a step. */
function isStep (amount: string, step: string): boolean {
  const [one, other] = [amountOf(amount), amountOf(step)]
  const scale = Math.min(one.scale, other.scale)
  const of = ({ value, scale: own }: typeof one): bigint => value * 10n ** BigInt(own - scale)
  return of(one) % of(other) === 0n
}

/** Validation of LimitRanges. */
import type { Report } from '../../../language/types.js'
import { amountOf, compareQuantities } from '../../../meta/quantity.js'
import { qualifiedName } from '../../../names.js'
import { duplicate, forbidden, invalid, checkName, required } from '../../../rules/findings.js'
import { isOvercommittable, validateContainerResourceName, validateResourceName } from '../../../rules/quantities.js'
import type { LimitRangeItem } from '../limitranges.js'

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim']
const BOUNDS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const

export function validateLimits (limits: readonly LimitRangeItem[], at: string, report: Report): void {
  const types = new Set<string>()
  for (const [index, item] of limits.entries()) {
    const field = `${at}[${index}]`
    const { type } = item
    checkName(report, `${field}.type`, type, qualifiedName)
    if (qualifiedName(type).length === 0 && !type.includes('/') && !TYPES.includes(type)) {
      invalid(report, `${field}.type`, type, 'must be a standard limit type or fully qualified')
    }
    if (types.has(type)) duplicate(report, `${field}.type`, type)
    types.add(type)
    validateItem(item, field, report)
  }
}

function validateItem (item: LimitRangeItem, at: string, report: Report): void {
  const { type, min = {}, max = {} } = item
  const ofPods = type === 'Pod'
  const looked = BOUNDS.filter(bound => !(ofPods && bound.startsWith('default')))
  for (const bound of BOUNDS) {
    if (bound === 'maxLimitRequestRatio' && type === 'PersistentVolumeClaim' && min['storage'] === undefined &&
      max['storage'] === undefined) {
      required(report, `${at}.limits`, 'either minimum or maximum storage value is required, but neither was provided')
    }
    const names = Object.keys(item[bound] ?? {})
    if (!looked.includes(bound)) {
      if (names.length > 0) forbidden(report, `${at}.${bound}`, "may not be specified when `type` is 'Pod'")
      continue
    }
    for (const name of names) {
      if (ofPods || type === 'Container') validateContainerResourceName(report, `${at}.${bound}[${name}]`, name)
      else validateResourceName(report, `${at}.${bound}[${name}]`, name)
    }
  }
  for (const name of new Set(looked.flatMap(bound => Object.keys(item[bound] ?? {})))) {
    validateResource(item, name, looked, at, report)
  }
}

/** min ≤ default request ≤ default limit ≤ max. */
function validateResource (
  item: LimitRangeItem, name: string, looked: readonly string[], at: string, report: Report
): void {
  const amount = (bound: typeof BOUNDS[number]): string | undefined =>
    looked.includes(bound) && Object.hasOwn(item[bound] ?? {}, name) ? item[bound]?.[name] : undefined
  const [min, max, limit, request, ratio] = [
    amount('min'), amount('max'), amount('default'), amount('defaultRequest'), amount('maxLimitRequestRatio')
  ]
  const above = (one: string | undefined, other: string | undefined): boolean => one !== undefined &&
    other !== undefined && compareQuantities(one, other) > 0
  const wrong = (bound: string, value: string | undefined, detail: string): void => {
    invalid(report, `${at}.${bound}[${name}]`, value, detail)
  }
  if (above(min, max)) wrong('min', min, `min value ${min} is greater than max value ${max}`)
  if (above(min, request)) {
    wrong('defaultRequest', request, `min value ${min} is greater than default request value ${request}`)
  }
  if (above(request, max)) {
    wrong('defaultRequest', request, `default request value ${request} is greater than max value ${max}`)
  }
  if (above(request, limit)) {
    wrong('defaultRequest', request, `default request value ${request} is greater than default limit value ${limit}`)
  }
  if (above(min, limit)) wrong('default', min, `min value ${min} is greater than default value ${limit}`)
  if (above(limit, max)) wrong('default', max, `default value ${limit} is greater than max value ${max}`)
  if (above('1', ratio)) wrong('maxLimitRequestRatio', ratio, `ratio ${ratio} is less than 1`)
  if (ratio !== undefined && min !== undefined && max !== undefined && number(ratio) > number(max) / number(min)) {
    wrong(
      'maxLimitRequestRatio', ratio,
      `ratio ${ratio} is greater than max/min = ${(number(max) / number(min)).toFixed(6)}`
    )
  }
  if (!isOvercommittable(name) && limit !== undefined && request !== undefined &&
    compareQuantities(limit, request) !== 0) {
    wrong('defaultRequest', request, `default value ${limit} must equal to defaultRequest value ${request} in ${name}`)
  }
}

const number = (text: string): number => {
  const { value, scale } = amountOf(text)
  return Number(value) * 10 ** scale
}

/** Validation of container resources. */
import { forbidden, invalid, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { compareQuantities, isWhole, wholeUnits } from '../../../meta/quantity.js'
import type { ResourceRequirements } from '../resource-requirements.js'
import { HUGE_PAGES, isHugePages, isOvercommittable } from '../../../rules/quantities.js'
import { checkContainerResourceName, isWholeNumbered } from './resource-names.js'

function checkQuantity (name: string, quantity: string, field: string, report: Report): void {
  if (quantity.startsWith('-')) invalid(report, field, quantity, 'must be greater than or equal to 0')
  if (isWholeNumbered(name) && !isWhole(quantity)) invalid(report, field, quantity, 'must be an integer')
}

function checkAmount (name: string, quantity: string, field: string, report: Report): void {
  checkQuantity(name, quantity, field, report)
  if (!isHugePages(name)) return
  const page = wholeUnits(name.slice(HUGE_PAGES.length))
  if (page <= 0n || wholeUnits(quantity) % page !== 0n) {
    invalid(report, field, quantity, `${quantity} is not positive integer multiple of ${name}`)
  }
}

/** As upstream, errors about a request that exceeds its limit have the path of all requests. */
export function checkResources (
  { limits = {}, requests = {} }: ResourceRequirements, at: string, report: Report,
  checkName = checkContainerResourceName
): void {
  for (const [name, limit] of Object.entries(limits)) {
    checkName(name, `${at}.limits[${name}]`, report)
    checkAmount(name, limit, `${at}.limits[${name}]`, report)
  }
  for (const [name, request] of Object.entries(requests)) {
    checkName(name, `${at}.requests[${name}]`, report)
    checkAmount(name, request, `${at}.requests[${name}]`, report)
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined
    if (limit === undefined) {
      if (!isOvercommittable(name)) {
        required(report, `${at}.limits`, 'Limit must be set for non overcommitable resources')
      }
    } else if (!isOvercommittable(name)) {
      if (compareQuantities(request, limit) !== 0) {
        invalid(report, `${at}.requests`, request, `must be equal to ${name} limit`)
      }
    } else if (compareQuantities(request, limit) > 0) {
      invalid(report, `${at}.requests`, request, `must be less than or equal to ${name} limit`)
    }
  }
  const names = Object.keys({ ...limits, ...requests })
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    forbidden(report, at, 'HugePages require cpu or memory')
  }
}

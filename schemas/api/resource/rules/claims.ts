/** Validation of what claims and templates ask for. What is stored does not change, so only new ones are checked. */
import type { Gates } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { invalid, notSupported, required } from '../../../rules/findings.js'
import type { Steps } from '../../../steps.js'
import type { DeviceClaim, DeviceConstraint, DeviceRequest, DeviceSubRequest, ExactDeviceRequest } from '../v1.js'
import { checkClass, checkFullName, checkLabel, checkUnique, isShort } from './names.js'
import { MOST, validateConfiguration, validateSelectors, validateTolerations } from './selection.js'

const MOST_ALTERNATIVES = 8
const MODES = ['All', 'ExactCount']
const ONE_OF = 'exactly one of `exactly` or `firstAvailable` is required'

/** Alternatives by the name of their request. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>

export const requestNames = ({ requests = [] }: DeviceClaim): RequestNames =>
  new Map(requests.map(({ name, firstAvailable = [] }) => [name, new Set(firstAvailable.map(({ name }) => name))]))

export function * validateClaim (
  claim: DeviceClaim, at: string, report: Report, gates: Pick<Gates, 'enabled'>
): Steps<void> {
  const { requests = [], constraints = [], config = [] } = claim
  if (isShort(requests, MOST, `${at}.requests`, report)) {
    for (const [index, request] of requests.entries()) {
      yield * validateRequest(request, `${at}.requests[${index}]`, report, gates)
      yield
    }
    checkUnique(requests, ({ name }) => name, `${at}.requests`, report)
  }
  const names = requestNames(claim)
  if (isShort(constraints, MOST, `${at}.constraints`, report)) {
    for (const [index, constraint] of constraints.entries()) {
      validateConstraint(constraint, names, `${at}.constraints[${index}]`, { report, gates })
    }
  }
  if (!isShort(config, MOST, `${at}.config`, report)) return
  for (const [index, { requests: named, ...settings }] of config.entries()) {
    yield
    validateReferences(named, names, `${at}.config[${index}].requests`, report)
    validateConfiguration(settings, `${at}.config[${index}]`, report)
  }
}

function * validateRequest (
  { name, exactly, firstAvailable = [] }: DeviceRequest, at: string, report: Report, gates: Pick<Gates, 'enabled'>
): Steps<void> {
  checkLabel(name, `${at}.name`, report)
  const hasAlternatives = firstAvailable.length > 0
  if (exactly !== undefined && hasAlternatives) {
    return invalid(report, at, null, `${ONE_OF}, but multiple fields are set`)
  }
  if (exactly !== undefined) return yield * validateAsked(exactly, `${at}.exactly`, report, gates)
  if (!hasAlternatives) return required(report, at, ONE_OF)
  const path = `${at}.firstAvailable`
  if (!isShort(firstAvailable, MOST_ALTERNATIVES, path, report)) return
  for (const [index, alternative] of firstAvailable.entries()) {
    checkLabel(alternative.name, `${path}[${index}].name`, report)
    yield * validateAsked(alternative, `${path}[${index}]`, report, gates)
  }
  checkUnique(firstAvailable, ({ name }) => name, path, report)
}

function * validateAsked (
  asked: ExactDeviceRequest | DeviceSubRequest, at: string, report: Report, gates: Pick<Gates, 'enabled'>
): Steps<void> {
  const { deviceClassName, selectors = [], allocationMode = '', count = 0, tolerations } = asked
  checkClass(deviceClassName, `${at}.deviceClassName`, report)
  yield * validateSelectors(selectors, `${at}.selectors`, report, gates)
  if (allocationMode === 'All') {
    if (Number(count) !== 0) {
      invalid(report, `${at}.count`, count, "must not be specified when allocationMode is 'All'")
    }
  } else if (allocationMode === 'ExactCount') {
    if (count <= 0) invalid(report, `${at}.count`, count, 'must be greater than zero')
  } else notSupported(report, `${at}.allocationMode`, allocationMode, MODES)
  yield * validateTolerations(tolerations, `${at}.tolerations`, report)
}

function validateConstraint (
  { requests, matchAttribute, distinctAttribute }: DeviceConstraint, names: RequestNames, at: string,
  { report, gates }: { readonly report: Report, readonly gates: Pick<Gates, 'enabled'> }
): void {
  validateReferences(requests, names, `${at}.requests`, report)
  if (matchAttribute !== undefined) checkFullName(matchAttribute, `${at}.matchAttribute`, report)
  else if (distinctAttribute !== undefined) checkFullName(distinctAttribute, `${at}.distinctAttribute`, report)
  else if (gates.enabled('DRAConsumableCapacity')) {
    required(report, at, 'exactly one of "matchAttribute" or "distinctAttribute" is required')
  } else required(report, `${at}.matchAttribute`)
}

const NO_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

/** Requests of the claim: `REQUEST`, or `REQUEST/ALTERNATIVE`. */
export function validateReferences (
  named: readonly string[] | undefined, names: RequestNames, at: string, report: Report
): void {
  if (named === undefined || !isShort(named, MOST, at, report)) return
  for (const [index, name] of named.entries()) validateReference(name, names, `${at}[${index}]`, report)
  checkUnique(named, name => name, at, report)
}

export function validateReference (name: string, names: RequestNames, at: string, report: Report): void {
  const [request = '', alternative, ...others] = name.split('/', 3) // two parts, and whether there are more
  if (others.length > 0) return invalid(report, at, name, NO_REQUEST)
  for (const part of alternative === undefined ? [request] : [request, alternative]) checkLabel(part, at, report)
  const known = names.get(request)
  if (known === undefined || (alternative !== undefined && !known.has(alternative))) {
    invalid(report, at, name, NO_REQUEST)
  }
}

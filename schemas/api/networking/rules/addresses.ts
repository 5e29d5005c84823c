/** Validation of IPAddresses and ServiceCIDRs. */
import type { Report } from '../../../language/types.js'
import { sameValue } from '../../../language/values.js'
import { dnsSubdomain, pathSegment, type NameRule } from '../../../names.js'
import { canonicalForm } from '../../../rules/address-forms.js'
import { checkName, invalid, required, requiredName } from '../../../rules/findings.js'
import { areDualStack, parseAddress, parseRange } from '../../../rules/net.js'
import type { IPAddressSpec, ParentReference, ServiceCIDRSpec } from '../v1.js'

const MAX_RANGES = 2
const ONE_OF_EACH =
  'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'

/** Names of addresses: the address itself, in its usual form. */
export const addressName: NameRule = name => parseAddress(name) === undefined
  ? [`ParseAddr(${JSON.stringify(name)}): unable to parse IP`]
  : canonicalForm(name, 'ip') === undefined ? [] : ['must be a canonical format IP address']

export function validateAddressReference (parent: ParentReference | undefined, at: string, report: Report): void {
  if (parent === undefined) return required(report, at)
  const { group = '', resource, name, namespace = '' } = parent
  if (group !== '') checkName(report, `${at}.group`, group, dnsSubdomain)
  requiredName(report, `${at}.resource`, resource, pathSegment)
  requiredName(report, `${at}.name`, name, pathSegment)
  if (namespace !== '') checkName(report, `${at}.namespace`, namespace, pathSegment)
}

export function validateParentUpdate (
  { parentRef }: IPAddressSpec, { parentRef: old }: IPAddressSpec, at: string, report: Report
): void {
  if (!sameValue(parentRef, old)) invalid(report, `${at}.parentRef`, parentRef, 'field is immutable')
}

function isDual (cidrs: readonly string[]): boolean {
  const ranges = cidrs.map(parseRange)
  return ranges.every(range => range !== undefined) && areDualStack(ranges.map(({ address }) => address))
}

export function validateCIDRs (spec: ServiceCIDRSpec, at: string, report: Report): void {
  const { cidrs = [] } = spec
  const field = `${at}.cidrs`
  if (cidrs.length === 0) return required(report, field, 'at least one CIDR required')
  if (cidrs.length > MAX_RANGES) return invalid(report, field, spec, 'may only hold up to 2 values')
  if (cidrs.length === MAX_RANGES && !isDual(cidrs)) return invalid(report, field, spec, ONE_OF_EACH)
  for (const [index, cidr] of cidrs.entries()) validateRange(cidr, `${field}[${index}]`, report)
}

/** Ambiguous forms are found by the rule that all ranges share. */
function validateRange (cidr: string, at: string, report: Report): void {
  if (parseRange(cidr) === undefined) {
    invalid(report, at, cidr, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')
  } else if (canonicalForm(cidr, 'cidr') !== undefined) {
    invalid(report, at, cidr, `must be in canonical form ("${canonicalForm(cidr, 'cidr') ?? ''}")`)
  }
}

/** A single range may get a second one of the other family; nothing else changes. */
export function validateCIDRsUpdate (spec: ServiceCIDRSpec, old: ServiceCIDRSpec, at: string, report: Report): void {
  const [{ cidrs = [] }, { cidrs: before = [] }] = [spec, old]
  const field = `${at}.cidrs`
  if (cidrs.length === before.length) {
    for (const [index, cidr] of cidrs.entries()) {
      if (cidr !== before[index]) invalid(report, `${field}[${index}]`, cidr, 'field is immutable')
    }
    return
  }
  if (before.length !== 1 || cidrs.length !== MAX_RANGES) {
    return invalid(report, field, cidrs, 'updates to CIDRs field are not allowed')
  }
  const [first = ''] = cidrs
  if (first !== before[0]) invalid(report, `${field}[0]`, first, 'field is immutable')
}

/** Validation of a Service's cluster IPs and IP families, on create and on update. */
import type { Report } from '../../../language/types.js'
import { duplicate, invalid, checkName, notSupported, required } from '../../../rules/findings.js'
import { areDualStack, ipAddress, isIPv6, parseAddress } from '../../../rules/net.js'
import type { ServiceSpec } from '../services.js'

const FAMILIES = ['IPv4', 'IPv6']
const POLICIES = ['SingleStack', 'PreferDualStack', 'RequireDualStack']
const NONE = 'None'
const AT = 'spec.clusterIPs'

export const isHeadless = ({ clusterIPs, clusterIP }: ServiceSpec): boolean =>
  clusterIPs?.length === 1 ? clusterIPs[0] === NONE : clusterIP === NONE

export function validateServiceAddresses (spec: ServiceSpec, report: Report): void {
  if (spec.type === 'ExternalName') return // validated by services.ts
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec
  if (clusterIP === '') {
    if (clusterIPs.length > 0) invalid(report, AT, clusterIPs, 'must be empty when `clusterIP` is not specified')
  } else if (clusterIPs.length === 0) required(report, AT)
  else if (clusterIPs[0] !== clusterIP) invalid(report, AT, clusterIPs, 'first value must match `clusterIP`')

  const seen = new Set<string>()
  for (const [index, family] of ipFamilies.entries()) {
    const field = `spec.ipFamilies[${index}]`
    if (!FAMILIES.includes(family)) notSupported(report, field, family, FAMILIES)
    if (seen.has(family)) duplicate(report, field, family)
    seen.add(family)
  }
  if (ipFamilyPolicy !== undefined && !POLICIES.includes(ipFamilyPolicy)) {
    notSupported(report, 'spec.ipFamilyPolicy', ipFamilyPolicy, POLICIES)
  }
  if (validateEach(clusterIPs, report)) validateFamilies(spec, report)
}

/** @returns whether all entries are valid: addresses, or a single None */
function validateEach (clusterIPs: readonly string[], report: Report): boolean {
  let valid = true
  for (const [index, ip] of clusterIPs.entries()) {
    if (index === 0 && ip === NONE) {
      if (clusterIPs.length === 1) continue
      invalid(report, AT, clusterIPs, "'None' must be the first and only value")
      valid = false
    } else {
      checkName(report, `${AT}[${index}]`, ip, ipAddress)
      if (parseAddress(ip) === undefined) valid = false
    }
  }
  if (clusterIPs.length > 2) invalid(report, AT, clusterIPs, 'may only hold up to 2 values')
  return valid
}

function validateFamilies (spec: ServiceSpec, report: Report): void {
  const { clusterIPs = [], ipFamilies = [] } = spec
  if (isHeadless(spec)) return
  const addresses = clusterIPs.map(ip => parseAddress(ip) ?? [])
  if (addresses.length > 1 && !areDualStack(addresses)) {
    invalid(report, AT, clusterIPs, 'may specify no more than one IP for each IP family')
  }
  for (const [index, address] of addresses.entries()) {
    const family = ipFamilies[index]
    if (family === undefined) return
    if (isIPv6(address) ? family === 'IPv4' : family === 'IPv6') {
      invalid(
        report, `${AT}[${index}]`, clusterIPs[index],
        `expected an ${family} value as indicated by \`ipFamilies[${index}]\``
      )
    }
  }
}

/** The primary IP and family are immutable while set; the secondary ones may be added and removed. */
export function validateServiceAddressUpdate (spec: ServiceSpec, old: ServiceSpec, report: Report): void {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return
  const [headless, wasHeadless] = [isHeadless(spec), isHeadless(old)]
  if (!(headless && wasHeadless)) validateKept(spec, spec.clusterIPs, old.clusterIPs, 'clusterIPs', 'clusterIP', report)
  if (!headless && !wasHeadless) validateKept(spec, spec.ipFamilies, old.ipFamilies, 'ipFamilies', 'ipFamily', report)
}

function validateKept (
  { ipFamilyPolicy, clusterIPs = [] }: ServiceSpec, values: readonly string[] = [], before: readonly string[] = [],
  list: string, singular: string, report: Report
): void {
  const changed = (index: number, value = values): void => {
    invalid(report, `spec.${list}[${index}]`, value, 'may not change once set')
  }
  if (values.length === before.length) {
    before.forEach((value, index) => { if (value !== values[index]) changed(list === 'ipFamilies' ? 0 : index) })
    return
  }
  if (values.length < before.length && clusterIPs.length === 0) {
    invalid(report, `spec.${list}[0]`, values, `primary ${singular} can not be unset`)
  }
  // as upstream, for families too
  if (values.length > 0 && before.length > 0 && values[0] !== before[0]) changed(0, clusterIPs)
  if (values.length === 1 && before.length > 1 && ipFamilyPolicy !== 'SingleStack') {
    invalid(
      report, 'spec.ipFamilyPolicy', ipFamilyPolicy,
      `must be set to 'SingleStack' when releasing the secondary ${singular}`
    )
  }
}

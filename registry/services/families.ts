/** Decides the IP families of a service, from its spec, its previous spec and the ranges of the cluster. */
import { collect } from '../../schemas/language/validation.js'
import { sameValue } from '../../schemas/language/values.js'
import type { FieldError } from '../../schemas/status.js'
import { validateServiceAddresses } from '../../schemas/api/core/rules/service-addresses.js'
import type { ServiceSpec } from '../../schemas/api/core/services.js'
import { isIPv6, parseAddress } from '../../schemas/rules/net.js'
import { hasAddresses } from '../../schemas/api/core/service-types.js'

export type Family = 'IPv4' | 'IPv6'
export const NONE = 'None'
const SINGLE = 'SingleStack'
const PREFER = 'PreferDualStack'
const REQUIRE = 'RequireDualStack'

export const isHeadless = ({ clusterIP, clusterIPs }: ServiceSpec): boolean => (clusterIPs?.[0] ?? clusterIP) === NONE

const other = (family: string | undefined): Family => family === 'IPv4' ? 'IPv6' : 'IPv4'
const invalid = (field: string, value: unknown, detail: string): FieldError =>
  ({ type: 'FieldValueInvalid', field, value, detail })

/**
 * Sets policy and families. Runs the validation of addresses and families first, because the rest depends on them.
 * @param cluster families with a range; the first is the default
 * @returns findings of invalid specs
 */
export function settleFamilies (
  spec: ServiceSpec, old: ServiceSpec | undefined, cluster: readonly Family[]
): FieldError[] {
  if (!hasAddresses(spec) || staysPreferring(spec, old)) return []
  const selects = Object.keys(spec.selector ?? {}).length > 0
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (isHeadless(spec) && !selects ? REQUIRE : SINGLE)
  const findings = collect(report => { validateServiceAddresses(spec, report) })
  if (findings.length > 0) return findings
  if (old !== undefined) findings.push(...dropSecond(spec, old))
  findings.push(...policyFindings(spec), ...inferFamilies(spec, cluster))
  if (findings.length > 0) return findings
  const families = [...spec.ipFamilies ?? []]
  if (isHeadless(spec) && !selects) {
    // Endpoints without a selector are written by clients, so any family is valid.
    if (families.length === 0) families.push(cluster[0] ?? 'IPv4')
    if (families.length === 1 && spec.ipFamilyPolicy !== SINGLE) families.push(other(families[0]))
    spec.ipFamilies = families
    return []
  }
  findings.push(...validateCluster(spec, families, cluster))
  if (findings.length > 0) return findings
  if (families.length === 0) families.push(cluster[0] ?? 'IPv4')
  if (families.length === 1 && spec.ipFamilyPolicy !== SINGLE && cluster.length === 2) families.push(other(families[0]))
  spec.ipFamilies = families
  return []
}

/** A PreferDualStack service gets no second family when the cluster adds a range. */
function staysPreferring (spec: ServiceSpec, old: ServiceSpec | undefined): boolean {
  if (old?.ipFamilyPolicy !== PREFER || old.type !== spec.type || spec.ipFamilyPolicy !== PREFER) return false
  return sameValue(spec.clusterIPs ?? [], old.clusterIPs ?? []) &&
    sameValue(spec.ipFamilies ?? [], old.ipFamilies ?? []) && (spec.ipFamilies ?? []).length > 0
}

/** Changing to SingleStack releases the secondary address, named or not; other policies keep it. */
function dropSecond (spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (spec.ipFamilyPolicy === SINGLE) {
    if (spec.clusterIPs?.length === 2 && sameValue(spec.clusterIPs, old.clusterIPs)) {
      spec.clusterIPs = spec.clusterIPs.slice(0, 1)
    }
    if (spec.ipFamilies?.length === 2 && sameValue(spec.ipFamilies, old.ipFamilies)) {
      spec.ipFamilies = spec.ipFamilies.slice(0, 1)
    }
    return []
  }
  const reduced = (list: 'clusterIPs' | 'ipFamilies'): boolean => (spec[list] ?? []).length > 0 &&
    (spec[list] ?? []).length < (old[list] ?? []).length
  const lost = (what: string): FieldError =>
    invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`)
  return [...(reduced('clusterIPs') ? [lost('cluster IP')] : []), ...(reduced('ipFamilies') ? [lost('IP family')] : [])]
}

/**
 * Which addresses to allocate: all of a new service, or a second one it lacked. Validation checks that others stay
 * unchanged.
 */
export function newAddresses (spec: ServiceSpec, old: ServiceSpec | undefined): (index: number) => boolean {
  if (old === undefined || !hasAddresses(old)) return () => true
  if (isHeadless(old) || staysPreferring(spec, old)) return () => false
  return index => index === 1 && old.ipFamilies?.length === 1 && spec.ipFamilies?.length === 2
}

function policyFindings ({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): FieldError[] {
  if (ipFamilyPolicy !== SINGLE) return []
  const multiple = (what: string): FieldError => invalid(
    'spec.ipFamilyPolicy', ipFamilyPolicy,
    `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`
  )
  return [
    ...(clusterIPs.length === 2 ? [multiple('cluster IPs')] : []),
    ...(ipFamilies.length === 2 ? [multiple('IP families')] : [])
  ]
}

/** Infers families from addresses that the client set. */
function inferFamilies (spec: ServiceSpec, cluster: readonly Family[]): FieldError[] {
  const findings: FieldError[] = []
  const families = [...spec.ipFamilies ?? []]
  for (const [index, ip] of (spec.clusterIPs ?? []).entries()) {
    const address = parseAddress(ip)
    if (address === undefined || index < families.length) continue
    const family: Family = isIPv6(address) ? 'IPv6' : 'IPv4'
    if (cluster.includes(family)) families.push(family)
    else {
      findings.push(
        invalid(`spec.clusterIPs[${index}]`, spec.clusterIPs, `${family} is not configured on this cluster`)
      )
    }
  }
  if (families.length > 0) spec.ipFamilies = families
  return findings
}

function validateCluster (
  { ipFamilyPolicy }: ServiceSpec, families: readonly string[], cluster: readonly string[]
): FieldError[] {
  const findings: FieldError[] = []
  if (ipFamilyPolicy === REQUIRE && cluster.length < 2) {
    findings.push(
      invalid('spec.ipFamilyPolicy', ipFamilyPolicy, 'this cluster is not configured for dual-stack services')
    )
  }
  for (const [index, family] of families.entries()) {
    if (!cluster.includes(family)) {
      findings.push(invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster'))
    }
  }
  return findings
}

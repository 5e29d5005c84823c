/** Validation of NetworkPolicies. */
import { isOn } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { forbidden, invalid, notSupported, required } from '../../../rules/findings.js'
import { contains, parseRange } from '../../../rules/net.js'
import { validatePort, validatePortNumber } from '../../../rules/ports.js'
import { validateLabelSelector } from '../../../selectors/objects.js'
import type { IPBlock, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from '../networkpolicies.js'

/** In the order of error messages. */
export const PROTOCOLS = ['TCP', 'UDP', 'SCTP']
export const DIRECTIONS = ['Ingress', 'Egress']

export function validateNetworkPolicySpec (
  { podSelector, policyTypes = [] }: NetworkPolicySpec, at: string, report: Report
): void {
  validateLabelSelector(podSelector, `${at}.podSelector`, report)
  if (policyTypes.length > DIRECTIONS.length) {
    return invalid(report, `${at}.policyTypes`, policyTypes, 'may not specify more than two policyTypes')
  }
  for (const [index, type] of policyTypes.entries()) {
    if (!DIRECTIONS.includes(type)) notSupported(report, `${at}.policyTypes[${index}]`, type, DIRECTIONS)
  }
}

export function validatePolicyPort ({ protocol, port, endPort }: NetworkPolicyPort, at: string, report: Report): void {
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) {
    notSupported(report, `${at}.protocol`, protocol, PROTOCOLS)
  }
  const field = `${at}.endPort`
  if (typeof port === 'string' && endPort !== undefined) {
    invalid(report, field, endPort, 'may not be specified when `port` is non-numeric')
  }
  if (port !== undefined) validatePort(report, `${at}.port`, port)
  if (endPort === undefined || typeof port === 'string') return
  if (port === undefined) return invalid(report, field, endPort, 'may not be specified when `port` is not specified')
  // as upstream, the value is `port`
  if (endPort < port) invalid(report, field, port, 'must be greater than or equal to `port`')
  validatePortNumber(report, field, endPort)
}

export function validatePeer (
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, at: string, report: Report
): void {
  if (podSelector !== undefined) validateLabelSelector(podSelector, `${at}.podSelector`, report)
  if (namespaceSelector !== undefined) validateLabelSelector(namespaceSelector, `${at}.namespaceSelector`, report)
  const selects = podSelector !== undefined || namespaceSelector !== undefined
  if (!selects && ipBlock === undefined) required(report, at, 'must specify a peer')
  if (selects && ipBlock !== undefined) forbidden(report, at, 'may not specify both ipBlock and another peer')
}

export function validateBlock ({ cidr, except = [] }: IPBlock, at: string, report: Report): void {
  if (cidr === '') return // reported as required by the declaration
  const whole = parseRange(cidr)
  if (whole === undefined) return invalid(report, `${at}.cidr`, cidr, 'not a valid CIDR')
  for (const [index, text] of except.entries()) {
    const part = parseRange(text)
    const field = `${at}.except[${index}]`
    if (part === undefined) {
      invalid(report, field, text, 'not a valid CIDR')
      if (!isOn(report, 'ExceptionsAreAllValidated')) return
    } else if (!contains(whole, part.address) || whole.bits >= part.bits) {
      invalid(report, field, text, 'must be a strict subset of `cidr`')
    }
  }
}

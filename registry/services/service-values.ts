/** The values a service holds: its addresses by family and its node ports. */
import { hasAddresses, hasNodePorts, needsHealthCheckPort } from '../../schemas/api/core/service-types.js'
import type { ServiceSpec } from '../../schemas/api/core/services.js'
import { isIPv6, parseAddress } from '../../schemas/rules/net.js'
import { isHeadless, type Family } from './families.js'
import { addressText } from './value-range.js'

/** Whether unset node ports are allocated. */
export const allocatesNodePorts = (spec: ServiceSpec): boolean => hasNodePorts(spec) &&
  !(spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false)

/** Canonical addresses. */
export function addressesOf (spec: ServiceSpec): Array<{ readonly family: Family, readonly name: string }> {
  if (!hasAddresses(spec) || isHeadless(spec)) return []
  const { clusterIP = '', clusterIPs = [] } = spec
  const all = clusterIPs.length > 0 ? clusterIPs : [clusterIP]
  return all.flatMap(ip => {
    const address = parseAddress(ip)
    return address === undefined
      ? []
      : [{ family: isIPv6(address) ? 'IPv6' as const : 'IPv4' as const, name: addressText(address) }]
  })
}

export function nodePortsOf (spec: ServiceSpec): Set<number> {
  const ports = new Set<number>()
  if (!hasNodePorts(spec)) return ports
  for (const { nodePort = 0 } of spec.ports ?? []) if (nodePort !== 0) ports.add(nodePort)
  const { healthCheckNodePort = 0 } = spec
  if (needsHealthCheckPort(spec) && healthCheckNodePort !== 0) ports.add(healthCheckNodePort)
  return ports
}

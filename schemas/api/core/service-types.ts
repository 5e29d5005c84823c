/** Fields of a Service that depend on its type, and what an update of the type drops. */
import { sameValue } from '../../language/values.js'
import type { Gates } from '../../gates.js'
import type { Service, ServiceSpec } from './services.js'

/** The release since which a service with external addresses has a policy for traffic from outside. */
export const EXPOSED_SINCE = '1.26'

export const hasAddresses = ({ type }: ServiceSpec): boolean => type !== 'ExternalName'
const isBalanced = ({ type }: ServiceSpec): boolean => type === 'LoadBalancer'
/** Whether node ports and externalTrafficPolicy apply. */
export const hasNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer'
export const needsHealthCheckPort = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local'

/** clusterIPs defaults to clusterIP, for clients that know only that. */
export function prepareService ({ spec }: Service): void {
  if ((spec.clusterIP ?? '') !== '' && (spec.clusterIPs ?? []).length === 0) spec.clusterIPs = [spec.clusterIP ?? '']
}

export function prepareServiceUpdate (
  service: Service, { spec: old }: Service, subresource: string, gates: Gates
): void {
  if (subresource === 'status') defaultModes(service, gates)
  if (subresource !== '') return
  const { spec, status } = service
  keepAllocated(spec, old)
  followAddress(spec, old)
  dropForType(spec, old)
  // Only an unchanged value is dropped; a new one is validated first.
  if (!hasAddresses(spec) && spec.internalTrafficPolicy === old.internalTrafficPolicy) delete spec.internalTrafficPolicy
  // Removing the load balancer takes time, but clients no longer need its addresses.
  if (!isBalanced(spec) && status.loadBalancer.ingress !== undefined) service.status = { ...status, loadBalancer: {} }
}

/** Drops internalTrafficPolicy of ExternalName services once it was validated, as it has no effect there. */
export function forgetMeaningless ({ spec }: Service): void {
  if (!hasAddresses(spec)) delete spec.internalTrafficPolicy
}

export const laterServiceDefaults = {
  since: EXPOSED_SINCE,
  fill: (service: Service, gates: Gates): void => {
    const { spec } = service
    if (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0) spec.externalTrafficPolicy ||= 'Cluster'
    defaultModes(service, gates)
  }
}

/** Traffic to the address of a balancer arrives with that address, unless somebody says otherwise. */
function defaultModes ({ spec, status }: Service, gates: Gates): void {
  if (!isBalanced(spec) || !gates.enabled('LoadBalancerIPMode')) return
  for (const entry of status.loadBalancer.ingress ?? []) if ((entry.ip ?? '') !== '') entry.ipMode ??= 'VIP'
}

/** An update that omits allocated addresses and ports keeps them. */
function keepAllocated (spec: ServiceSpec, old: ServiceSpec): void {
  if (hasAddresses(old) && hasAddresses(spec)) {
    if ((spec.clusterIP ?? '') === '' && old.clusterIP !== undefined) spec.clusterIP = old.clusterIP
    if ((spec.clusterIPs ?? []).length === 0 && old.clusterIPs !== undefined) spec.clusterIPs = [...old.clusterIPs]
  }
  if (hasNodePorts(old) && hasNodePorts(spec)) keepNodePorts(spec, old)
  if (needsHealthCheckPort(old) && needsHealthCheckPort(spec) && (spec.healthCheckNodePort ?? 0) === 0 &&
    old.healthCheckNodePort !== undefined) {
    spec.healthCheckNodePort = old.healthCheckNodePort
  }
}

/** Ports are matched by name. A node port that the client assigned to another port is not reused. */
function keepNodePorts ({ ports = [] }: ServiceSpec, { ports: old = [] }: ServiceSpec): void {
  if (ports.every(({ nodePort = 0 }) => nodePort !== 0)) return
  const used = new Set(ports.map(({ nodePort }) => nodePort))
  const before = new Map(old.map(({ name = '', nodePort }) => [name, nodePort]))
  for (const port of ports) {
    const nodePort = (port.nodePort ?? 0) === 0 ? before.get(port.name ?? '') : undefined
    if (nodePort !== undefined && !used.has(nodePort)) port.nodePort = nodePort
  }
}

/** A change of clusterIP alone also changes clusterIPs. */
function followAddress (spec: ServiceSpec, old: ServiceSpec): void {
  const [now, before] = [spec.clusterIP ?? '', old.clusterIP ?? '']
  if (now === before || !sameValue(spec.clusterIPs, old.clusterIPs)) return
  if (now === '') delete spec.clusterIPs
  else spec.clusterIPs = [now]
}

/** Drops fields that no longer apply, if the client left them unchanged. */
function dropForType (spec: ServiceSpec, old: ServiceSpec): void {
  const drop = (needed: (spec: ServiceSpec) => boolean, ...fields: ReadonlyArray<keyof ServiceSpec>): void => {
    if (!needed(old) || needed(spec)) return
    for (const field of fields) if (sameValue(spec[field], old[field])) delete (spec as Partial<ServiceSpec>)[field]
  }
  const sameAddresses = sameValue([spec.clusterIP, spec.clusterIPs], [old.clusterIP, old.clusterIPs])
  if (sameAddresses) drop(hasAddresses, 'clusterIP', 'clusterIPs')
  drop(hasAddresses, 'ipFamilies', 'ipFamilyPolicy')
  if (hasNodePorts(old) && !hasNodePorts(spec)) dropNodePorts(spec, old)
  drop(needsHealthCheckPort, 'healthCheckNodePort')
  drop(isBalanced, 'allocateLoadBalancerNodePorts', 'loadBalancerClass')
  drop(spec => hasNodePorts(spec) || (spec.externalIPs ?? []).length > 0, 'externalTrafficPolicy')
}

/** Node ports are dropped unless the client requests a new one. */
function dropNodePorts ({ ports = [] }: ServiceSpec, { ports: old = [] }: ServiceSpec): void {
  const before = new Set(old.map(({ nodePort }) => nodePort))
  if (ports.every(({ nodePort = 0 }) => nodePort === 0 || before.has(nodePort))) {
    for (const port of ports) delete port.nodePort
  }
}

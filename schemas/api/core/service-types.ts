/** What follows from the type of a Service: which of its fields mean anything, and what an update that changes the type drops. */
import { sameValue } from '../../language/values.js'
import type { Service, ServiceSpec } from './services.js'

const needsAddresses = ({ type }: ServiceSpec): boolean => type !== 'ExternalName'
const isBalanced = ({ type }: ServiceSpec): boolean => type === 'LoadBalancer'
/** It may have ports of the nodes, and says how they are reached. */
const isExternal = ({ type }: ServiceSpec): boolean => type === 'LoadBalancer' || type === 'NodePort'
export const needsHealthCheckPort = ({ type, externalTrafficPolicy }: ServiceSpec): boolean => type === 'LoadBalancer' && externalTrafficPolicy === 'Local'

/** Clients may know only of the one address or of all of them: the one stands for a list of one. */
export function prepareService ({ spec }: Service): void {
  if ((spec.clusterIP ?? '') !== '' && (spec.clusterIPs ?? []).length === 0) spec.clusterIPs = [spec.clusterIP ?? '']
}

export function prepareServiceUpdate (service: Service, { spec: old }: Service, subresource: string): void {
  if (subresource !== '') return
  const { spec, status } = service
  keepAllocated(spec, old)
  followAddress(spec, old)
  dropForType(spec, old)
  // As it was it is nobody's word any more; another value is judged first.
  if (!needsAddresses(spec) && spec.internalTrafficPolicy === old.internalTrafficPolicy) delete spec.internalTrafficPolicy
  // Taking a load balancer down takes its time, of which clients need not know.
  if (!isBalanced(spec) && status.loadBalancer.ingress !== undefined) service.status = { ...status, loadBalancer: {} }
}

/** Judged like that of any other service, and then of no meaning: clients are not shown it. */
export function forgetMeaningless ({ spec }: Service): void { if (!needsAddresses(spec)) delete spec.internalTrafficPolicy }

/** What was allocated stays where a client leaves it out. */
function keepAllocated (spec: ServiceSpec, old: ServiceSpec): void {
  if (needsAddresses(old) && needsAddresses(spec)) {
    if ((spec.clusterIP ?? '') === '' && old.clusterIP !== undefined) spec.clusterIP = old.clusterIP
    if ((spec.clusterIPs ?? []).length === 0 && old.clusterIPs !== undefined) spec.clusterIPs = [...old.clusterIPs]
  }
  if (isExternal(old) && isExternal(spec)) keepNodePorts(spec, old)
  if (needsHealthCheckPort(old) && needsHealthCheckPort(spec) && (spec.healthCheckNodePort ?? 0) === 0 && old.healthCheckNodePort !== undefined) {
    spec.healthCheckNodePort = old.healthCheckNodePort
  }
}

/** Ports are known by their names, whatever else changes of them; what a client has given to another port is not there to be kept. */
function keepNodePorts ({ ports = [] }: ServiceSpec, { ports: old = [] }: ServiceSpec): void {
  if (ports.every(({ nodePort = 0 }) => nodePort !== 0)) return
  const used = new Set(ports.map(({ nodePort }) => nodePort))
  const before = new Map(old.map(({ name = '', nodePort }) => [name, nodePort]))
  for (const port of ports) {
    const nodePort = (port.nodePort ?? 0) === 0 ? before.get(port.name ?? '') : undefined
    if (nodePort !== undefined && !used.has(nodePort)) port.nodePort = nodePort
  }
}

/** A change of one of the two fields is meant for both, where the other is as it was. */
function followAddress (spec: ServiceSpec, old: ServiceSpec): void {
  const [now, before] = [spec.clusterIP ?? '', old.clusterIP ?? '']
  if (now === before || !sameValue(spec.clusterIPs, old.clusterIPs)) return
  if (now === '') delete spec.clusterIPs
  else spec.clusterIPs = [now]
}

/** What no longer applies is dropped where the client has left it as it was. */
function dropForType (spec: ServiceSpec, old: ServiceSpec): void {
  const drop = (needed: (spec: ServiceSpec) => boolean, ...fields: ReadonlyArray<keyof ServiceSpec>): void => {
    if (!needed(old) || needed(spec)) return
    for (const field of fields) if (sameValue(spec[field], old[field])) delete (spec as Partial<ServiceSpec>)[field]
  }
  const sameAddresses = sameValue([spec.clusterIP, spec.clusterIPs], [old.clusterIP, old.clusterIPs])
  if (sameAddresses) drop(needsAddresses, 'clusterIP', 'clusterIPs')
  drop(needsAddresses, 'ipFamilies', 'ipFamilyPolicy')
  if (isExternal(old) && !isExternal(spec)) dropNodePorts(spec, old)
  drop(needsHealthCheckPort, 'healthCheckNodePort')
  drop(isBalanced, 'allocateLoadBalancerNodePorts', 'loadBalancerClass')
  drop(isExternal, 'externalTrafficPolicy')
}

/** Ports may come, go and change: a client that asks for a port of the nodes that was not there means it. */
function dropNodePorts ({ ports = [] }: ServiceSpec, { ports: old = [] }: ServiceSpec): void {
  const before = new Set(old.map(({ nodePort }) => nodePort))
  if (ports.every(({ nodePort = 0 }) => nodePort === 0 || before.has(nodePort))) for (const port of ports) delete port.nodePort
}

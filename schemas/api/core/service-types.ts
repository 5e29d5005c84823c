/** What follows from the type of a Service: which of its fields mean anything, and what an update that changes the type drops. */
import { sameValue } from '../../language/values.js'
import type { Service, ServiceSpec } from './services.js'

const needsAddresses = ({ type }: ServiceSpec): boolean => type !== 'ExternalName'
const needsNodePorts = ({ type, allocateLoadBalancerNodePorts: allocate }: ServiceSpec): boolean => type === 'NodePort' || (type === 'LoadBalancer' && allocate !== false)
const isBalanced = ({ type }: ServiceSpec): boolean => type === 'LoadBalancer'
const isExternal = ({ type }: ServiceSpec): boolean => type === 'LoadBalancer' || type === 'NodePort'
export const needsHealthCheckPort = ({ type, externalTrafficPolicy }: ServiceSpec): boolean => type === 'LoadBalancer' && externalTrafficPolicy === 'Local'

/** Clients may know only of the one address or of all of them: the one stands for a list of one. */
export function prepareService ({ spec }: Service): void {
  if ((spec.clusterIP ?? '') !== '' && (spec.clusterIPs ?? []).length === 0) spec.clusterIPs = [spec.clusterIP ?? '']
}

export function prepareServiceUpdate ({ spec }: Service, { spec: old }: Service, subresource: string): void {
  if (subresource !== '') return
  keepAllocated(spec, old)
  followAddress(spec, old)
  dropForType(spec, old)
}

/** What was allocated stays where a client leaves it out. */
function keepAllocated (spec: ServiceSpec, old: ServiceSpec): void {
  if (needsAddresses(old) && needsAddresses(spec)) {
    if ((spec.clusterIP ?? '') === '' && old.clusterIP !== undefined) spec.clusterIP = old.clusterIP
    if ((spec.clusterIPs ?? []).length === 0 && spec.clusterIP === old.clusterIP && old.clusterIPs !== undefined) spec.clusterIPs = [...old.clusterIPs]
  }
  if (needsNodePorts(old) && needsNodePorts(spec)) keepNodePorts(spec, old)
  if (needsHealthCheckPort(old) && needsHealthCheckPort(spec) && (spec.healthCheckNodePort ?? 0) === 0 && old.healthCheckNodePort !== undefined) {
    spec.healthCheckNodePort = old.healthCheckNodePort
  }
}

function keepNodePorts (spec: ServiceSpec, old: ServiceSpec): void {
  const used = new Set((spec.ports ?? []).map(({ protocol, nodePort }) => `${protocol ?? ''}/${nodePort ?? 0}`))
  const byPort = new Map((old.ports ?? []).map(port => [`${port.protocol ?? ''}/${port.port}`, port]))
  for (const port of spec.ports ?? []) {
    if ((port.nodePort ?? 0) !== 0) continue
    const before = byPort.get(`${port.protocol ?? ''}/${port.port}`)
    const key = `${port.protocol ?? ''}/${before?.nodePort ?? 0}`
    if (before?.nodePort === undefined || used.has(key)) continue
    port.nodePort = before.nodePort
    used.add(key)
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
  const nodePorts = ({ ports = [] }: ServiceSpec): unknown => ports.map(({ nodePort }) => nodePort ?? 0).sort()
  if (needsNodePorts(old) && !needsNodePorts(spec) && sameValue(nodePorts(spec), nodePorts(old))) for (const port of spec.ports ?? []) delete port.nodePort
  drop(needsHealthCheckPort, 'healthCheckNodePort')
  drop(isBalanced, 'allocateLoadBalancerNodePorts', 'loadBalancerClass')
  drop(isExternal, 'externalTrafficPolicy')
}

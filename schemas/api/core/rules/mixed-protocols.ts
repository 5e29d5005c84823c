/** Load balancers with ports of several protocols, which a feature gate allows. */
import { isOn, type Gates } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { invalid } from '../../../rules/findings.js'
import type { Service, ServiceSpec } from '../services.js'

const GATE = 'MixedProtocolLBService'

const isMixed = ({ type, ports = [] }: ServiceSpec): boolean => type === 'LoadBalancer' &&
  new Set(ports.map(({ protocol }) => protocol)).size > 1

/** @param old undefined on create */
export function refuseMixedProtocols (spec: ServiceSpec, old: ServiceSpec | undefined, report: Report): void {
  if (isOn(report, GATE) || !isMixed(spec) || (old !== undefined && isMixed(old))) return
  invalid(report, 'spec.ports', spec.ports, 'cannot create an external load balancer with mix protocols')
}

const ingressOf = (service: Service | undefined) => service?.status.loadBalancer.ingress ?? []

/** Drops the states of ports while the gate is off, unless `old` has some; `old` is undefined on create. */
export function dropMixedPorts (service: Service, old: Service | undefined, gates: Gates): void {
  if (gates.enabled(GATE) || ingressOf(old).some(({ ports }) => ports !== undefined)) return
  for (const ingress of ingressOf(service)) delete ingress.ports
}

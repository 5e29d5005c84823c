/** Service (v1). */
import { dropMixedPorts, refuseMixedProtocols } from './rules/mixed-protocols.js'
import { int32, map, one, bool, list, string, type Report, type Static } from '../../language/declare.js'
import { sameValue } from '../../language/values.js'
import { metadata } from '../../meta/object.js'
import { dns1035Label, dnsLabel } from '../../names.js'
import { serviceWarnings } from './rules/later-warnings.js'
import { forbidden, invalid } from '../../rules/findings.js'
import { LoadBalancerStatus } from './load-balancers.js'
import { validateServiceAddressUpdate } from './rules/service-addresses.js'
import { validateService, validateServiceStatus } from './rules/services.js'
import {
  forgetMeaningless, laterServiceDefaults, needsHealthCheckPort, prepareService, prepareServiceUpdate
} from './service-types.js'
import { serviceColumns } from './service-columns.js'
import { Condition } from '../../meta/answers.js'
import { IntOrString } from '../../meta/int-or-string.js'
import { resource } from '../../resource.js'
import { kind, message } from './package.js'

export type ServicePort = Static<typeof ServicePort>
export const ServicePort = message('ServicePort', 'A port of a service.', {
  name: string(1, 'Name of the port; required if there are several.'),
  protocol: string(2, 'Transport protocol: TCP, UDP or SCTP; by default TCP.', {
    values: ['TCP', 'UDP', 'SCTP'], closed: 'ruled', default: 'TCP'
  }),
  appProtocol: string(6, 'Application protocol of the port, such as http or https.', { pointer: true }),
  port: int32(3, 'Port number of the service.', { required: true }),
  targetPort: one(4, 'Number or name of the port of the pods; by default port.', IntOrString),
  nodePort: int32(5, 'Port of every node that leads to the service.')
}, {
  defaults: port => {
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port
  }
})

export type ClientIPConfig = Static<typeof ClientIPConfig>
export const ClientIPConfig = message('ClientIPConfig', 'Settings of session affinity by client address.', {
  timeoutSeconds: int32(1, 'Seconds a client stays with the same pod, at most 86400.', { pointer: true })
})

export type SessionAffinityConfig = Static<typeof SessionAffinityConfig>
export const SessionAffinityConfig = message('SessionAffinityConfig', 'Settings of session affinity.', {
  clientIP: one(1, 'Settings of affinity by client address.', ClientIPConfig, { pointer: true })
})

const AFFINITY_SECONDS = 3 * 3600

interface ByType {
  type?: string | undefined
  sessionAffinity?: string | undefined
  sessionAffinityConfig?: SessionAffinityConfig | undefined
  externalTrafficPolicy?: string | undefined
  internalTrafficPolicy?: string | undefined
  allocateLoadBalancerNodePorts?: boolean | undefined
}

/** Defaults that depend on the type and on session affinity. */
function followType (spec: ByType): void {
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  else if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } }
  }
  const { type = '' } = spec
  if (type === 'NodePort' || type === 'LoadBalancer') spec.externalTrafficPolicy ||= 'Cluster'
  if (type !== 'ExternalName') spec.internalTrafficPolicy ??= 'Cluster'
  if (type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true
}

export type ServiceSpec = Static<typeof ServiceSpec>
export const ServiceSpec = message('ServiceSpec', 'How a service is reached, and what is behind it.', {
  ports: list(1, 'Ports of the service.', ServicePort, {
    listType: 'map', listMapKeys: ['port', 'protocol'], patchStrategy: 'merge', patchMergeKey: 'port'
  }),
  selector: map(2, 'Labels of the pods that traffic goes to.', 'string', { mapType: 'atomic' }),
  clusterIP: string(3, 'Address of the service in the cluster; None for a headless service.', { immutable: 'ruled' }),
  clusterIPs: list(18, 'All cluster addresses, at most one per IP family.', 'string', {
    immutable: 'ruled', listType: 'atomic', holds: 'ip'
  }),
  type: string(4, 'How it is reached: ClusterIP, NodePort, LoadBalancer or ExternalName.', {
    values: ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'], closed: 'ruled', default: 'ClusterIP'
  }),
  externalIPs: list(5, 'Further addresses for which nodes accept traffic to the service.', 'string', {
    holds: 'ip'
  }),
  sessionAffinity: string(7, 'Whether a client stays with one pod: ClientIP or None.', {
    values: ['ClientIP', 'None'], closed: 'ruled', default: 'None'
  }),
  loadBalancerIP: string(8, 'Deprecated: address to ask of the load balancer.', { holds: 'ip' }),
  loadBalancerSourceRanges: list(9, 'Address ranges of clients the load balancer lets in.', 'string', {
    holds: 'cidr', foundAs: 'LoadBalancerSourceRanges'
  }),
  externalName: string(10, 'DNS name the service stands for, for type ExternalName.'),
  externalTrafficPolicy: string(11, 'Where traffic from outside is sent: Cluster or Local.', {
    values: ['Local', 'Cluster'], closed: 'ruled'
  }),
  healthCheckNodePort: int32(
    12, 'Port for health checks of nodes, with external traffic policy Local.', { immutable: 'ruled' }
  ),
  publishNotReadyAddresses: bool(13, 'Whether pods that are not ready are published as well.'),
  sessionAffinityConfig: one(14, 'Settings of the session affinity.', SessionAffinityConfig, { pointer: true }),
  ipFamilies: list(19, 'IP families of the service: IPv4, IPv6 or both.', 'string', {
    immutable: 'ruled', values: ['IPv4', 'IPv6'], closed: 'ruled', laterValues: { since: '1.29', values: [''] },
    listType: 'atomic'
  }),
  ipFamilyPolicy: string(17, 'Whether it is SingleStack, PreferDualStack or RequireDualStack.', {
    pointer: true, values: ['SingleStack', 'PreferDualStack', 'RequireDualStack'], closed: 'ruled'
  }),
  allocateLoadBalancerNodePorts: bool(
    20, 'Whether node ports are allocated for type LoadBalancer; by default true.', { pointer: true }
  ),
  loadBalancerClass: string(21, 'Class of load balancer implementation that serves it.', {
    pointer: true, immutable: 'ruled'
  }),
  internalTrafficPolicy: string(22, 'Where traffic from inside the cluster is sent: Cluster or Local.', {
    pointer: true, values: ['Cluster', 'Local'], closed: 'ruled',
    gate: { name: 'ServiceInternalTrafficPolicy', default: 'Cluster' }
  }),
  trafficDistribution: string(23, 'Which endpoints are preferred: PreferSameZone or PreferSameNode.', {
    pointer: true, since: '1.30'
  })
}, { defaults: followType })

export type ServiceStatus = Static<typeof ServiceStatus>
export const ServiceStatus = message('ServiceStatus', 'What is observed of a service.', {
  loadBalancer: one(1, 'State of the load balancer, if there is one.', LoadBalancerStatus),
  conditions: list(2, 'What was found about the service.', Condition, {
    listType: 'map', listMapKeys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type'
  })
})

export type Service = Static<typeof Service>
export const Service = kind('Service', 'A stable address for a set of pods.', {
  metadata,
  spec: one(2, 'How the service is reached, and what is behind it.', ServiceSpec),
  status: one(3, 'What is observed of the service; written by the system.', ServiceStatus)
}, {
  validate: (service, _at, report) => { validateService(service, report) },
  validateCreate: ({ spec }, _at, report) => { refuseMixedProtocols(spec, undefined, report) },
  validateUpdate: (service, old, _at, report) => { validateServiceUpdate(service, old, report) }
})

function validateServiceUpdate (
  { spec }: { spec: ServiceSpec }, { spec: old }: { spec: ServiceSpec }, report: Report
): void {
  validateServiceAddressUpdate(spec, old, report)
  refuseMixedProtocols(spec, old, report)
  if (spec.type === 'LoadBalancer' && old.type === 'LoadBalancer' &&
    !sameValue(spec.loadBalancerClass, old.loadBalancerClass)) {
    invalid(report, 'spec.loadBalancerClass', spec.loadBalancerClass, 'may not change once set')
  }
  if (needsHealthCheckPort(spec) && needsHealthCheckPort(old) &&
    (spec.healthCheckNodePort ?? 0) !== (old.healthCheckNodePort ?? 0)) {
    forbidden(report, 'spec.healthCheckNodePort', 'field is immutable')
  }
}

export const services = resource(Service, {
  plural: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  subresources: [
    {
      name: 'proxy', verbs: ['create', 'delete', 'get', 'patch', 'update'], kind: 'ServiceProxyOptions', connects: true
    },
    {
      name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'],
      validateUpdate: (object, old, report) => { validateServiceStatus(object as Service, old as Service, report) }
    }
  ],
  createOnUpdate: true,
  deleteReturns: 'Object',
  storagePrefix: 'services/specs',
  nameRule: dns1035Label,
  laterNames: { gate: 'RelaxedServiceNameValidation', rule: dnsLabel },
  columns: serviceColumns,
  selectableFields: {
    'spec.clusterIP': ({ spec }) => spec.clusterIP ?? '',
    'spec.type': ({ spec }) => spec.type ?? ''
  },
  strategy: {
    dropGated: dropMixedPorts, prepareForCreate: prepareService, prepareForUpdate: prepareServiceUpdate,
    laterDefaults: laterServiceDefaults, canonicalize: forgetMeaningless, warnings: serviceWarnings
  }
})

/** PodSpec and PodTemplateSpec. */
import { int32, int64, map, one, bool, list, string, type Static } from '../../language/declare.js'
import { Affinity, Toleration, TopologySpreadConstraint } from './affinity.js'
import { Container, EphemeralContainer } from './containers.js'
import { Volume } from './pod-volumes.js'
import { LocalObjectReference } from './references.js'
import { ResourceRequirements } from './resource-requirements.js'
import { PodSecurityContext } from './security-contexts.js'
import { ObjectMeta } from '../../meta/object.js'
import { Quantity, roundToMilli } from '../../meta/quantity.js'
import { message } from './package.js'
import { dropInitAnnotations } from './rules/init-annotations.js'
import { validatePodSpec } from './rules/pod-spec.js'
import { validatePodTemplate } from './rules/templates.js'

export type HostAlias = Static<typeof HostAlias>
export const HostAlias = message('HostAlias', 'An address and its names in the hosts file of a pod.', {
  ip: string(1, 'IP address of the entry.', { holds: 'ip' }),
  hostnames: list(2, 'Host names for the address.', 'string')
})

export type PodDNSConfigOption = Static<typeof PodDNSConfigOption>
export const PodDNSConfigOption = message('PodDNSConfigOption', 'An option of the DNS resolver of a pod.', {
  name: string(1, 'Name of the option.'),
  value: string(2, 'Value of the option, where it takes one.', { pointer: true })
})

export type PodDNSConfig = Static<typeof PodDNSConfig>
export const PodDNSConfig = message('PodDNSConfig', 'DNS settings of a pod, added to those of its policy.', {
  nameservers: list(1, 'Addresses of name servers.', 'string', { holds: 'ip' }),
  searches: list(2, 'Domains searched for host names.', 'string'),
  options: list(3, 'Options of the resolver.', PodDNSConfigOption)
})

export type PodOS = Static<typeof PodOS>
export const PodOS = message('PodOS', 'Operating system of a pod.', {
  name: string(1, 'Name of the operating system: linux or windows.', {
    required: true, missing: 'cannot be empty', values: ['linux', 'windows']
  })
})

export type PodReadinessGate = Static<typeof PodReadinessGate>
export const PodReadinessGate = message('PodReadinessGate', 'A further condition a pod needs to be ready.', {
  conditionType: string(1, 'Type of the pod condition that must be True.', {
    required: true, ruled: true, values: ['ContainersReady', 'Initialized', 'Ready', 'PodScheduled']
  })
})

export type PodSchedulingGate = Static<typeof PodSchedulingGate>
export const PodSchedulingGate = message('PodSchedulingGate', 'Something that keeps a pod from being scheduled.', {
  name: string(1, 'Name of what must be done first, unique in the pod.', { required: true, ruled: true })
})

export type PodResourceClaim = Static<typeof PodResourceClaim>
export const PodResourceClaim = message('PodResourceClaim', 'A claim to devices; it exists, or is made for the pod.', {
  name: string(1, 'Name that containers refer to, unique in the pod.', { required: true, ruled: true }),
  resourceClaimName: string(3, 'A ResourceClaim in the namespace of the pod.', { pointer: true }),
  resourceClaimTemplateName: string(4, 'A ResourceClaimTemplate, of which a claim is made for the pod.', {
    pointer: true
  })
})

/** With hostNetwork, host ports default to container ports. */
export function onHostNetwork ({ hostNetwork, containers = [], initContainers = [] }: {
  hostNetwork?: boolean | undefined, containers?: Container[] | undefined, initContainers?: Container[] | undefined
}): void {
  if (hostNetwork !== true) return
  for (const { ports = [] } of [...containers, ...initContainers]) {
    for (const port of ports) port.hostPort ||= port.containerPort
  }
}

/** serviceAccountName and the deprecated serviceAccount get the same value; the former takes precedence. */
function nameAccount (spec: { serviceAccountName?: string | undefined, serviceAccount?: string | undefined }): void {
  const name = spec.serviceAccountName || spec.serviceAccount
  if (name) spec.serviceAccountName = spec.serviceAccount = name
}

export type PodSchedulingGroup = Static<typeof PodSchedulingGroup>
/** Nothing here has groups of pods: the field is known, and dropped. */
export const PodSchedulingGroup = message('PodSchedulingGroup', 'The group of a pod.', {
  podGroupName: string(1, 'Name of the group, in the namespace of the pod.', { pointer: true })
})

export type PodSpec = Static<typeof PodSpec>
export const PodSpec = message('PodSpec', 'What runs in a pod, and how.', {
  volumes: list(1, 'Volumes the containers may mount.', Volume, {
    ruled: true, patchStrategy: 'merge,retainKeys', patchMergeKey: 'name'
  }),
  initContainers: list(20, 'Containers that run one after another before the others start.', Container, {
    patchStrategy: 'merge', patchMergeKey: 'name'
  }),
  containers: list(2, 'Containers of the pod, at least one.', Container, {
    required: true, patchStrategy: 'merge', patchMergeKey: 'name'
  }),
  ephemeralContainers: list(34, 'Containers added while the pod runs, for debugging.', EphemeralContainer, {
    ruled: true, gate: 'EphemeralContainers', patchStrategy: 'merge', patchMergeKey: 'name'
  }),
  restartPolicy: string(3, 'When containers are restarted: Always, OnFailure or Never.', {
    values: ['Always', 'OnFailure', 'Never'], closed: true, unsorted: true, default: 'Always'
  }),
  terminationGracePeriodSeconds: int64(4, 'Seconds the containers get to end before they are killed.', {
    pointer: true, default: 30
  }),
  activeDeadlineSeconds: int64(5, 'Seconds after its start when the pod is made to fail.', { pointer: true }),
  dnsPolicy: string(6, 'How names are resolved: ClusterFirst, ClusterFirstWithHostNet, Default or None.', {
    values: ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], closed: true, unsorted: true,
    default: 'ClusterFirst'
  }),
  nodeSelector: map(7, 'Labels a node must have to run the pod.', 'string', { mapType: 'atomic' }),
  serviceAccountName: string(8, 'Service account the pod runs as; by default named default.'),
  serviceAccount: string(9, 'Deprecated: another name for serviceAccountName.'),
  automountServiceAccountToken: bool(
    21, 'Whether a token of the service account is mounted into containers.', { pointer: true }
  ),
  nodeName: string(10, 'Node the pod is to run on; empty asks the scheduler.'),
  hostNetwork: bool(11, 'Whether the pod uses the network namespace of the node.'),
  hostPID: bool(12, 'Whether the pod uses the process namespace of the node.'),
  hostIPC: bool(13, 'Whether the pod uses the IPC namespace of the node.'),
  shareProcessNamespace: bool(27, 'Whether the containers see the processes of each other.', { pointer: true }),
  securityContext: one(14, 'Privileges and identity for all containers of the pod.', PodSecurityContext, {
    pointer: true, default: {}
  }),
  imagePullSecrets: list(15, 'Secrets the images are pulled with.', LocalObjectReference, {
    patchStrategy: 'merge', patchMergeKey: 'name'
  }),
  hostname: string(16, 'Host name of the pod; by default its name.'),
  subdomain: string(17, 'Subdomain in the full host name of the pod.'),
  affinity: one(18, 'Rules on which nodes, and beside which pods, it runs.', Affinity, { pointer: true }),
  schedulerName: string(19, 'Scheduler that places the pod; by default default-scheduler.', {
    default: 'default-scheduler'
  }),
  tolerations: list(22, 'Taints of nodes the pod puts up with.', Toleration),
  hostAliases: list(23, 'Entries added to the hosts file of the pod.', HostAlias, {
    patchStrategy: 'merge', patchMergeKey: 'ip'
  }),
  priorityClassName: string(24, 'Priority class of the pod.'),
  priority: int32(25, 'Priority of the pod, taken from its priority class.', { pointer: true }),
  dnsConfig: one(26, 'DNS settings added to those of dnsPolicy.', PodDNSConfig, { pointer: true }),
  readinessGates: list(28, 'Further conditions the pod needs to be ready.', PodReadinessGate),
  runtimeClassName: string(29, 'Runtime class the pod runs with.', { pointer: true }),
  enableServiceLinks: bool(30, 'Whether services appear as environment variables; by default true.', { pointer: true }),
  preemptionPolicy: string(31, 'Whether pods of lower priority are evicted: PreemptLowerPriority or Never.', {
    pointer: true, values: ['PreemptLowerPriority', 'Never'], closed: 'ruled'
  }),
  overhead: map(
    32, 'Resources the runtime itself takes for the pod, by resource name.', Quantity, { keepsEmpty: true }
  ),
  topologySpreadConstraints:
    list(33, 'How pods are spread over zones and nodes; all apply.', TopologySpreadConstraint, {
      listType: 'map', listMapKeys: ['topologyKey', 'whenUnsatisfiable'], patchStrategy: 'merge',
      patchMergeKey: 'topologyKey'
    }),
  setHostnameAsFQDN: bool(35, 'Whether the host name of the pod is its full name.', { pointer: true }),
  os: one(36, 'Operating system the containers are made for.', PodOS, { pointer: true, gate: 'IdentifyPodOS' }),
  hostUsers: bool(37, 'Whether the pod uses the users of the node; by default it does.', {
    pointer: true, gate: 'UserNamespacesSupport', since: '1.25'
  }),
  schedulingGates: list(38, 'What keeps the pod from being scheduled; later only removed.', PodSchedulingGate, {
    listType: 'map', listMapKeys: ['name'], patchStrategy: 'merge', patchMergeKey: 'name', since: '1.26'
  }),
  resourceClaims: list(39, 'Claims to devices that containers may use.', PodResourceClaim, {
    listType: 'map', listMapKeys: ['name'], patchStrategy: 'merge,retainKeys', patchMergeKey: 'name',
    gate: 'DynamicResourceAllocation', since: '1.26'
  }),
  resources: one(40, 'Compute resources that all containers together need and may use.', ResourceRequirements, {
    pointer: true, gate: 'PodLevelResources', since: '1.32'
  }),
  hostnameOverride: string(41, 'Host name of the pod, whatever the other fields and its name say.', {
    pointer: true, gate: 'HostnameOverride', since: '1.34'
  }),
  schedulingGroup: one(43, 'Pods to schedule together with this one.', PodSchedulingGroup, {
    pointer: true, gate: 'GenericWorkload', since: '1.36'
  })
}, {
  defaults: (spec, gates) => {
    if (!gates.enabled('TemplatesKeepPorts')) onHostNetwork(spec)
    nameAccount(spec)
    roundToMilli(spec.overhead)
  },
  validate: (spec, at, report) => { validatePodSpec(spec, at, report) }
})

export type PodTemplateSpec = Static<typeof PodTemplateSpec>
export const PodTemplateSpec = message('PodTemplateSpec', 'Metadata and content of the pods to make.', {
  metadata: one(1, 'Labels and annotations of the pods.', ObjectMeta, { ruled: true }),
  spec: one(2, 'What runs in the pods, and how.', PodSpec)
}, {
  defaults: ({ metadata }) => { dropInitAnnotations(metadata) }, validate: (template, at, report) => {
    validatePodTemplate(template, at, report)
  }
})

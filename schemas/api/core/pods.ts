/** Pod (v1). */
import { one, type Static } from '../../language/declare.js'
import { clone } from '../../language/values.js'
import { metadata } from '../../meta/object.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import { onHostNetwork, PodSpec } from './pod-spec.js'
import { podColumns, podConditions } from './pod-columns.js'
import { podAddress, PodStatus, type PodCondition } from './pod-status.js'
import type { Gates } from '../../gates.js'
import { followAppArmorAnnotations } from './rules/apparmor.js'
import { dropGatedAnnotations } from './rules/gated-fields.js'
import { dropInitAnnotations } from './rules/init-annotations.js'
import { nameWarnings } from './rules/later-warnings.js'
import { mergeLabelKeys } from './rules/label-keys.js'
import { keepAllButResources, validatePodResize } from './rules/pod-resize.js'
import { defaultPodResources } from './rules/pod-resources.js'
import { validateEphemeralUpdate, validateNewPod, validatePod, validatePodUpdate } from './rules/pods.js'
import { validatePodStatusUpdate } from './rules/pod-status.js'
import { podWarnings } from './rules/pod-warnings.js'
import { qosClass } from './rules/qos.js'
import { alignSeccomp } from './rules/seccomp.js'
import { NO_FIELD, resource } from '../../resource.js'
import { kind } from './package.js'

/** Defaults of pods but not of templates: requests follow limits, and service links are enabled. */
function defaultPod (spec: PodSpec): void {
  spec.enableServiceLinks ??= true
  for (const { resources } of [...spec.containers ?? [], ...spec.initContainers ?? []]) {
    const { limits, requests } = resources
    if (limits !== undefined &&
      (requests === undefined || Object.keys(limits).some(name => !Object.hasOwn(requests, name)))) {
      resources.requests = { ...limits, ...requests }
    }
  }
}

export type Pod = Static<typeof Pod>
export const Pod = kind('Pod', 'Containers that run together on one node.', {
  metadata,
  spec: one(2, 'What is to run, and how.', PodSpec, { immutable: 'ruled' }),
  status: one(3, 'What is observed of the pod; written by the system.', PodStatus)
}, {
  defaults: pod => {
    dropInitAnnotations(pod.metadata)
    onHostNetwork(pod.spec)
    defaultPod(pod.spec)
    defaultPodResources(pod.spec)
  },
  validate: (pod, _at, report) => { validatePod(pod, report) },
  validateCreate: (pod, _at, report) => { validateNewPod(pod, report) },
  validateUpdate: (pod, old, _at, report) => { validatePodUpdate(pod, old, report) }
})

/** The largest grace period, in seconds. */
const MAX_GRACE = 2 ** 31 - 1

/** What the server decides of a new pod. */
function preparePod (pod: Pod, gates: Gates, warn?: (text: string) => void): void {
  const { spec } = pod
  mergeLabelKeys(pod, gates)
  if (gates.enabled('AppArmorFields')) for (const text of followAppArmorAnnotations(pod)) warn?.(text)
  if (gates.enabled('PodGracePeriodIsPositive')) {
    if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1
  } else alignSeccomp(pod)
  pod.status = { phase: 'Pending', qosClass: qosClass(spec) }
  if ((spec.schedulingGates ?? []).length > 0) {
    pod.status.conditions = [{
      type: 'PodScheduled', status: 'False', reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates'
    }]
  }
}

/** Writers that know of no generations leave those of others; several conditions may have one type. */
function keepObserved (status: PodStatus, old: PodStatus): void {
  if ((status.observedGeneration ?? 0) === 0 && old.observedGeneration !== undefined) {
    status.observedGeneration = old.observedGeneration
  }
  const before = new Map<string | undefined, Array<PodCondition['observedGeneration']>>() // the last of a type first
  for (const { type, observedGeneration } of (old.conditions ?? []).toReversed()) {
    const ofType = before.get(type)
    if (ofType === undefined) before.set(type, [observedGeneration])
    else ofType.push(observedGeneration)
  }
  for (const condition of status.conditions ?? []) {
    const observed = before.get(condition.type)?.pop()
    if ((condition.observedGeneration ?? 0) === 0 && observed !== undefined) condition.observedGeneration = observed
  }
}

/** Limits the subresources ephemeralcontainers and resize to their fields. */
function prepareForUpdate (pod: Pod, old: Pod, subresource: string, gates: Gates): void {
  // Node agents leave it out when they refuse a pod.
  if (subresource === 'status' && (pod.status.qosClass ?? '') === '' && old.status.qosClass !== undefined) {
    pod.status.qosClass = old.status.qosClass
  }
  if (subresource === 'status' && gates.enabled('PodObservedGenerationTracking')) keepObserved(pod.status, old.status)
  if (subresource === 'resize') keepAllButResources(pod, old, gates)
  if (subresource === 'ephemeralcontainers') {
    const { ephemeralContainers } = pod.spec
    pod.metadata = { ...clone(old.metadata), managedFields: pod.metadata.managedFields }
    pod.spec = { ...clone(old.spec), ephemeralContainers }
    pod.status = clone(old.status)
  }
}

/** Pods that are not scheduled or have terminated need no grace period. */
function gracePeriod ({ spec, status }: Pod, requested: number | undefined): number {
  if ((spec.nodeName ?? '') === '' || status.phase === 'Failed' || status.phase === 'Succeeded') return 0
  const seconds = requested ?? Number(spec.terminationGracePeriodSeconds ?? 0)
  return seconds < 0 ? 1 : Math.min(seconds, MAX_GRACE)
}

const nodeName = ({ spec }: Pod): string => spec.nodeName ?? ''

export const pods = resource(Pod, {
  plural: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  subresources: [
    { name: 'attach', verbs: ['create', 'get'], kind: 'PodAttachOptions', connects: true },
    {
      name: 'binding', verbs: ['create'], kind: 'Binding',
      changes: ['spec.nodeName', 'status.conditions', 'status.nominatedNodeName']
    },
    {
      name: 'ephemeralcontainers', verbs: ['get', 'patch', 'update'], gate:
        'EphemeralContainers', keepsMetadata: OWN_METADATA, notOnUpdate: [], validateUpdate: (pod, old, report) => {
        validateEphemeralUpdate(pod as Pod, old as Pod, report)
      }
    },
    { name: 'eviction', verbs: ['create'], kind: 'Eviction', group: 'policy', version: 'v1' },
    { name: 'exec', verbs: ['create', 'get'], kind: 'PodExecOptions', connects: true },
    { name: 'log', verbs: ['get'], connects: true },
    { name: 'portforward', verbs: ['create', 'get'], kind: 'PodPortForwardOptions', connects: true },
    { name: 'proxy', verbs: ['create', 'delete', 'get', 'patch', 'update'], kind: 'PodProxyOptions', connects: true },
    {
      name: 'resize', verbs: ['get', 'patch', 'update'], gate: 'InPlacePodVerticalScaling',
      keepsMetadata: OWN_METADATA, notOnUpdate: [], validateUpdate: (pod, old, report) => {
        validatePodResize(pod as Pod, old as Pod, report)
      }
    },
    {
      name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], keepsMetadata: [
        'ownerReferences', 'deletionTimestamp'
      ], validateUpdate: (pod, old, report) => { validatePodStatusUpdate(pod as Pod, old as Pod, report) }
    }
  ],
  deleteReturns: 'Object',
  strategy: {
    prepareForCreate: (pod, _user, gates, warn) => { preparePod(pod, gates, warn) },
    // Updates come from controllers, mostly.
    warnings: (pod, old, gates) => old === undefined
      ? [...nameWarnings(pod.metadata, gates), ...podWarnings(pod, '', gates)]
      : [],
    dropGated: ({ metadata }, old, gates) => { dropGatedAnnotations(metadata, old?.metadata, gates) },
    prepareForUpdate,
    gracePeriod
  },
  columns: podColumns,
  rowConditions: podConditions,
  selectableFields: {
    'spec.nodeName': nodeName,
    'spec.restartPolicy': ({ spec }) => spec.restartPolicy ?? '',
    'spec.schedulerName': ({ spec }) => spec.schedulerName ?? '',
    'spec.serviceAccountName': ({ spec }) => spec.serviceAccountName ?? '',
    'status.phase': ({ status }) => status.phase ?? '',
    'status.podIP': ({ status }) => podAddress(status),
    'status.podIPs': NO_FIELD, // as upstream: accepted, always empty
    'status.nominatedNodeName': ({ status }) => status.nominatedNodeName ?? '',
    'spec.host': nodeName,
    'spec.hostNetwork': ({ spec }) => String(spec.hostNetwork === true)
  },
  indexedFields: ['spec.nodeName', 'status.phase'],
  generation: ({ spec }) => spec,
  countsWith: 'PodObservedGenerationTracking'
})

/** The status of a pod. */
import { int32, one, bool, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { Time } from '../../meta/scalars.js'
import { kind, message } from './package.js'

export type ContainerStateWaiting = Static<typeof ContainerStateWaiting>
export const ContainerStateWaiting = message('ContainerStateWaiting', 'State of a container that waits to start.', {
  reason: string(1, 'Why the container does not run yet, in one word.'),
  message: string(2, 'Why the container does not run yet, for a person.')
})

export type ContainerStateRunning = Static<typeof ContainerStateRunning>
export const ContainerStateRunning = message('ContainerStateRunning', 'State of a running container.', {
  startedAt: one(1, 'When the container was last started.', Time)
})

export type ContainerStateTerminated = Static<typeof ContainerStateTerminated>
export const ContainerStateTerminated = message('ContainerStateTerminated', 'State of a container that has ended.', {
  exitCode: int32(1, 'Exit status of the container.', { required: true }),
  signal: int32(2, 'Signal that ended the container.'),
  reason: string(3, 'Why the container ended, in one word.'),
  message: string(4, 'Message about how the container ended.'),
  startedAt: one(5, 'When that run of the container started.', Time),
  finishedAt: one(6, 'When the container ended.', Time),
  containerID: string(7, 'ID of the container, prefixed with its runtime.')
})

export type ContainerState = Static<typeof ContainerState>
export const ContainerState = message('ContainerState', 'State of a container; one of its members is set.', {
  waiting: one(1, 'Details of a container that is not yet running.', ContainerStateWaiting, { pointer: true }),
  running: one(2, 'Details of a running container.', ContainerStateRunning, { pointer: true }),
  terminated: one(3, 'Details of a container that has ended.', ContainerStateTerminated, { pointer: true })
})

export type ContainerStatus = Static<typeof ContainerStatus>
export const ContainerStatus = message('ContainerStatus', 'What is observed of a container.', {
  name: string(1, 'Name of the container.', { required: true, mayBeEmpty: true }),
  state: one(2, 'State of the container now.', ContainerState),
  lastState: one(3, 'How the container last ended.', ContainerState),
  ready: bool(4, 'Whether the container passes its readiness probe.', { required: true }),
  restartCount: int32(5, 'How often the container was restarted.', { required: true }),
  image: string(6, 'Image the container runs.', { required: true, mayBeEmpty: true }),
  imageID: string(7, 'ID of the image the container runs.', { required: true, mayBeEmpty: true }),
  containerID: string(8, 'ID of the container, prefixed with its runtime.'),
  started: bool(9, 'Whether the container passed its startup probe.', { pointer: true })
})

export type PodCondition = Static<typeof PodCondition>
export const PodCondition = message('PodCondition', 'A finding about a pod.', {
  type: string(1, 'Type of the condition, such as PodScheduled, Initialized, ContainersReady or Ready.', {
    required: true, mayBeEmpty: true, values: ['ContainersReady', 'Initialized', 'Ready', 'PodScheduled']
  }),
  status: string(2, 'Whether it holds: True, False or Unknown.', {
    required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
  }),
  lastProbeTime: one(3, 'When it was last checked.', Time),
  lastTransitionTime: one(4, 'When status last changed.', Time),
  reason: string(5, 'One word for a machine.'),
  message: string(6, 'A sentence for a person.')
})

export type PodIP = Static<typeof PodIP>
export const PodIP = message('PodIP', 'An IP address of a pod.', {
  ip: string(1, 'IPv4 or IPv6 address.')
})

export type PodStatus = Static<typeof PodStatus>
export const PodStatus = message('PodStatus', 'What is observed of a pod.', {
  phase: string(1, 'Where the pod stands: Pending, Running, Succeeded, Failed or Unknown.', {
    values: ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'], closed: true, ruled: true
  }),
  conditions: list(2, 'What was found about the pod, such as Ready.', PodCondition, {
    patchStrategy: 'merge', patchMergeKey: 'type'
  }),
  message: string(3, 'Why the pod is in this state, for a person.'),
  reason: string(4, 'Why the pod is in this state, such as Evicted.'),
  nominatedNodeName: string(11, 'Node where other pods are evicted to make room for it.'),
  hostIP: string(5, 'Address of the node the pod runs on.'),
  podIP: string(6, 'Address of the pod in the cluster.'),
  podIPs: list(12, 'All addresses of the pod, at most one per IP family.', PodIP, {
    patchStrategy: 'merge', patchMergeKey: 'ip'
  }),
  startTime: one(7, 'When the node agent took over the pod.', Time, { pointer: true }),
  initContainerStatuses: list(10, 'State of each init container.', ContainerStatus),
  containerStatuses: list(8, 'State of each container.', ContainerStatus),
  qosClass: string(9, 'Quality of service class: Guaranteed, Burstable or BestEffort.', {
    values: ['Guaranteed', 'Burstable', 'BestEffort'], closed: true, ruled: true
  }),
  ephemeralContainerStatuses: list(13, 'State of each ephemeral container.', ContainerStatus)
}, { defaults: status => { alignAddresses(status) } })

/** Makes podIP and the first of podIPs agree; podIP takes precedence, because older node agents set only that. */
function alignAddresses (status: { podIP?: string | undefined, podIPs?: PodIP[] | undefined }): void {
  const { podIP = '', podIPs: [first] = [] } = status
  if (podIP !== '' && podIP !== first?.ip) status.podIPs = [{ ip: podIP }]
  else if (podIP === '' && first?.ip !== undefined) status.podIP = first.ip
}

export const podAddress = ({ podIP, podIPs }: PodStatus): string => podIP || podIPs?.[0]?.ip || ''

export type PodStatusResult = Static<typeof PodStatusResult>
export const PodStatusResult = kind('PodStatusResult', 'Status of a pod, on its own.', {
  metadata,
  status: one(2, 'What is observed of the pod; written by the system.', PodStatus)
})

/** Default stages of pods on a node: they run, end where that is asked, and go when they are deleted. */
import type { Container, ContainerStatus, Pod, PodCondition } from '../../schemas/api/core/v1.js'
import type { Expression, Simulated, Stage, StageContext } from './stage.js'

const pod = { apiVersion: 'v1', kind: 'Pod' }

/** Asks for the end of a pod: Succeeded or Failed. */
export const PHASE = 'simulator.orch.io/phase'

const present: Expression = { key: '.metadata.deletionTimestamp', operator: 'DoesNotExist' }
const onNode: Expression = { key: '.spec.nodeName', operator: 'Exists' }
const inPhase = (...values: string[]): Expression => ({ key: '.status.phase', operator: 'In', values })

const asPod = (object: Simulated): Pod & { readonly metadata: Simulated['metadata'] } => object as never

/** @param address one that no pod has; `hostOf` the address of a node */
export const podStages = (address: () => string, hostOf: (node: string) => string | undefined): Stage[] => [
  {
    name: 'pod-ready',
    resource: pod,
    selector: {
      matchExpressions: [
        present, onNode, { key: '.status.phase', operator: 'NotIn', values: ['Running', 'Succeeded', 'Failed'] }
      ]
    },
    next: { type: 'strategic', status: (object, context) => running(asPod(object), context, { address, hostOf }) }
  },
  {
    name: 'pod-fail',
    resource: pod,
    selector: { matchAnnotations: { [PHASE]: 'Failed' }, matchExpressions: [present, inPhase('Running')] },
    delay: '1s',
    next: { type: 'strategic', status: (object, context) => ended(asPod(object), context, 1) }
  },
  {
    name: 'pod-succeed',
    resource: pod,
    selector: { matchAnnotations: { [PHASE]: 'Succeeded' }, matchExpressions: [present, inPhase('Running')] },
    delay: '1s',
    next: { type: 'strategic', status: (object, context) => ended(asPod(object), context, 0) }
  },
  {
    name: 'pod-complete',
    resource: pod,
    selector: {
      matchExpressions: [
        present, inPhase('Running'), { key: '.metadata.ownerReferences[].kind', operator: 'In', values: ['Job'] }
      ]
    },
    delay: '1s',
    next: { type: 'strategic', status: (object, context) => ended(asPod(object), context, 0) }
  },
  {
    name: 'pod-delete',
    resource: pod,
    selector: {
      matchExpressions: [
        { key: '.metadata.deletionTimestamp', operator: 'Exists' }, onNode,
        // finalizers hold it
        { key: '.metadata.deletionGracePeriodSeconds', operator: 'NotIn', values: ['0'] }
      ]
    },
    next: { delete: true }
  }
]

const condition = (type: PodCondition['type'], status: boolean, now: string, reason?: string): object =>
  ({ type, status: status ? 'True' : 'False', lastTransitionTime: now, ...reason === undefined ? {} : { reason } })

interface Network { readonly address: () => string, readonly hostOf: (node: string) => string | undefined }

function running ({ spec, status }: Pod, { now }: StageContext, { address, hostOf }: Network): object {
  const { containers = [], initContainers = [], nodeName = '', hostNetwork = false, readinessGates = [] } = spec ?? {}
  const hostIP = hostOf(nodeName)
  const podIP = status?.podIP ?? (hostNetwork && hostIP !== undefined ? hostIP : address())
  const isOpen = readinessGates.every(({ conditionType }) =>
    status?.conditions?.some(({ type, status }) => type === conditionType && status === 'True'))
  return {
    phase: 'Running',
    startTime: status?.startTime ?? now,
    podIP, podIPs: [{ ip: podIP }], ...hostIP === undefined ? {} : { hostIP },
    conditions: [
      condition('Initialized', true, now), condition('ContainersReady', true, now),
      condition('Ready', isOpen, now, isOpen ? undefined : 'ReadinessGatesNotReady')
    ],
    initContainerStatuses: initContainers.map(container => container.restartPolicy === 'Always'
      ? statusOf(container, true, { running: { startedAt: now } })
      : statusOf(container, true, terminated(now, now, 0))),
    containerStatuses: containers.map(container => statusOf(container, true, { running: { startedAt: now } }))
  }
}

function ended ({ spec, status }: Pod, { now }: StageContext, exitCode: number): object {
  const startedAt = String(status?.startTime ?? now)
  return {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    conditions: ['ContainersReady', 'Ready'].map(type =>
      condition(type as PodCondition['type'], false, now, exitCode === 0 ? 'PodCompleted' : 'PodFailed')),
    containerStatuses: (spec?.containers ?? []).map(container =>
      statusOf(container, false, terminated(startedAt, now, exitCode)))
  }
}

const terminated = (startedAt: string, finishedAt: string, exitCode: number): object =>
  ({ terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt, finishedAt } })

function statusOf (
  { name = '', image = '' }: Container, ready: boolean, state: object
): Partial<Record<keyof ContainerStatus, unknown>> {
  const isRunning = 'running' in state
  return { name, image, imageID: image, restartCount: 0, ready, ...isRunning ? { started: true } : {}, state }
}

/** Table columns of pods, with kubectl's status summary. */
import { age, ageOf, milliseconds, name, NONE, text, wideOnly, type Column } from '../../columns.js'
import type { Ages } from '../../meta/duration.js'
import type { TableRowCondition } from '../../meta/answers.js'
import { podAddress, type ContainerStateTerminated, type ContainerStatus } from './pod-status.js'
import type { Pod } from './pods.js'
import { isSidecar } from './rules/restarts.js'

interface Progress {
  readonly ready: number, readonly status: string, readonly restarts: number, readonly lastRestart: string | undefined
}

const GATED = 'SchedulingGated'

const reasonOf = ({ reason, signal = 0, exitCode }: ContainerStateTerminated): string => reason ||
  (signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode}`)
const isTrue = ({ status }: Pod, type: string): boolean =>
  status.conditions?.some(condition => condition.type === type && condition.status === 'True') === true

/** The number of containers that run as long as the pod. */
const lasting = ({ spec: { containers = [], initContainers = [] } }: Pod): number =>
  containers.length + initContainers.filter(isSidecar).length

/** Names of init containers that have started and go on beside the others. */
function startedSidecars ({ spec: { initContainers = [] }, status: { initContainerStatuses = [] } }: Pod): Set<string> {
  const all = new Set(initContainers.filter(isSidecar).map(({ name }) => name))
  return all.size === 0
    ? all
    : new Set(initContainerStatuses.filter(({ name, started }) => started === true && all.has(name)).map(({ name }) =>
      name))
}

/** The first init container that has not succeeded, if any, determines the status. */
function initializing (pod: Pod): Pick<Progress, 'status' | 'restarts'> &
  { readonly seen: readonly ContainerStatus[] } | undefined {
  let restarts = 0
  const { initContainerStatuses = [] } = pod.status
  const sidecars = startedSidecars(pod)
  for (const [index, { name, state, restartCount }] of initContainerStatuses.entries()) {
    restarts += restartCount
    if (state.terminated?.exitCode === 0 || sidecars.has(name)) continue
    const waiting = state.waiting?.reason ?? ''
    const what = state.terminated !== undefined
      ? reasonOf(state.terminated)
      : waiting !== '' && waiting !== 'PodInitializing' ? waiting : `${index}/${pod.spec.initContainers?.length ?? 0}`
    return { status: `Init:${what}`, restarts, seen: initContainerStatuses.slice(0, index + 1) }
  }
  return undefined
}

/** The first container with a reason determines the status. */
function running (pod: Pod): Pick<Progress, 'ready' | 'status' | 'restarts'> {
  const { phase = '', reason = '', conditions = [], containerStatuses = [] } = pod.status
  const waits = conditions.some(condition => condition.type === 'PodScheduled' && condition.reason === GATED)
  const said = containerStatuses.map(({ state }) => state.waiting?.reason ||
    (state.terminated === undefined ? '' : reasonOf(state.terminated)))
  const status = said.find(words => words !== '') ?? (waits ? GATED : reason || phase)
  const sidecars = startedSidecars(pod)
  const beside = (pod.status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name))
  const ready = containerStatuses.filter((container, index) => said[index] === '' && container.ready &&
    container.state.running !== undefined).length + beside.filter(({ ready }) => ready).length
  const restarts = [...containerStatuses, ...beside].reduce((sum, { restartCount }) => sum + restartCount, 0)
  // A completed container beside running ones does not complete the pod.
  return {
    ready, restarts,
    status: status !== 'Completed' || ready === 0 ? status : isTrue(pod, 'Ready') ? 'Running' : 'NotReady'
  }
}

function progressOf (pod: Pod): Progress {
  const { metadata, status: { reason, initContainerStatuses = [], containerStatuses = [] } } = pod
  const starting = initializing(pod)
  const progress = starting === undefined ? running(pod) : { ready: 0, ...starting }
  const seen = starting?.seen ?? [...initContainerStatuses, ...containerStatuses]
  const status = metadata.deletionTimestamp === undefined
    ? progress.status
    : reason === 'NodeLost'
      ? 'Unknown'
      : 'Terminating'
  return { ...progress, status, lastRestart: latestEnd(seen) }
}

function latestEnd (containers: readonly ContainerStatus[]): string | undefined {
  let latest: string | undefined
  for (const { lastState } of containers) {
    const finished = lastState.terminated?.finishedAt
    if ((milliseconds(finished) ?? -Infinity) > (milliseconds(latest) ?? -Infinity)) latest = finished
  }
  return latest
}

function restarts (pod: Pod, ages: Ages): string {
  const { restarts, lastRestart } = progressOf(pod)
  return lastRestart === undefined ? String(restarts) : `${restarts} (${ageOf(lastRestart, ages)} ago)`
}

function gates (pod: Pod): string {
  const { readinessGates = [] } = pod.spec
  if (readinessGates.length === 0) return NONE
  // The first condition of a type counts.
  const passed = readinessGates
    .filter(({ conditionType }) => pod.status.conditions?.find(({ type }) => type === conditionType)?.status === 'True')
  return `${passed.length}/${readinessGates.length}`
}

export const podColumns: ReadonlyArray<Column<Pod>> = [
  name,
  text('Ready', 'How many of its containers are ready.', pod =>
    `${progressOf(pod).ready}/${lasting(pod)}`),
  text('Status', 'Where the pod stands, or what keeps it there.', pod => progressOf(pod).status),
  text('Restarts', 'How often its containers were restarted, and when last.', restarts),
  age,
  wideOnly(text('IP', 'Address of the pod.', ({ status }) => podAddress(status) || NONE)),
  wideOnly(text('Node', 'Node it runs on.', ({ spec }) => spec.nodeName || NONE)),
  wideOnly(text('Nominated Node', 'Node where other pods are evicted to make room for it.', ({ status }) =>
    status.nominatedNodeName || NONE)),
  wideOnly(text('Readiness Gates', 'How many of its readiness gates are passed.', gates))
]

/** Messages by phase. */
const ENDED: ReadonlyMap<string | undefined, string> = new Map([
  ['Succeeded', 'The pod has completed successfully.'], ['Failed', 'The pod failed.']
])

/** Marks rows of completed pods, which clients may hide. */
export function podConditions ({ status: { phase } }: Pod): TableRowCondition[] {
  const message = ENDED.get(phase)
  return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason: phase, message }]
}

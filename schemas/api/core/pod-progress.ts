/** How far a pod has come, as a table tells of it. */
import { milliseconds } from '../../columns.js'
import type { ContainerStateTerminated, ContainerStatus } from './pod-status.js'
import type { Pod } from './pods.js'
import { isSidecar } from './rules/restarts.js'

export interface Progress {
  readonly ready: number, readonly status: string, readonly restarts: number, readonly lastRestart: string | undefined
}

const GATED = 'SchedulingGated'

const reasonOf = ({ reason, signal = 0, exitCode }: ContainerStateTerminated): string => reason ||
  (signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode}`)
const isTrue = ({ status }: Pod, type: string): boolean =>
  status.conditions?.some(condition => condition.type === type && condition.status === 'True') === true

/** The number of containers that run as long as the pod. */
export const lasting = ({ spec: { containers = [], initContainers = [] } }: Pod): number =>
  containers.length + initContainers.filter(isSidecar).length

/** Names of init containers that go on beside the others once they have started. */
const sidecarsOf = ({ spec: { initContainers = [] } }: Pod): ReadonlySet<string> =>
  new Set(initContainers.filter(isSidecar).map(({ name }) => name))

interface Start { readonly status: string, readonly seen: readonly ContainerStatus[] }

/** The first init container that has not succeeded, if any, determines the status. */
function initializing (pod: Pod, sidecars: ReadonlySet<string>): Start | undefined {
  const { initContainerStatuses = [] } = pod.status
  for (const [index, { name, state, started }] of initContainerStatuses.entries()) {
    if (state.terminated?.exitCode === 0 || (started === true && sidecars.has(name))) continue
    const waiting = state.waiting?.reason ?? ''
    const what = state.terminated !== undefined
      ? reasonOf(state.terminated)
      : waiting !== '' && waiting !== 'PodInitializing' ? waiting : `${index}/${pod.spec.initContainers?.length ?? 0}`
    return { status: `Init:${what}`, seen: initContainerStatuses.slice(0, index + 1) }
  }
  return undefined
}

const saidBy = ({ state }: ContainerStatus): string => state.waiting?.reason ||
  (state.terminated === undefined ? '' : reasonOf(state.terminated))
/** The first container with a reason determines the status. */
const firstReason = (containers: readonly ContainerStatus[]): string | undefined =>
  containers.map(saidBy).find(words => words !== '')
const runs = (container: ContainerStatus): boolean =>
  saidBy(container) === '' && container.ready && container.state.running !== undefined
const sumOf = (containers: readonly ContainerStatus[]): number =>
  containers.reduce((sum, { restartCount }) => sum + restartCount, 0)

/** As releases before 1.35 show it: sidecars count as init containers. */
export function early (pod: Pod): Progress {
  const { status: { phase = '', reason = '', initContainerStatuses = [], containerStatuses = [] } } = pod
  const starting = initializing(pod, sidecarsOf(pod))
  if (starting !== undefined) {
    const { status, seen } = starting
    return { ready: 0, status: leaving(pod, status, false), restarts: sumOf(seen), lastRestart: latestEnd(seen) }
  }
  const ready = containerStatuses.filter(runs).length
  const status = firstReason(containerStatuses) ?? (reason || phase)
  // A completed container beside running ones does not complete the pod.
  const shown = status !== 'Completed' || ready === 0 ? status : isTrue(pod, 'Ready') ? 'Running' : 'NotReady'
  return {
    ready, status: leaving(pod, shown, false), restarts: sumOf(containerStatuses),
    lastRestart: latestEnd([...initContainerStatuses, ...containerStatuses])
  }
}

/**
 * As releases from 1.35 on show it: a sidecar that restarts does not hide the other containers, and a completed
 * container does not hide one that failed.
 */
export function later (pod: Pod): Progress {
  const { phase = '', reason = '', conditions = [], initContainerStatuses = [], containerStatuses = [] } = pod.status
  const sidecars = sidecarsOf(pod)
  const starting = initializing(pod, sidecars)
  const passed = starting?.seen ?? initContainerStatuses
  const beside = passed.filter(status => status.started === true && sidecars.has(status.name) && status.ready &&
    status.state.terminated?.exitCode !== 0).length
  const waits = conditions.some(condition => condition.type === 'PodScheduled' && condition.reason === GATED)
  const before = starting?.status ?? (reason || (waits ? GATED : phase))
  const isStarting = starting !== undefined && !isTrue(pod, 'Initialized')
  const counted = isStarting ? passed : [...passed.filter(({ name }) => sidecars.has(name)), ...containerStatuses]
  const running = isStarting ? 0 : containerStatuses.filter(runs).length
  const status = isStarting ? before : completed(pod, firstReason(containerStatuses) ?? before, running)
  const restarts = sumOf(counted)
  return {
    ready: running + beside, status: leaving(pod, status, true), restarts,
    lastRestart: restarts === 0 ? undefined : latestEnd(counted)
  }
}

/** The status of a pod in which a container has completed; any other status stays. */
function completed (pod: Pod, status: string, running: number): string {
  if (status !== 'Completed') return status
  if (running > 0 && isTrue(pod, 'Ready')) return 'Running'
  const failed = pod.status.containerStatuses?.find(status =>
    (status.state.waiting?.reason ?? '') === '' && (status.state.terminated?.exitCode ?? 0) !== 0)
  return failed === undefined ? running > 0 ? 'NotReady' : status : saidBy(failed)
}

/** @param maySayEnded whether a pod that has ended shows how, while it is deleted */
function leaving ({ metadata, status: { reason, phase } }: Pod, status: string, maySayEnded: boolean): string {
  if (metadata.deletionTimestamp === undefined) return status
  if (reason === 'NodeLost') return 'Unknown'
  return maySayEnded && (phase === 'Succeeded' || phase === 'Failed') ? status : 'Terminating'
}

function latestEnd (containers: readonly ContainerStatus[]): string | undefined {
  let latest: string | undefined
  for (const { lastState } of containers) {
    const finished = lastState.terminated?.finishedAt
    if ((milliseconds(finished) ?? -Infinity) > (milliseconds(latest) ?? -Infinity)) latest = finished
  }
  return latest
}

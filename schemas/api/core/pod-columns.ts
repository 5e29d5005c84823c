/** Table columns of pods, with kubectl's status summary. */
import { age, ageOf, name, NONE, since, text, until, wideOnly, type Column } from '../../columns.js'
import type { Ages } from '../../meta/duration.js'
import type { TableRowCondition } from '../../meta/answers.js'
import { early, lasting, later, type Progress } from './pod-progress.js'
import { podAddress } from './pod-status.js'
import type { Pod } from './pods.js'

type Telling = (pod: Pod) => Progress

const restartsBy = (tell: Telling) => (pod: Pod, ages: Ages): string => {
  const { restarts, lastRestart } = tell(pod)
  return lastRestart === undefined ? String(restarts) : `${restarts} (${ageOf(lastRestart, ages)} ago)`
}

const progressColumns = (tell: Telling): ReadonlyArray<Column<Pod>> => [
  text('Ready', 'How many of its containers are ready.', pod => `${tell(pod).ready}/${lasting(pod)}`),
  text('Status', 'Where the pod stands, or what keeps it there.', pod => tell(pod).status),
  text('Restarts', 'How often its containers were restarted, and when last.', restartsBy(tell))
]
const SINCE = '1.35'

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
  ...progressColumns(early).map(column => until(SINCE, column)),
  ...progressColumns(later).map(column => since(SINCE, column)),
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

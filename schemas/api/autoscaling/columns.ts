/** Table columns of HorizontalPodAutoscalers and Scales. */
import { age, integer, name, NONE, since, text, until, UNSET, type Column } from '../../columns.js'
import type { Scale } from './scale.js'
import type * as v2 from './v2.js'

const UNKNOWN = '<unknown>'
const MAX_METRICS = 2

type Values = Partial<v2.MetricValueStatus> | undefined

const ratio = (current: string | undefined, target: string | undefined): string =>
  `${current ?? UNKNOWN}/${target ?? UNSET}`
const percent = (share: number | undefined): string | undefined => share === undefined ? undefined : `${share}%`
const read = (current: Values, name: 'value' | 'averageValue'): string | undefined =>
  current === undefined ? undefined : current[name] ?? UNSET

const average = ({ averageValue }: v2.MetricTarget, current: Values): string =>
  ratio(read(current, 'averageValue'), averageValue)
const averageOrTotal = ({ averageValue, value }: v2.MetricTarget, current: Values): string =>
  averageValue === undefined
    ? ratio(read(current, 'value'), value)
    : `${ratio(current?.averageValue, averageValue)} (avg)`
const averageOrShare = (target: v2.MetricTarget, current: Values): string =>
  target.averageValue === undefined
    ? ratio(percent(current?.averageUtilization), percent(target.averageUtilization) ?? '<auto>')
    : average(target, current)

/** The current and the target value of a metric, as `50%/80%`. */
function distance (
  { type, external, pods, object, resource, containerResource }: v2.MetricSpec, status: v2.MetricStatus | undefined
): string {
  if (type === 'External' && external !== undefined) return averageOrTotal(external.target, status?.external?.current)
  if (type === 'Object' && object !== undefined) return averageOrTotal(object.target, status?.object?.current)
  if (type === 'Pods' && pods !== undefined) return average(pods.target, status?.pods?.current)
  if (type === 'Resource' && resource !== undefined) return averageOrShare(resource.target, status?.resource?.current)
  if (type === 'ContainerResource' && containerResource !== undefined) {
    return averageOrShare(containerResource.target, status?.containerResource?.current)
  }
  return '<unknown type>'
}

/** The same with the name of the resource, where the metric is of one. */
function named (metric: v2.MetricSpec, status: v2.MetricStatus | undefined): string {
  const name = metric.type === 'Resource' || metric.type === 'ContainerResource'
    ? (metric.resource ?? metric.containerResource)?.name
    : undefined
  return `${name === undefined ? '' : `${name}: `}${distance(metric, status)}`
}

type Autoscaler = v2.HorizontalPodAutoscaler

const targetsBy = (show: typeof distance) => (
  { spec: { metrics = [] }, status: { currentMetrics = [] } }: Autoscaler
): string => {
  if (metrics.length === 0) return NONE
  const text = metrics.slice(0, MAX_METRICS).map((metric, index) => show(metric, currentMetrics[index])).join(', ')
  return metrics.length > MAX_METRICS ? `${text} + ${metrics.length - MAX_METRICS} more...` : text
}

export const autoscalerColumns: ReadonlyArray<Column<v2.HorizontalPodAutoscaler>> = [
  name,
  text('Reference', 'The object that is scaled.', ({ spec: { scaleTargetRef: { kind, name } } }) => `${kind}/${name}`),
  until('1.31', text('Targets', 'Where each metric is, and where it should be.', targetsBy(distance))),
  since('1.31', text('Targets', 'Where each metric is, and where it should be.', targetsBy(named))),
  text('MinPods', 'Least number of pods.', ({ spec }) => String(spec.minReplicas ?? UNSET)),
  text('MaxPods', 'Greatest number of pods.', ({ spec }) => spec.maxReplicas),
  text('Replicas', 'Number of pods there are.', ({ status }) => status.currentReplicas ?? 0),
  age
]

export const replicaColumns: ReadonlyArray<Column<Scale>> = [
  integer('Desired', 'Number of pods that are wanted.', ({ spec }) => spec.replicas),
  integer('Available', 'Number of pods there are.', ({ status }) => status.replicas)
]

export const scaleColumns: ReadonlyArray<Column<Scale>> = [{ ...name, format: '' }, ...replicaColumns, age]

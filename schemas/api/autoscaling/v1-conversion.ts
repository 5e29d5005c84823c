/**
 * Converts HorizontalPodAutoscalers between v1 and v2. v1 has a field for the CPU target alone; annotations hold the
 * rest of v2 as JSON, and clients of v2 never see them. Malformed annotations are ignored.
 */
import { toJson } from '../../codec/json/encode.js'
import { UNBOUNDED } from '../../codec/json/parse.js'
import { decode } from '../../language/decode.js'
import type { Gates } from '../../gates.js'
import type { Message } from '../../language/declare.js'
import { sameValue } from '../../language/values.js'
import { BEHAVIOR, CONDITIONS, CURRENT_METRICS, KEPT, METRICS, SENT, listOf, read } from './kept-values.js'
import { specFromV2, specToV2, statusFromV2, statusToV2 } from './metric-conversion.js'
import * as v1 from './v1.js'
import * as v2 from './v2.js'

const CPU = 'cpu'

type Annotations = Record<string, string> | undefined
type Metric = NonNullable<v2.HorizontalPodAutoscaler['spec']['metrics']>[number]
type CurrentMetric = NonNullable<v2.HorizontalPodAutoscalerStatus['currentMetrics']>[number]

const jsonOf = <T extends object>(message: Message<T>, items: readonly T[]): string =>
  `[${items.map(item => toJson(message, item)).join(',')}]`

/**
 * Replaces SENT in place when the order is to be kept, in later releases: METRICS then has the CPU target too, where it
 * stands. In earlier ones, as upstream, the stored form has the CPU target last and no target types.
 */
export function settleSent (autoscaler: v1.HorizontalPodAutoscaler, gates: Gates): void {
  const { annotations } = autoscaler.metadata
  if (annotations?.[SENT] === undefined) return
  const metrics = gates.enabled('AutoscalerKeepsSentMetrics')
    ? read(listOf(v2.MetricSpec), annotations[SENT])
    : undefined
  if (metrics !== undefined) annotations[METRICS] = jsonOf(v1.MetricSpec, metrics.map(specFromV2))
  forgetSent(autoscaler)
}

/** Removes SENT in place. */
export function forgetSent ({ metadata }: v1.HorizontalPodAutoscaler): void {
  if (metadata.annotations?.[SENT] === undefined) return
  const { [SENT]: _, ...rest } = metadata.annotations
  if (Object.keys(rest).length > 0) metadata.annotations = rest
  else delete metadata.annotations
}

/** Names in the behavior annotation begin with a capital letter; lower case is accepted too. */
function inLowerCase (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inLowerCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name.charAt(0).toLowerCase() + name.slice(1), inLowerCase(item)])
  )
}

/** A behavior without rules counts as unset. */
function behaviorOf (value: unknown): v2.HorizontalPodAutoscalerBehavior | undefined {
  const { object } = decode(v2.HorizontalPodAutoscalerBehavior, inLowerCase(value), UNBOUNDED)
  return object.scaleUp === undefined && object.scaleDown === undefined ? undefined : object
}

function behaviorJson ({ scaleUp, scaleDown }: v2.HorizontalPodAutoscalerBehavior): string {
  const rules = (of: v2.HPAScalingRules | undefined) => of === undefined
    ? null
    : {
        StabilizationWindowSeconds: of.stabilizationWindowSeconds ?? null,
        SelectPolicy: of.selectPolicy ?? null,
        Policies: of.policies?.map(({ type, value, periodSeconds }) =>
          ({ Type: type, Value: value, PeriodSeconds: periodSeconds })) ?? null,
        ...(of.tolerance === undefined ? {} : { Tolerance: of.tolerance })
      }
  return JSON.stringify({ ScaleUp: rules(scaleUp), ScaleDown: rules(scaleDown) })
}

const isCpuTarget = ({ type, resource }: Metric): boolean => type === 'Resource' && resource?.name === CPU &&
  resource.target.averageUtilization !== undefined
const cpuUsages = (metrics: readonly CurrentMetric[]): number[] =>
  metrics.flatMap(({ type, resource }) =>
    type === 'Resource' && resource?.name === CPU ? resource.current.averageUtilization ?? [] : [])
const cpuTarget = (averageUtilization: number): Metric =>
  ({ type: 'Resource', resource: { name: CPU, target: { type: 'Utilization', averageUtilization } } })

function without (annotations: Annotations): Annotations {
  if (annotations === undefined || !KEPT.some(name => Object.hasOwn(annotations, name))) return annotations
  const rest = Object.entries(annotations).filter(([name]) => !KEPT.includes(name))
  return rest.length > 0 ? Object.fromEntries(rest) : undefined
}

/** The metrics that v1 keeps, with the CPU target where they have it, else last. */
function metricsOf (kept: readonly v1.MetricSpec[], target: number | undefined): Metric[] {
  const metrics = kept.map(specToV2)
  const at = metrics.findIndex(isCpuTarget)
  if (target === undefined) return metrics
  return at === -1 ? [...metrics, cpuTarget(target)] : metrics.with(at, cpuTarget(target))
}

export function fromV1 ({ metadata, spec, status, ...types }: v1.HorizontalPodAutoscaler): v2.HorizontalPodAutoscaler {
  const { annotations } = metadata
  const { targetCPUUtilizationPercentage: target, ...wanted } = spec
  const { currentCPUUtilizationPercentage: usage, ...observed } = status
  const kept = (): Metric[] => metricsOf(read(listOf(v1.MetricSpec), annotations?.[METRICS]) ?? [], target)
  const metrics = read(listOf(v2.MetricSpec), annotations?.[SENT]) ?? kept()
  const behavior = read(behaviorOf, annotations?.[BEHAVIOR])
  const inStatus: CurrentMetric[] = usage === undefined
    ? []
    : [{ type: 'Resource', resource: { name: CPU, current: { averageUtilization: usage } } }]
  const currentMetrics = read(listOf(v1.MetricStatus), annotations?.[CURRENT_METRICS])?.map(statusToV2) ?? inStatus
  const conditions = read(listOf(v1.HorizontalPodAutoscalerCondition), annotations?.[CONDITIONS])
  return {
    ...types,
    apiVersion: v2.API_VERSION,
    metadata: { ...metadata, annotations: without(annotations) },
    spec: { ...wanted, metrics, behavior },
    status: { ...observed, currentMetrics: currentMetrics.length > 0 ? currentMetrics : undefined, conditions }
  }
}

export function toV1 ({ metadata, spec, status, ...types }: v2.HorizontalPodAutoscaler): v1.HorizontalPodAutoscaler {
  const { metrics = [], behavior, ...wanted } = spec
  const { currentMetrics = [], conditions = [], ...observed } = status
  const kept = metrics.filter(metric => !isCpuTarget(metric)).map(specFromV2)
  const target = metrics.find(isCpuTarget)?.resource?.target.averageUtilization
  const annotations: Record<string, string> = {
    ...without(metadata.annotations),
    ...(kept.length > 0 ? { [METRICS]: jsonOf(v1.MetricSpec, kept) } : {}),
    ...(currentMetrics.length > 0
      ? { [CURRENT_METRICS]: jsonOf(v1.MetricStatus, currentMetrics.map(statusFromV2)) }
      : {}),
    ...(conditions.length > 0 ? { [CONDITIONS]: jsonOf(v1.HorizontalPodAutoscalerCondition, conditions) } : {}),
    ...(behavior === undefined ? {} : { [BEHAVIOR]: behaviorJson(behavior) })
  }
  if (!sameValue(metrics, metricsOf(kept, target))) annotations[SENT] = jsonOf(v2.MetricSpec, metrics)
  return {
    ...types,
    apiVersion: v1.API_VERSION,
    metadata: { ...metadata, annotations: Object.keys(annotations).length > 0 ? annotations : undefined },
    spec: { ...wanted, targetCPUUtilizationPercentage: target },
    status: {
      ...observed, currentReplicas: observed.currentReplicas ?? 0,
      currentCPUUtilizationPercentage: cpuUsages(currentMetrics).at(-1)
    }
  }
}

/** HorizontalPodAutoscaler of autoscaling/v1, the stored version. */
import { int32, int64, one, apiPackage, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { notNegative } from '../../rules/findings.js'
import { Time } from '../../meta/scalars.js'
import { METRICS, listOf, read } from './kept-values.js'
import { declareMetrics } from './named-metrics.js'

const { kind, message } = apiPackage('autoscaling', 'v1', 'io.orch.api.autoscaling.v1')

export const API_VERSION = 'autoscaling/v1'
/** Percent of the request; the default without any metric. */
const DEFAULT_CPU_TARGET = 80

export const {
  CrossVersionObjectReference, ContainerResourceMetricSource, ContainerResourceMetricStatus, ExternalMetricSource,
  ExternalMetricStatus, HorizontalPodAutoscalerCondition, ObjectMetricSource, PodsMetricSource, ResourceMetricSource,
  MetricSpec, ObjectMetricStatus, PodsMetricStatus, ResourceMetricStatus, MetricStatus
} = declareMetrics('v1')

export type MetricSpec = Static<typeof MetricSpec>
export type MetricStatus = Static<typeof MetricStatus>

export type HorizontalPodAutoscalerSpec = Static<typeof HorizontalPodAutoscalerSpec>
export const HorizontalPodAutoscalerSpec =
  message('HorizontalPodAutoscalerSpec', 'What is scaled, by what measure and within what bounds.', {
    scaleTargetRef: one(
      1, 'Object that is scaled, such as a deployment.', CrossVersionObjectReference, { required: true }
    ),
    minReplicas: int32(2, 'Least number of pods; by default 1.', { pointer: true, default: 1 }),
    maxReplicas: int32(3, 'Greatest number of pods, not below minReplicas.', { required: true }),
    targetCPUUtilizationPercentage: int32(
      4, 'Target average CPU use of the pods, in percent of the request.', { pointer: true }
    )
  })

export type HorizontalPodAutoscalerStatus = Static<typeof HorizontalPodAutoscalerStatus>
export const HorizontalPodAutoscalerStatus =
  message('HorizontalPodAutoscalerStatus', 'What is observed of an autoscaler.', {
    observedGeneration: int64(1, 'Generation of the spec the autoscaler last acted on.', { pointer: true }),
    lastScaleTime: one(2, 'When the number of pods was last changed.', Time, { pointer: true }),
    currentReplicas: int32(3, 'Number of pods there are.', { required: true }),
    desiredReplicas: int32(4, 'Number of pods the autoscaler wants.', { required: true }),
    currentCPUUtilizationPercentage: int32(
      5, 'Average CPU use of the pods, in percent of the request.', { pointer: true }
    )
  }, {
    validate: (status, at, report) => {
      for (const field of ['currentReplicas', 'desiredReplicas'] as const) {
        notNegative(report, `${at}.${field}`, status[field])
      }
    }
  })

export type HorizontalPodAutoscaler = Static<typeof HorizontalPodAutoscaler>
export const HorizontalPodAutoscaler = kind('HorizontalPodAutoscaler', 'Adapts a number of pods to their load.', {
  metadata,
  spec: one(2, 'What is scaled, by what measure and within what bounds.', HorizontalPodAutoscalerSpec),
  status: one(3, 'What is observed of the autoscaler; written by the system.', HorizontalPodAutoscalerStatus)
}, {
  defaults: ({ metadata, spec }) => {
    if (spec.targetCPUUtilizationPercentage === undefined &&
      (read(listOf(MetricSpec), metadata.annotations?.[METRICS]) ?? []).length === 0) {
      spec.targetCPUUtilizationPercentage = DEFAULT_CPU_TARGET
    }
  }
})

export { Scale, ScaleSpec, ScaleStatus } from './scale.js'

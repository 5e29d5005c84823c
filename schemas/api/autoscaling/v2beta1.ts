/** HorizontalPodAutoscaler of autoscaling/v2beta1. */
import { int32, int64, one, list, apiPackage, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { Time } from '../../meta/scalars.js'
import { declareMetrics } from './named-metrics.js'

export const API_VERSION = 'autoscaling/v2beta1'

const { kind, message } = apiPackage('autoscaling', 'v2beta1', 'io.orch.api.autoscaling.v2beta1')

export const {
  CrossVersionObjectReference, ContainerResourceMetricSource, ContainerResourceMetricStatus, ExternalMetricSource,
  ExternalMetricStatus, HorizontalPodAutoscalerCondition, ObjectMetricSource, PodsMetricSource, ResourceMetricSource,
  MetricSpec, ObjectMetricStatus, PodsMetricStatus, ResourceMetricStatus, MetricStatus
} = declareMetrics('v2beta1')

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
    metrics: list(4, 'Metrics to scale by; the one that wants most pods decides.', MetricSpec, {
      default: [{ type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 80 } }]
    })
  })

export type HorizontalPodAutoscalerStatus = Static<typeof HorizontalPodAutoscalerStatus>
export const HorizontalPodAutoscalerStatus =
  message('HorizontalPodAutoscalerStatus', 'What is observed of an autoscaler.', {
    observedGeneration: int64(1, 'Generation of the spec the autoscaler last acted on.', { pointer: true }),
    lastScaleTime: one(2, 'When the number of pods was last changed.', Time, { pointer: true }),
    currentReplicas: int32(3, 'Number of pods there are.', { required: true }),
    desiredReplicas: int32(4, 'Number of pods the autoscaler wants.', { required: true }),
    currentMetrics: list(5, 'Metrics as last read.', MetricStatus, { written: true }),
    conditions: list(6, 'What was found about the autoscaler.', HorizontalPodAutoscalerCondition, { written: true })
  })

export type HorizontalPodAutoscaler = Static<typeof HorizontalPodAutoscaler>
export const HorizontalPodAutoscaler = kind('HorizontalPodAutoscaler', 'Adapts a number of pods to their load.', {
  metadata,
  spec: one(2, 'What is scaled, by what measure and within what bounds.', HorizontalPodAutoscalerSpec),
  status: one(3, 'What is observed of the autoscaler; written by the system.', HorizontalPodAutoscalerStatus)
})

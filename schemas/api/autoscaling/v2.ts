/** HorizontalPodAutoscaler of autoscaling/v2. */
import type { Static } from '../../language/declare.js'
import { declare } from './v2-declarations.js'

export const API_VERSION = 'autoscaling/v2'

export const {
  MetricTarget, ContainerResourceMetricSource, MetricValueStatus, ContainerResourceMetricStatus,
  CrossVersionObjectReference, MetricIdentifier, ExternalMetricSource, ExternalMetricStatus, HPAScalingPolicy,
  HPAScalingRules, ObjectMetricSource, PodsMetricSource, ResourceMetricSource, MetricSpec,
  HorizontalPodAutoscalerBehavior, HorizontalPodAutoscalerSpec, ObjectMetricStatus, PodsMetricStatus,
  ResourceMetricStatus, MetricStatus, HorizontalPodAutoscalerCondition, HorizontalPodAutoscalerStatus,
  HorizontalPodAutoscaler
} =
  declare('v2')

export type MetricTarget = Static<typeof MetricTarget>
export type ContainerResourceMetricSource = Static<typeof ContainerResourceMetricSource>
export type MetricValueStatus = Static<typeof MetricValueStatus>
export type ContainerResourceMetricStatus = Static<typeof ContainerResourceMetricStatus>
export type CrossVersionObjectReference = Static<typeof CrossVersionObjectReference>
export type MetricIdentifier = Static<typeof MetricIdentifier>
export type ExternalMetricSource = Static<typeof ExternalMetricSource>
export type ExternalMetricStatus = Static<typeof ExternalMetricStatus>
export type HPAScalingPolicy = Static<typeof HPAScalingPolicy>
export type HPAScalingRules = Static<typeof HPAScalingRules>
export type ObjectMetricSource = Static<typeof ObjectMetricSource>
export type PodsMetricSource = Static<typeof PodsMetricSource>
export type ResourceMetricSource = Static<typeof ResourceMetricSource>
export type MetricSpec = Static<typeof MetricSpec>
export type HorizontalPodAutoscalerBehavior = Static<typeof HorizontalPodAutoscalerBehavior>
export type HorizontalPodAutoscalerSpec = Static<typeof HorizontalPodAutoscalerSpec>
export type ObjectMetricStatus = Static<typeof ObjectMetricStatus>
export type PodsMetricStatus = Static<typeof PodsMetricStatus>
export type ResourceMetricStatus = Static<typeof ResourceMetricStatus>
export type MetricStatus = Static<typeof MetricStatus>
export type HorizontalPodAutoscalerCondition = Static<typeof HorizontalPodAutoscalerCondition>
export type HorizontalPodAutoscalerStatus = Static<typeof HorizontalPodAutoscalerStatus>
export type HorizontalPodAutoscaler = Static<typeof HorizontalPodAutoscaler>

/** HorizontalPodAutoscaler, for autoscaling/v2 and v2beta2. */
import { LabelSelector } from '../../meta/options.js'
import { Quantity } from '../../meta/quantity.js'
import { Time } from '../../meta/scalars.js'
import { apiPackage, int32, int64, list, one, string } from '../../language/declare.js'
import type { FieldOptions } from '../../language/types.js'
import { metadata } from '../../meta/object.js'
import { RESOURCE_NAMES } from './named-metrics.js'

interface Rules {
  stabilizationWindowSeconds?: number | undefined, selectPolicy?: string | undefined,
  policies?: Array<{ type: string, value: number, periodSeconds: number }> | undefined
}

/** A behavior that is set gets complete rules for both directions. */
function defaultBehavior (behavior: { scaleUp?: Rules | undefined, scaleDown?: Rules | undefined }): void {
  const double = { type: 'Percent', value: 100, periodSeconds: 15 }
  const fill = (rules: Rules | undefined, defaults: Rules): Rules => {
    const {
      stabilizationWindowSeconds: window = defaults.stabilizationWindowSeconds, selectPolicy = 'Max',
      policies = defaults.policies
    } = rules ?? {}
    return { ...rules, ...(window === undefined ? {} : { stabilizationWindowSeconds: window }), selectPolicy, policies }
  }
  behavior.scaleUp = fill(behavior.scaleUp, {
    stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, double]
  })
  behavior.scaleDown = fill(behavior.scaleDown, { policies: [double] })
}

const OF_V2 = {
  tolerance: one(4, 'Share by which a metric may be off before the number of pods changes.', Quantity, {
    pointer: true, gate: 'HPAConfigurableTolerance', since: '1.33'
  })
}

/** The messages of one version. */
export function declare (version: 'v2' | 'v2beta2') {
  /** Only v2 declares how lists merge. */
  const atomic = version === 'v2' ? { listType: 'atomic' } as const : {}
  const byType = version === 'v2'
    ? { listType: 'map', listMapKeys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type' } as const
    : { written: true } as const
  const { kind, message } = apiPackage('autoscaling', version, `io.orch.api.autoscaling.${version}`)

  const MetricTarget = message('MetricTarget', 'The value a metric should have.', {
    type: string(1, 'What the target is: Utilization, Value or AverageValue.', {
      required: true, values: ['Utilization', 'Value', 'AverageValue']
    }),
    value: one(2, 'Target value of the metric.', Quantity, { pointer: true }),
    averageValue: one(3, 'Target value, averaged over the pods.', Quantity, { pointer: true }),
    averageUtilization: int32(
      4, 'Target average use, in percent of the request; for resources only.', { pointer: true }
    )
  })

  const ContainerResourceMetricSource =
    message('ContainerResourceMetricSource', 'Target for a resource of one container in each pod.', {
      name: string(1, 'Name of the resource, such as cpu.', { required: true, values: RESOURCE_NAMES }),
      target: one(2, 'Value the metric should have.', MetricTarget, { required: true }),
      container: string(3, 'Name of the container in the pods.', { required: true })
    })

  const MetricValueStatus = message('MetricValueStatus', 'The value of a metric at present.', {
    value: one(1, 'Value of the metric.', Quantity, { pointer: true }),
    averageValue: one(2, 'Value averaged over the pods.', Quantity, { pointer: true }),
    averageUtilization: int32(3, 'Average use, in percent of the request.', { pointer: true })
  })

  const ContainerResourceMetricStatus =
    message('ContainerResourceMetricStatus', 'Measured use of a resource by one container in each pod.', {
      name: string(1, 'Name of the resource, such as cpu.', {
        required: true, mayBeEmpty: true, values: RESOURCE_NAMES
      }),
      current: one(2, 'Value of the metric at present.', MetricValueStatus, { required: true }),
      container: string(3, 'Name of the container in the pods.', { required: true, mayBeEmpty: true })
    })

  const CrossVersionObjectReference =
    message('CrossVersionObjectReference', 'An object in the same namespace, by kind and name.', {
      kind: string(1, 'Kind of the object.', { required: true }),
      name: string(2, 'Name of the object.', { required: true }),
      apiVersion: string(3, 'API group and version of the object.')
    })

  const MetricIdentifier = message('MetricIdentifier', 'A metric, by name and selector.', {
    name: string(1, 'Name of the metric.', { required: true }),
    selector: one(2, 'Labels that select time series of the metric.', LabelSelector, { pointer: true })
  })

  const ExternalMetricSource = message('ExternalMetricSource', 'Target for a metric from outside the cluster.', {
    metric: one(1, 'Metric that is read, by name and selector.', MetricIdentifier, { required: true }),
    target: one(2, 'Value the metric should have.', MetricTarget, { required: true })
  })

  const ExternalMetricStatus = message('ExternalMetricStatus', 'Measured value of a metric from outside the cluster.', {
    metric: one(1, 'Metric that is read, by name and selector.', MetricIdentifier, { required: true }),
    current: one(2, 'Value of the metric at present.', MetricValueStatus, { required: true })
  })

  const HPAScalingPolicy = message('HPAScalingPolicy', 'A limit on the change within a period of time.', {
    type: string(1, 'What the value counts, Pods or Percent.', { required: true, values: ['Pods', 'Percent'] }),
    value: int32(2, 'How much may change within the period; greater than zero.', { required: true }),
    periodSeconds: int32(3, 'Length of the period in seconds, from 1 to 1800.', { required: true })
  })

  const HPAScalingRules = message('HPAScalingRules', 'How fast the number of pods changes in one direction.', {
    stabilizationWindowSeconds: int32(
      3, 'Seconds of past recommendations to consider, from 0 to 3600.', { pointer: true }
    ),
    selectPolicy: string(1, 'Which policy decides: Max, Min or Disabled; by default Max.', {
      pointer: true, values: ['Max', 'Min', 'Disabled']
    }),
    policies: list(2, 'Limits on the change, at least one.', HPAScalingPolicy, { keepsEmpty: true, ...atomic }),
    ...(version === 'v2' ? OF_V2 : {}) as typeof OF_V2
  })

  const ObjectMetricSource = message('ObjectMetricSource', 'Target for a metric that describes one object.', {
    describedObject: one(1, 'Object the metric describes.', CrossVersionObjectReference, { required: true }),
    target: one(2, 'Value the metric should have.', MetricTarget, { required: true }),
    metric: one(3, 'Metric that is read, by name and selector.', MetricIdentifier, { required: true })
  })

  const PodsMetricSource = message('PodsMetricSource', 'Target for a metric of each pod.', {
    metric: one(1, 'Metric that is read, by name and selector.', MetricIdentifier, { required: true }),
    target: one(2, 'Value the metric should have.', MetricTarget, { required: true })
  })

  const ResourceMetricSource = message('ResourceMetricSource', 'Target for a resource of the pods.', {
    name: string(1, 'Name of the resource, such as cpu.', { required: true, values: RESOURCE_NAMES }),
    target: one(2, 'Value the metric should have.', MetricTarget, { required: true })
  })

  const MetricSpec = message('MetricSpec', 'A metric to scale by; one member is set besides the type.', {
    type: string(1, 'Source: Object, Pods, Resource, ContainerResource or External.', {
      required: true, values: ['Object', 'Pods', 'Resource', 'ContainerResource', 'External']
    }),
    object: one(
      2, 'Metric that describes one object, such as requests per second.', ObjectMetricSource, { pointer: true }
    ),
    pods: one(3, 'Metric of each pod, averaged over the pods.', PodsMetricSource, { pointer: true }),
    resource: one(4, 'Resource of the pods, such as cpu or memory.', ResourceMetricSource, { pointer: true }),
    containerResource: one(
      7, 'Resource of one container in each pod.', ContainerResourceMetricSource, { pointer: true }
    ),
    external: one(5, 'Metric from outside the cluster.', ExternalMetricSource, { pointer: true })
  })

  const HorizontalPodAutoscalerBehavior =
    message('HorizontalPodAutoscalerBehavior', 'How fast the number of pods goes up and down.', {
      scaleUp: one(1, 'How fast pods are added.', HPAScalingRules, { pointer: true }),
      scaleDown: one(2, 'How fast pods are removed.', HPAScalingRules, { pointer: true })
    }, { defaults: defaultBehavior })

  const HorizontalPodAutoscalerSpec =
    message('HorizontalPodAutoscalerSpec', 'What is scaled, by what measure and within what bounds.', {
      scaleTargetRef: one(
        1, 'Object that is scaled, such as a deployment.', CrossVersionObjectReference, { required: true }
      ),
      minReplicas: int32(2, 'Least number of pods; by default 1.', { pointer: true, default: 1 }),
      maxReplicas: int32(3, 'Greatest number of pods, not below minReplicas.', { required: true }),
      metrics: list(4, 'Metrics to scale by; the one that wants most pods decides.', MetricSpec, {
        default: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }
        ],
        ...atomic
      }),
      behavior: one(
        5, 'How fast the number of pods goes up and down.', HorizontalPodAutoscalerBehavior, { pointer: true }
      )
    })

  const ObjectMetricStatus = message('ObjectMetricStatus', 'Measured value of a metric that describes one object.', {
    metric: one(1, 'Metric that is read, by name and selector.', MetricIdentifier, { required: true }),
    current: one(2, 'Value of the metric at present.', MetricValueStatus, { required: true }),
    describedObject: one(3, 'Object the metric describes.', CrossVersionObjectReference, { required: true })
  })

  const PodsMetricStatus = message('PodsMetricStatus', 'Measured values of a metric of each pod.', {
    metric: one(1, 'Metric that is read, by name and selector.', MetricIdentifier, { required: true }),
    current: one(2, 'Value of the metric at present.', MetricValueStatus, { required: true })
  })

  const ResourceMetricStatus = message('ResourceMetricStatus', 'Measured use of a resource by the pods.', {
    name: string(1, 'Name of the resource, such as cpu.', { required: true, mayBeEmpty: true, values: RESOURCE_NAMES }),
    current: one(2, 'Value of the metric at present.', MetricValueStatus, { required: true })
  })

  const MetricStatus = message('MetricStatus', 'A metric as last read; one member is set besides the type.', {
    type: string(1, 'Source: Object, Pods, Resource, ContainerResource or External.', {
      required: true, mayBeEmpty: true, values: ['Object', 'Pods', 'Resource', 'ContainerResource', 'External']
    }),
    object: one(
      2, 'Metric that describes one object, such as requests per second.', ObjectMetricStatus, { pointer: true }
    ),
    pods: one(3, 'Metric of each pod, averaged over the pods.', PodsMetricStatus, { pointer: true }),
    resource: one(4, 'Resource of the pods, such as cpu or memory.', ResourceMetricStatus, { pointer: true }),
    containerResource: one(
      7, 'Resource of one container in each pod.', ContainerResourceMetricStatus, { pointer: true }
    ),
    external: one(5, 'Metric from outside the cluster.', ExternalMetricStatus, { pointer: true })
  })

  const HorizontalPodAutoscalerCondition =
    message('HorizontalPodAutoscalerCondition', 'A finding about an autoscaler.', {
      type: string(1, 'Type of the condition: ScalingActive, AbleToScale or ScalingLimited.', {
        required: true, mayBeEmpty: true, values: ['ScalingActive', 'AbleToScale', 'ScalingLimited']
      }),
      status: string(2, 'Whether it holds: True, False or Unknown.', {
        required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
      }),
      lastTransitionTime: one(3, 'When status last changed.', Time),
      reason: string(4, 'One word for a machine.'),
      message: string(5, 'A sentence for a person.')
    })

  const HorizontalPodAutoscalerStatus = message('HorizontalPodAutoscalerStatus', 'What is observed of an autoscaler.', {
    observedGeneration: int64(1, 'Generation of the spec the autoscaler last acted on.', { pointer: true }),
    lastScaleTime: one(2, 'When the number of pods was last changed.', Time, { pointer: true }),
    currentReplicas: int32(
      3, 'Number of pods there are.', (version === 'v2' ? {} : { required: true }) as FieldOptions
    ),
    desiredReplicas: int32(4, 'Number of pods the autoscaler wants.', { required: true }),
    currentMetrics: list(5, 'Metrics as last read.', MetricStatus, { written: true, ...atomic }),
    conditions: list(6, 'What was found about the autoscaler.', HorizontalPodAutoscalerCondition, byType)
  })

  const HorizontalPodAutoscaler = kind('HorizontalPodAutoscaler', 'Adapts a number of pods to their load.', {
    metadata,
    spec: one(2, 'What is scaled, by what measure and within what bounds.', HorizontalPodAutoscalerSpec),
    status: one(3, 'What is observed of the autoscaler; written by the system.', HorizontalPodAutoscalerStatus)
  })

  return {
    MetricTarget, ContainerResourceMetricSource, MetricValueStatus, ContainerResourceMetricStatus,
    CrossVersionObjectReference, MetricIdentifier, ExternalMetricSource, ExternalMetricStatus, HPAScalingPolicy,
    HPAScalingRules, ObjectMetricSource, PodsMetricSource, ResourceMetricSource, MetricSpec,
    HorizontalPodAutoscalerBehavior, HorizontalPodAutoscalerSpec, ObjectMetricStatus, PodsMetricStatus,
    ResourceMetricStatus, MetricStatus, HorizontalPodAutoscalerCondition, HorizontalPodAutoscalerStatus,
    HorizontalPodAutoscaler
  }
}

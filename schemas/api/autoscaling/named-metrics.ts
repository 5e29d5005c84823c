/** Metrics of v2beta1, which v1 has in annotations. */
import { apiPackage, int32, one, string } from '../../language/declare.js'
import { LabelSelector } from '../../meta/options.js'
import { Quantity } from '../../meta/quantity.js'
import { Time } from '../../meta/scalars.js'

/** Known resource names; others are valid too. */
export const RESOURCE_NAMES = [
  'cpu', 'memory', 'storage', 'ephemeral-storage', 'pods', 'services', 'replicationcontrollers', 'resourcequotas',
  'secrets', 'configmaps', 'persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers', 'requests.cpu',
  'requests.memory', 'requests.storage', 'requests.ephemeral-storage', 'limits.cpu', 'limits.memory',
  'limits.ephemeral-storage'
] as const

/** The messages of one version. */
export function declareMetrics (version: 'v1' | 'v2beta1') {
  const { message } = apiPackage('autoscaling', version, `io.orch.api.autoscaling.${version}`)
  const closed = version === 'v1' ? { closed: true } as const : {}

  const CrossVersionObjectReference =
    message('CrossVersionObjectReference', 'An object in the same namespace, by kind and name.', {
      kind: string(1, 'Kind of the object.', { required: true, mayBeEmpty: true }),
      name: string(2, 'Name of the object.', { required: true, mayBeEmpty: true }),
      apiVersion: string(3, 'API group and version of the object.')
    }, version === 'v1' ? { structType: 'atomic' } : {})

  const ContainerResourceMetricSource =
    message('ContainerResourceMetricSource', 'Target for a resource of one container in each pod.', {
      name: string(1, 'Name of the resource, such as cpu.', { required: true, values: RESOURCE_NAMES }),
      targetAverageUtilization: int32(2, 'Target average use, in percent of the request.', { pointer: true }),
      targetAverageValue: one(3, 'Target average use per pod, as an amount.', Quantity, { pointer: true }),
      container: string(version === 'v1' ? 5 : 4, 'Name of the container in the pods.', { required: true })
    })

  const ContainerResourceMetricStatus =
    message('ContainerResourceMetricStatus', 'Measured use of a resource by one container in each pod.', {
      name: string(1, 'Name of the resource, such as cpu.', {
        required: true, mayBeEmpty: true, values: RESOURCE_NAMES
      }),
      currentAverageUtilization: int32(2, 'Average use at present, in percent of the request.', { pointer: true }),
      currentAverageValue: one(3, 'Average use per pod at present, as an amount.', Quantity, { required: true }),
      container: string(4, 'Name of the container in the pods.', { required: true, mayBeEmpty: true })
    })

  const ExternalMetricSource = message('ExternalMetricSource', 'Target for a metric from outside the cluster.', {
    metricName: string(1, 'Name of the metric.', { required: true }),
    metricSelector: one(2, 'Labels that select time series of the metric.', LabelSelector, { pointer: true }),
    targetValue: one(3, 'Target value of the metric; not with targetAverageValue.', Quantity, { pointer: true }),
    targetAverageValue: one(4, 'Target value per pod; not with targetValue.', Quantity, { pointer: true })
  })

  const ExternalMetricStatus = message('ExternalMetricStatus', 'Measured value of a metric from outside the cluster.', {
    metricName: string(1, 'Name of the metric.', { required: true, mayBeEmpty: true }),
    metricSelector: one(2, 'Labels that select time series of the metric.', LabelSelector, { pointer: true }),
    currentValue: one(3, 'Value of the metric at present.', Quantity, { required: true }),
    currentAverageValue: one(4, 'Value per pod at present.', Quantity, { pointer: true })
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

  const ObjectMetricSource = message('ObjectMetricSource', 'Target for a metric that describes one object.', {
    target: one(1, 'Object the metric describes.', CrossVersionObjectReference, { required: true }),
    metricName: string(2, 'Name of the metric.', { required: true }),
    targetValue: one(3, 'Target value of the metric.', Quantity, { required: true }),
    selector: one(4, 'Labels that select time series of the metric.', LabelSelector, { pointer: true }),
    averageValue: one(5, 'Target value per pod.', Quantity, { pointer: true })
  })

  const PodsMetricSource = message('PodsMetricSource', 'Target for a metric of each pod.', {
    metricName: string(1, 'Name of the metric.', { required: true }),
    targetAverageValue: one(2, 'Target value, averaged over the pods.', Quantity, { required: true }),
    selector: one(3, 'Labels that select time series of the metric.', LabelSelector, { pointer: true })
  })

  const ResourceMetricSource = message('ResourceMetricSource', 'Target for a resource of the pods.', {
    name: string(1, 'Name of the resource, such as cpu.', { required: true, values: RESOURCE_NAMES }),
    targetAverageUtilization: int32(2, 'Target average use, in percent of the request.', { pointer: true }),
    targetAverageValue: one(3, 'Target average use per pod, as an amount.', Quantity, { pointer: true })
  })

  const MetricSpec = message('MetricSpec', 'A metric to scale by; one member is set besides the type.', {
    type: string(1, 'Source: Object, Pods, Resource, ContainerResource or External.', {
      required: true, values: ['Object', 'Pods', 'Resource', 'ContainerResource', 'External'], ...closed
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

  const ObjectMetricStatus = message('ObjectMetricStatus', 'Measured value of a metric that describes one object.', {
    target: one(1, 'Object the metric describes.', CrossVersionObjectReference, { required: true }),
    metricName: string(2, 'Name of the metric.', { required: true, mayBeEmpty: true }),
    currentValue: one(3, 'Value of the metric at present.', Quantity, { required: true }),
    selector: one(4, 'Labels that select time series of the metric.', LabelSelector, { pointer: true }),
    averageValue: one(5, 'Value per pod at present.', Quantity, { pointer: true })
  })

  const PodsMetricStatus = message('PodsMetricStatus', 'Measured values of a metric of each pod.', {
    metricName: string(1, 'Name of the metric.', { required: true, mayBeEmpty: true }),
    currentAverageValue: one(2, 'Value at present, averaged over the pods.', Quantity, { required: true }),
    selector: one(3, 'Labels that select time series of the metric.', LabelSelector, { pointer: true })
  })

  const ResourceMetricStatus = message('ResourceMetricStatus', 'Measured use of a resource by the pods.', {
    name: string(1, 'Name of the resource, such as cpu.', { required: true, mayBeEmpty: true, values: RESOURCE_NAMES }),
    currentAverageUtilization: int32(2, 'Average use at present, in percent of the request.', { pointer: true }),
    currentAverageValue: one(3, 'Average use per pod at present, as an amount.', Quantity, { required: true })
  })

  const MetricStatus = message('MetricStatus', 'A metric as last read; one member is set besides the type.', {
    type: string(1, 'Source: Object, Pods, Resource, ContainerResource or External.', {
      required: true, mayBeEmpty: true, values: ['Object', 'Pods', 'Resource', 'ContainerResource', 'External'],
      ...closed
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

  return {
    CrossVersionObjectReference, ContainerResourceMetricSource, ContainerResourceMetricStatus, ExternalMetricSource,
    ExternalMetricStatus, HorizontalPodAutoscalerCondition, ObjectMetricSource, PodsMetricSource, ResourceMetricSource,
    MetricSpec, ObjectMetricStatus, PodsMetricStatus, ResourceMetricStatus, MetricStatus
  }
}

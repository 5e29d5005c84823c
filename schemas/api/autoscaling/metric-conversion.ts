/** Converts metrics between v2 and the flat form of v2beta1, which annotations of v1 have too. */
import type * as v2 from './v2.js'
import type * as named from './v2beta1.js'

type Spec = v2.MetricSpec
type Status = v2.MetricStatus
type Target = v2.MetricTarget
type Of<T, K extends keyof T> = NonNullable<T[K]>
type Value = string | undefined

/** Deletes undefined members in place. */
function present<T extends object> (object: T): T {
  for (const key of Object.keys(object) as Array<keyof T>) if (object[key] === undefined) delete object[key]
  return object
}

const metric = (name: string, selector: v2.MetricIdentifier['selector']): v2.MetricIdentifier =>
  present({ name, selector })
const target = (type: string, values: Omit<Target, 'type'>): Target => present({ type, ...values })
const usage = ({ targetAverageUtilization: averageUtilization, targetAverageValue: averageValue }: {
  targetAverageUtilization?: number | undefined, targetAverageValue?: Value
}): Target =>
  target(averageUtilization === undefined ? 'AverageValue' : 'Utilization', { averageUtilization, averageValue })
const used = ({ averageUtilization: targetAverageUtilization, averageValue: targetAverageValue }: Target) =>
  present({ targetAverageUtilization, targetAverageValue })

/** v2beta1 requires targetValue, so 0 beside an average means unset. */
function objectToV2 (
  { target: describedObject, metricName, targetValue: value, averageValue, selector }: Of<named.MetricSpec, 'object'>
): Of<Spec, 'object'> {
  return {
    describedObject, target: target(averageValue === undefined
      ? 'Value'
      : 'AverageValue', averageValue === undefined
      ? { value: value ?? '0' }
      : { value: value === '0' ? undefined : value, averageValue }), metric: metric(metricName, selector)
  }
}

function externalToV2 (
  { metricName, metricSelector, targetValue: value, targetAverageValue: averageValue }: Of<named.MetricSpec, 'external'>
): Of<Spec, 'external'> {
  return {
    metric: metric(metricName, metricSelector),
    target: target(value === undefined ? 'AverageValue' : 'Value', { value, averageValue })
  }
}

export function specToV2 ({ type, object, pods, resource, containerResource, external }: named.MetricSpec): Spec {
  return present({
    type,
    object: object && objectToV2(object),
    pods: pods && {
      metric: metric(pods.metricName, pods.selector),
      target: target('AverageValue', { averageValue: pods.targetAverageValue ?? '0' })
    },
    resource: resource && { name: resource.name, target: usage(resource) },
    containerResource: containerResource &&
      { name: containerResource.name, target: usage(containerResource), container: containerResource.container },
    external: external && externalToV2(external)
  })
}

export function specFromV2 ({ type, object, pods, resource, containerResource, external }: Spec): named.MetricSpec {
  return present({
    type,
    object: object &&
      present({
        target: object.describedObject, metricName: object.metric.name, targetValue: object.target.value,
        selector: object.metric.selector, averageValue: object.target.averageValue
      }),
    pods: pods && present({
      metricName: pods.metric.name, targetAverageValue: pods.target.averageValue, selector: pods.metric.selector
    }),
    resource: resource && { name: resource.name, ...used(resource.target) },
    containerResource: containerResource &&
      { name: containerResource.name, ...used(containerResource.target), container: containerResource.container },
    external: external &&
      present({
        metricName: external.metric.name, metricSelector: external.metric.selector, targetValue: external.target.value,
        targetAverageValue: external.target.averageValue
      })
  })
}

const current = ({ currentAverageUtilization: averageUtilization, currentAverageValue: averageValue }: {
  currentAverageUtilization?: number | undefined, currentAverageValue?: Value
}) =>
  present({ averageValue: averageValue ?? '0', averageUtilization })
const measured = (
  { averageUtilization: currentAverageUtilization, averageValue: currentAverageValue }: v2.MetricValueStatus
) => present({ currentAverageUtilization, currentAverageValue })

export function statusToV2 ({ type, object, pods, resource, containerResource, external }: named.MetricStatus): Status {
  return present({
    type,
    object: object &&
      {
        metric: metric(object.metricName, object.selector), current: present({
          value: object.currentValue ?? '0', averageValue: object.averageValue
        }), describedObject: object.target
      },
    pods: pods &&
      { metric: metric(pods.metricName, pods.selector), current: { averageValue: pods.currentAverageValue ?? '0' } },
    resource: resource && { name: resource.name, current: current(resource) },
    containerResource: containerResource &&
      { name: containerResource.name, current: current(containerResource), container: containerResource.container },
    external: external && {
      metric: metric(external.metricName, external.metricSelector),
      current: present({ value: external.currentValue ?? '0', averageValue: external.currentAverageValue })
    }
  })
}

export function statusFromV2 (
  { type, object, pods, resource, containerResource, external }: Status
): named.MetricStatus {
  return present({
    type,
    object: object &&
      present({
        target: object.describedObject, metricName: object.metric.name, currentValue: object.current.value,
        selector: object.metric.selector, averageValue: object.current.averageValue
      }),
    pods: pods && present({
      metricName: pods.metric.name, currentAverageValue: pods.current.averageValue, selector: pods.metric.selector
    }),
    resource: resource && { name: resource.name, ...measured(resource.current) },
    containerResource: containerResource &&
      { name: containerResource.name, ...measured(containerResource.current), container: containerResource.container },
    external: external &&
      present({
        metricName: external.metric.name, metricSelector: external.metric.selector,
        currentValue: external.current.value, currentAverageValue: external.current.averageValue
      })
  })
}

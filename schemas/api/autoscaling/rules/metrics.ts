/** Validation of v2 metrics: exactly one source each, with a suitable target. */
import type { Report } from '../../../language/types.js'
import { compareQuantities } from '../../../meta/quantity.js'
import { pathSegment } from '../../../names.js'
import { forbidden, invalid, notSupported, required, requiredName } from '../../../rules/findings.js'
import type { CrossVersionObjectReference, MetricIdentifier, MetricSpec, MetricTarget } from '../v2.js'

const SOURCES = {
  Object: 'object', External: 'external', Pods: 'pods', Resource: 'resource', ContainerResource: 'containerResource'
} as const
const TARGETS = ['Utilization', 'Value', 'AverageValue']
const isPositive = (amount: string): boolean => compareQuantities(amount, '0') > 0

export function validateMetric (metric: MetricSpec, at: string, report: Report): void {
  const { type } = metric
  if (type === '') required(report, `${at}.type`, 'must specify a metric source type')
  const wanted = Object.hasOwn(SOURCES, type) ? SOURCES[type as keyof typeof SOURCES] : undefined
  const present = Object.values(SOURCES).filter(source => metric[source] !== undefined)
  if (present[0] !== undefined) validateSource(metric, present[0], `${at}.${present[0]}`, report)
  if (wanted === undefined) notSupported(report, `${at}.type`, type, Object.keys(SOURCES).sort())
  else if (metric[wanted] === undefined) {
    required(report, `${at}.${wanted}`, 'must populate information for the given metric source')
  }
  if (present.length > 1) {
    for (const other of present) {
      if (other !== wanted) forbidden(report, `${at}.${other}`, 'must populate the given metric source only')
    }
  }
}

function validateSource (
  metric: MetricSpec, source: typeof SOURCES[keyof typeof SOURCES], at: string, report: Report
): void {
  const { object, external, pods, resource, containerResource } = metric
  if (source === 'object' && object !== undefined) {
    validateObjectReference(object.describedObject, `${at}.describedObject`, report)
    validateNamed(object, at, report)
    if (object.target.value === undefined && object.target.averageValue === undefined) {
      required(report, `${at}.target.averageValue`, 'must set either a target value or averageValue')
    }
  } else if (source === 'external' && external !== undefined) {
    const { value, averageValue } = external.target
    validateNamed(external, at, report)
    if (value === undefined && averageValue === undefined) {
      required(report, `${at}.target.averageValue`, 'must set either a target value for metric or a per-pod target')
    }
    if (value !== undefined && averageValue !== undefined) {
      forbidden(report, `${at}.target.value`, 'may not set both a target value for metric and a per-pod target')
    }
  } else if (source === 'pods' && pods !== undefined) {
    validateNamed(pods, at, report)
    if (pods.target.averageValue === undefined) {
      required(report, `${at}.target.averageValue`, 'must specify a positive target averageValue')
    }
  } else if (source === 'resource' && resource !== undefined) validateResource(resource, at, report)
  else if (source === 'containerResource' && containerResource !== undefined) {
    if (containerResource.container === '') required(report, `${at}.container`, 'must specify a container')
    validateResource(containerResource, at, report)
  }
}

function validateNamed (
  { metric: { name }, target }: { metric: MetricIdentifier, target: MetricTarget }, at: string, report: Report
): void {
  requiredName(report, `${at}.metric.name`, name, pathSegment, 'must specify a metric name')
  validateTarget(target, `${at}.target`, report)
}

function validateResource ({ name, target }: { name: string, target: MetricTarget }, at: string, report: Report): void {
  const { averageUtilization, averageValue } = target
  if (name === '') required(report, `${at}.name`, 'must specify a resource name')
  validateTarget(target, `${at}.target`, report)
  if (averageUtilization === undefined && averageValue === undefined) {
    required(report, `${at}.target.averageUtilization`, 'must set either a target raw value or a target utilization')
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    forbidden(report, `${at}.target.averageValue`, 'may not set both a target raw value and a target utilization')
  }
}

function validateTarget (
  { type, value, averageValue, averageUtilization }: MetricTarget, at: string, report: Report
): void {
  if (type === '') required(report, `${at}.type`, 'must specify a metric target type')
  if (!TARGETS.includes(type)) invalid(report, `${at}.type`, type, 'must be either Utilization, Value, or AverageValue')
  if (value !== undefined && !isPositive(value)) invalid(report, `${at}.value`, value, 'must be positive')
  if (averageValue !== undefined && !isPositive(averageValue)) {
    invalid(report, `${at}.averageValue`, averageValue, 'must be positive')
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    invalid(report, `${at}.averageUtilization`, averageUtilization, 'must be greater than 0')
  }
}

export function validateObjectReference (
  { kind, name }: CrossVersionObjectReference, at: string, report: Report
): void {
  requiredName(report, `${at}.kind`, kind, pathSegment)
  requiredName(report, `${at}.name`, name, pathSegment)
}

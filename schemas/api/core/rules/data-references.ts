/** Validation of references to fields and resources of a pod, and to keys of ConfigMaps and Secrets. */
import { isOn } from '../../../gates.js'
import { checkName, invalid, notSupported, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { configKey, dnsSubdomain, qualifiedName } from '../../../names.js'
import type { KeyToPath, ObjectFieldSelector, ResourceFieldSelector } from '../references-to-data.js'
import { checkFilePath, checkMode } from './paths.js'

/** Pod fields known to upstream's field label conversion. */
const FIELDS: readonly string[] = [
  'metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName',
  'spec.restartPolicy', 'spec.serviceAccountName', 'spec.schedulerName', 'status.phase', 'status.hostIP',
  'status.podIP', 'status.podIPs', 'spec.host'
]
const FIELDS_OF_ENV: readonly string[] = [
  'metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', 'spec.serviceAccountName', 'status.hostIP',
  'status.podIP', 'status.podIPs'
]
/** Since a release, which its gate brought. */
const HOST_ADDRESSES = 'status.hostIPs'
const withLater = (fields: readonly string[], report: Report): readonly string[] =>
  isOn(report, 'PodHostIPs') ? [...fields, HOST_ADDRESSES] : fields
export const fieldsOfEnv = (report: Report): readonly string[] => withLater(FIELDS_OF_ENV, report)
export const FIELDS_OF_FILES: readonly string[] = [
  'metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'
]

/** Splits `metadata.labels['app']` into path and key. */
function subscripted (fieldPath: string): [path: string, key: string | undefined] {
  const begin = fieldPath.endsWith("']") ? fieldPath.indexOf("['") : -1
  return begin < 1 ? [fieldPath, undefined] : [fieldPath.slice(0, begin), fieldPath.slice(begin + 2, -2)]
}

export function checkFieldRef (
  { apiVersion, fieldPath }: ObjectFieldSelector, fields: readonly string[], at: string, report: Report
): void {
  if (fieldPath === '') return required(report, `${at}.fieldPath`)
  const [path, key] = subscripted(fieldPath)
  const hasKeys = path === 'metadata.annotations' || path === 'metadata.labels'
  if (apiVersion !== 'v1' || (key === undefined ? !withLater(FIELDS, report).includes(path) : !hasKeys)) {
    const why = apiVersion !== 'v1'
      ? `unsupported pod version: ${apiVersion ?? ''}`
      : key === undefined
        ? `field label not supported: ${fieldPath}`
        : `field label does not support subscript: ${fieldPath}`
    return invalid(report, `${at}.fieldPath`, fieldPath, `error converting fieldPath: ${why}`)
  }
  if (key === undefined) {
    const name = path === 'spec.host' ? 'spec.nodeName' : path
    if (!fields.includes(name)) notSupported(report, `${at}.fieldPath`, name, fields)
  } else {
    // Upper case is valid in the domain of an annotation key, but not of a label key.
    for (const detail of qualifiedName(path === 'metadata.annotations' ? key.toLowerCase() : key)) {
      invalid(report, at, key, detail)
    }
  }
}

const RESOURCES: readonly string[] = [
  'limits.cpu', 'limits.ephemeral-storage', 'limits.memory', 'requests.cpu', 'requests.ephemeral-storage',
  'requests.memory'
]
const HUGE_PAGES = /^(?:limits|requests)\.hugepages-/
const DIVISORS_OF_CPU: readonly string[] = ['1m', '1']
const DIVISORS_OF_BYTES: readonly string[] = [
  '1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'
]

const kindOf = (resource: string): string =>
  HUGE_PAGES.test(resource) ? 'hugepages' : resource.endsWith('.memory') ? 'memory' : 'local ephemeral storage'
const listed = (divisors: readonly string[]): string =>
  divisors.length === 2 ? divisors.join(' and ') : divisors.join(', ')

/** @param ofFile in a volume, where the reference must name a container */
export function checkResourceFieldRef (
  { containerName = '', resource, divisor = '0' }: ResourceFieldSelector, ofFile: boolean, at: string, report: Report
): void {
  const known = RESOURCES.includes(resource) || (HUGE_PAGES.test(resource) && isOn(report, 'DownwardAPIHugePages'))
  if (ofFile && containerName === '') required(report, `${at}.containerName`)
  else if (resource === '') required(report, `${at}.resource`)
  else if (!known) notSupported(report, `${at}.resource`, resource, RESOURCES)
  const [kind, divisors] = resource.endsWith('.cpu') ? ['cpu', DIVISORS_OF_CPU] : [kindOf(resource), DIVISORS_OF_BYTES]
  if (known && divisor !== '0' && !divisors.includes(divisor)) {
    invalid(
      report, `${at}.divisor`, resource,
      `only divisor's values ${listed(divisors)} are supported with the ${kind} resource`
    )
  }
}

export function validateKeySelector (
  { name = '', key }: { name?: string | undefined, key: string }, at: string, report: Report
): void {
  checkName(report, `${at}.name`, name, dnsSubdomain)
  if (key !== '') checkName(report, `${at}.key`, key, configKey)
}

export function validateKeyToPath ({ path, mode }: KeyToPath, at: string, report: Report): void {
  checkFilePath(path, `${at}.path`, report)
  checkMode(mode, `${at}.mode`, report)
}

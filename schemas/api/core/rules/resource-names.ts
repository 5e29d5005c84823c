/** Names of compute resources. */
import { checkName, invalid } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { qualifiedName } from '../../../names.js'
import { isExtendedResource, isHugePages, isNative } from '../../../rules/quantities.js'

const OF_CONTAINERS: readonly string[] = ['cpu', 'memory', 'ephemeral-storage']
const OBJECTS: readonly string[] = [
  'pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets', 'configmaps', 'persistentvolumeclaims',
  'services.nodeports', 'services.loadbalancers'
]
const STANDARD: ReadonlySet<string> = new Set([
  ...OF_CONTAINERS, ...OF_CONTAINERS.flatMap(name => [`requests.${name}`, `limits.${name}`]), 'storage',
  'requests.storage', ...OBJECTS
])

export const isWholeNumbered = (name: string): boolean => OBJECTS.includes(name) || isExtendedResource(name)

/** @returns whether it is one */
export function checkResourceName (name: string, field: string, report: Report): boolean {
  if (qualifiedName(name).length > 0) {
    checkName(report, field, name, qualifiedName)
    return false
  }
  const isKnown = STANDARD.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-')
  if (isKnown || name.includes('/')) return true
  invalid(report, field, name, 'must be a standard resource type or fully qualified')
  return false
}

/** Resource names in container requests and limits. */
export function checkContainerResourceName (name: string, field: string, report: Report): void {
  if (OF_CONTAINERS.includes(name)) return
  checkResourceName(name, field, report)
  if (!name.includes('/')) {
    if (!isHugePages(name)) invalid(report, field, name, 'must be a standard resource for containers')
  } else if (!isNative(name) && !isExtendedResource(name)) {
    invalid(report, field, name, "doesn't follow extended resource name standard")
  }
}

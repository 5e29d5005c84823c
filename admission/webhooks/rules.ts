/** Whether the rules of a webhook are about a request. Pure: it knows names alone. */
import type { RuleWithOperations } from '../../schemas/api/admissionregistration/webhooks.js'
import type { Operation } from '../../registry/admission.js'

/** What of a request rules look at. */
export interface Subject {
  readonly operation: Operation
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  /** In a namespace, and not one itself. */
  readonly namespaced: boolean
}

const ALL = '*'
const names = (list: readonly string[] | undefined, name: string): boolean => list?.some(one => one === ALL || one === name) === true

export function matchesRule ({ operations, apiGroups, apiVersions, resources, scope = ALL }: RuleWithOperations, subject: Subject): boolean {
  return names(operations, subject.operation) && names(apiGroups, subject.group) && names(apiVersions, subject.version) &&
    (scope === ALL || (scope === 'Namespaced') === subject.namespaced) && resources?.some(one => namesResource(one, subject)) === true
}

/** `pods`, `pods/status`, `pods/*` for pods and all that is below them, `*` for all but subresources, and a star on both sides for everything. */
function namesResource (text: string, { resource, subresource }: Subject): boolean {
  const slash = text.indexOf('/')
  const [name, sub] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)]
  return (name === ALL || name === resource) && (sub === ALL || sub === subresource)
}

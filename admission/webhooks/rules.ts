/** Matches webhook rules with requests, by names only. */
import type { RuleWithOperations } from '../../schemas/api/admissionregistration/webhooks.js'
import type { AdmissionOperation } from '../../registry/admission.js'

/** The attributes of a request that rules match. */
export interface Subject {
  readonly operation: AdmissionOperation
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  /** In a namespace, and not a namespace itself. */
  readonly namespaced: boolean
}

const ALL = '*'
const names = (list: readonly string[] | undefined, name: string): boolean =>
  list?.some(value => value === ALL || value === name) === true

export function matchesRule (
  { operations, apiGroups, apiVersions, resources, scope = ALL }: RuleWithOperations, subject: Subject
): boolean {
  return names(operations, subject.operation) && names(apiGroups, subject.group) &&
    names(apiVersions, subject.version) &&
    (scope === ALL || (scope === 'Namespaced') === subject.namespaced) &&
      resources?.some(resource => namesResource(resource, subject)) === true
}

/**
 * `pods`, `pods/status`, `pods/*` with subresources, `*` without subresources, and a star on both sides of the slash
 * for everything.
 */
function namesResource (text: string, { resource, subresource }: Subject): boolean {
  const slash = text.indexOf('/')
  const [name, sub] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)]
  return (name === ALL || name === resource) && (sub === ALL || sub === subresource)
}

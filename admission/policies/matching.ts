/** Which requests a policy or a binding is for. */
import type { MatchResources, NamedRuleWithOperations } from '../../schemas/api/admissionregistration/policies.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import { nonEmpty } from '../webhooks/hook.js'
import { equivalents, type RequestedKind } from '../webhooks/hook-set.js'
import { matchesRule } from '../webhooks/rules.js'
import { isOfNamespaces, isSelected, namespaceOf } from '../webhooks/selectors.js'
import { followsFromBinding } from '../webhooks/tools.js'

const REVIEWS: ReadonlySet<string> = new Set(['authentication.orch.io', 'authorization.orch.io'])
const POLICIES = /^(?:validating|mutating)admissionpolic(?:ies|ybindings)$/

/** Policies see neither reviews nor policies, which they could make unremovable, nor what passes through a proxy. */
export const isExempt = ({ group, resource, subresource, operation }: AdmissionRequest): boolean =>
  REVIEWS.has(group) ||
    (group === 'admissionregistration.orch.io' && POLICIES.test(resource)) ||
    (operation === 'CONNECT' && subresource === 'proxy') ||
    followsFromBinding({ group, resource, subresource, operation })

/** One request, for the rules of many policies. */
export class Matching {
  readonly #request: AdmissionRequest
  readonly #resources: ResourceRegistry
  readonly #namespaced: boolean
  #others: readonly RequestedKind[] | undefined

  constructor (request: AdmissionRequest, resources: ResourceRegistry) {
    this.#request = request
    this.#resources = resources
    this.#namespaced = !isOfNamespaces(request) && namespaceOf(request) !== ''
  }

  /**
   * The version that the rules match, the request's own or an equivalent; undefined if they do not, or its labels are
   * not selected. Without rules all requests match. A promise only where there are selectors, which rejects with a
   * StatusError 404 if the namespace does not exist.
   */
  of (match: MatchResources): RequestedKind | undefined | Promise<RequestedKind | undefined> {
    const { resourceRules = [], excludeResourceRules = [], matchPolicy } = match
    const equivalent = matchPolicy !== 'Exact'
    if (this.#matched(excludeResourceRules, equivalent) !== undefined) return undefined
    const requested = resourceRules.length === 0 ? this.#request.requested : this.#matched(resourceRules, equivalent)
    if (requested === undefined) return undefined
    const selectors = {
      namespaceSelector: nonEmpty(match.namespaceSelector), objectSelector: nonEmpty(match.objectSelector)
    }
    if (selectors.namespaceSelector === undefined && selectors.objectSelector === undefined) return requested
    return isSelected(selectors, this.#request).then(selected => selected ? requested : undefined)
  }

  #matched (rules: readonly NamedRuleWithOperations[], equivalent: boolean): RequestedKind | undefined {
    const { requested } = this.#request
    if (rules.some(rule => this.#matches(rule, requested))) return requested
    if (!equivalent || rules.length === 0) return undefined
    this.#others ??= equivalents(this.#request, this.#resources)
    for (const rule of rules) {
      const other = this.#others.find(kind => this.#matches(rule, kind))
      if (other !== undefined) return other
    }
    return undefined
  }

  #matches (rule: NamedRuleWithOperations, { group, version, plural }: RequestedKind): boolean {
    const { operation, subresource, name } = this.#request
    const { resourceNames = [] } = rule
    return matchesRule(rule, {
      operation, group, version, resource: plural, subresource, namespaced: this.#namespaced
    }) &&
      (resourceNames.length === 0 || resourceNames.includes(name))
  }
}

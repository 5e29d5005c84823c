/**
 * All webhooks of one kind, in order, and the ones that match a request; matches are cached by resource and operation.
 */
import type { Representation } from '../../schemas/resource.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import type { Hook } from './hook.js'
import { matchesRule } from './rules.js'
import { isOfNamespaces, namespaceOf } from './selectors.js'

/** A version of a type, as requests name it. */
export type RequestedKind = Pick<Representation, 'group' | 'version' | 'kind' | 'plural'>

export interface Invocation {
  readonly hook: Hook
  /** Index of the hook among all. */
  readonly index: number
  /** The version that its rules match: the request's own, or an equivalent. */
  readonly requested: RequestedKind
}

const NONE: readonly Invocation[] = []

export class HookSet {
  readonly hooks: readonly Hook[]
  #generation = -1
  #known = new WeakMap<RequestedKind, Map<string, readonly Invocation[]>>()

  constructor (hooks: readonly Hook[]) { this.hooks = hooks }

  /** Hooks whose rules match; selectors are evaluated later. */
  matching (request: AdmissionRequest, resources: ResourceRegistry): readonly Invocation[] {
    if (this.hooks.length === 0) return NONE
    if (resources.generation !== this.#generation) {
      this.#known = new WeakMap()
      this.#generation = resources.generation
    }
    const { requested, operation, subresource } = request
    const namespaced = !isOfNamespaces(request) && namespaceOf(request) !== ''
    let byQuestion = this.#known.get(requested)
    if (byQuestion === undefined) this.#known.set(requested, byQuestion = new Map())
    const cacheKey = `${operation} ${namespaced} ${subresource}`
    let invocations = byQuestion.get(cacheKey)
    if (invocations === undefined) byQuestion.set(cacheKey, invocations = this.#find(request, namespaced, resources))
    return invocations
  }

  #find (request: AdmissionRequest, namespaced: boolean, resources: ResourceRegistry): readonly Invocation[] {
    const { requested, operation, subresource } = request
    const others = equivalents(request, resources)
    return this.hooks.flatMap((hook, index) => {
      const matches = (rule: Hook['rules'][number], { group, version, plural }: RequestedKind): boolean =>
        matchesRule(rule, { operation, group, version, resource: plural, subresource, namespaced })
      if (hook.rules.some(rule => matches(rule, requested))) return [{ hook, index, requested }]
      if (!hook.equivalent) return []
      for (const rule of hook.rules) {
        const requested = others.find(other => matches(rule, other))
        if (requested !== undefined) return [{ hook, index, requested }]
      }
      return []
    })
  }
}

/** Other served versions and groups of the same objects. */
export function equivalents (
  { group, resource, requested, subresource }: AdmissionRequest, resources: ResourceRegistry
): RequestedKind[] {
  const { type, siblings } = resources.find(group, resource) ?? {}
  const representations = siblings?.representations ?? type?.representations ?? []
  return representations.filter(representation =>
    !(representation.group === requested.group && representation.version === requested.version &&
      representation.plural === requested.plural) &&
    resources.lookup({
      group: representation.group, version: representation.version, resource: representation.plural
    }) !== undefined &&
    (subresource === '' || representation.subresources.some(({ name }) => name === subresource)))
}

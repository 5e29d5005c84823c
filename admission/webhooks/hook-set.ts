/** All webhooks of one kind, in order, and which of them a request is for: looked up once for each way to ask for a resource. */
import type { Representation } from '../../schemas/index.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import type { Hook } from './hook.js'
import { matchesRule } from './rules.js'
import { isOfNamespaces, namespaceOf } from './selectors.js'

/** A version that a type is spoken in, as a request names it. */
export type RequestedKind = Pick<Representation, 'group' | 'version' | 'kind' | 'plural'>

export interface Invocation {
  readonly hook: Hook
  /** Of the hook among all. */
  readonly index: number
  /** What its rules asked for: the request's own, or an equivalent. */
  readonly requested: RequestedKind
}

const NONE: readonly Invocation[] = []

export class HookSet {
  readonly hooks: readonly Hook[]
  #generation = -1
  #known = new WeakMap<RequestedKind, Map<string, readonly Invocation[]>>()

  constructor (hooks: readonly Hook[]) { this.hooks = hooks }

  /** Those whose rules match; selectors are looked at when their turn comes. */
  matching (request: AdmissionRequest, resources: ResourceRegistry): readonly Invocation[] {
    if (this.hooks.length === 0) return NONE
    if (resources.generation !== this.#generation) {
      this.#known = new WeakMap()
      this.#generation = resources.generation
    }
    const { requested, operation, subresource } = request
    const namespaced = !isOfNamespaces(request) && namespaceOf(request) !== ''
    let ways = this.#known.get(requested)
    if (ways === undefined) this.#known.set(requested, ways = new Map())
    const question = `${operation} ${namespaced} ${subresource}`
    let found = ways.get(question)
    if (found === undefined) ways.set(question, found = this.#find(request, namespaced, resources))
    return found
  }

  #find (request: AdmissionRequest, namespaced: boolean, resources: ResourceRegistry): readonly Invocation[] {
    const { requested, operation, subresource } = request
    const others = equivalents(request, resources)
    return this.hooks.flatMap((hook, index) => {
      const matches = (rule: Hook['rules'][number], { group, version, plural }: RequestedKind): boolean => matchesRule(rule, { operation, group, version, resource: plural, subresource, namespaced })
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

/** Other versions and groups that serve the same objects. */
function equivalents ({ group, resource, requested, subresource }: AdmissionRequest, resources: ResourceRegistry): RequestedKind[] {
  const { type } = resources.find(group, resource) ?? {}
  return type?.representations.filter(one => !(one.group === requested.group && one.version === requested.version && one.plural === requested.plural) &&
    resources.lookup({ group: one.group, version: one.version, resource: one.plural }) !== undefined &&
    (subresource === '' || one.subresources.some(({ name }) => name === subresource))) ?? []
}

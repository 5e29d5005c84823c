/** Decides who may read the past of a namespace. */
import type { VerbRequest } from '../answers/answer.js'
import { isOfFormer, type MayReadFrom } from '../registry/verbs/former-namespace.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { mayAlso } from './other-rights.js'

/**
 * For lists and watches in a namespace, or of one; undefined for others. Those who may list the resource in all
 * namespaces may also read what former namespaces held.
 */
export function mayReadFrom (request: VerbRequest, store: ResourceStore): MayReadFrom | undefined {
  const { info, query } = request.orch
  const namespaces = request.server.orchResources.find('', 'namespaces')
  const isNamespace = info.group === '' && info.resource === 'namespaces'
  const name = store.type.namespaced ? info.namespace : isNamespace ? info.name : ''
  if (query.size === 0 || name === '' || namespaces === undefined) return undefined
  const { group, version, plural: resource } = store.representation
  return async revision =>
    !await isOfFormer(namespaces, name, store, revision) ||
    await mayAlso(request, { verb: 'list', group, version, resource })
}

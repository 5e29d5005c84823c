/**
 * The verbs of a served resource. It knows which requests the resource can have at all, and refuses the others
 * with 404 and 405. The dispatcher and the not-found handler refuse paths without a resource, the verbs of virtual
 * resources refuse watches.
 */
import type { RequestInfo } from '../auth/request-info.js'
import { dnsLabel } from '../schemas/names.js'
import { methodNotAllowed, noSuchPath, notFound, type StatusError } from '../schemas/status.js'
import type { ResourceStore } from './resource-store.js'

/** Why nothing answers a request: not with its method, or not at all. */
export const unanswered = (isServed: boolean): StatusError => isServed ? methodNotAllowed() : noSuchPath()

/** Only proxied paths have these methods. */
const isProbe = (method: string): boolean => method === 'HEAD' || method === 'OPTIONS'

const COLLECTION_VERBS = new Set(['list', 'watch', 'create', 'deletecollection'])

/**
 * Whether the path of a request is one of the resource's. A namespace object is in its own namespace; no other
 * cluster-scoped object is in any. Otherwise permission in one namespace would reach beyond it.
 */
export const hasPath = (
  { type: { namespaced } }: ResourceStore, { namespace, name, selected }: RequestInfo
): boolean => namespaced
  ? namespace !== '' || name === '' || selected === true
  : namespace === '' || namespace === name

export class VerbTable<Verb> {
  readonly #store: ResourceStore
  readonly #verbs: ReadonlyMap<string, Partial<Record<string, Verb>>>

  /** @param verbs by subresource, '' for the object itself, then by verb */
  constructor (store: ResourceStore, verbs: ReadonlyMap<string, Partial<Record<string, Verb>>>) {
    this.#store = store
    this.#verbs = verbs
  }

  /** @throws StatusError 404 for a path that the resource does not have, 405 for a verb */
  of (info: RequestInfo, method: string): Verb {
    const { namespace, subresource, verb, rest } = info
    const { namespaced } = this.#store.type
    if (!hasPath(this.#store, info)) throw noSuchPath()
    if (namespaced && namespace !== '' && dnsLabel(namespace).length > 0) {
      throw notFound({ group: '', resource: 'namespaces' }, namespace)
    }
    const verbs = this.#verbs.get(subresource)
    if (verbs === undefined) throw noSuchPath()
    const found = verbs[verb === 'options' ? 'get' : verb]
    if (found === undefined || !this.#allows(info) || (rest === undefined && isProbe(method))) throw unanswered(true)
    return found
  }

  /**
   * Collections and objects take different verbs, except watch. Across namespaces, namespaced resources can only be
   * listed and watched.
   */
  #allows ({ verb, namespace, name, selected, subresource }: RequestInfo): boolean {
    const { type, representation } = this.#store
    if (subresource !== '') return name !== ''
    if ((name === '' || selected === true) !== COLLECTION_VERBS.has(verb) && verb !== 'watch') return false
    return !type.namespaced || namespace !== '' || verb === 'list' || verb === 'watch' ||
      (type.virtual && representation.verbs.includes('create'))
  }
}

/**
 * What was decided of users since a role or binding changed last. Users are distinguished by their object, which
 * authenticators keep for as long as they remember a credential. Benchmark: `npm run bench -- production`, 'get
 * ConfigMap, embedded'.
 */
import type { Ruling } from '../authorizer.js'
import type { RequestInfo } from '../request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'

/** More are forgotten, some 3 MB. */
const MAX_DECISIONS = 10_000

export class Decisions {
  #byUser = new WeakMap<UserInfo, Map<string, Ruling>>()
  #count = 0

  /** A ruling that holds for every object of the request's resource and namespace. */
  of (user: UserInfo, info: RequestInfo): Ruling | undefined {
    return this.#byUser.get(user)?.get(questionOf(info))
  }

  remember (user: UserInfo, info: RequestInfo, ruling: Ruling): void {
    if (this.#count++ >= MAX_DECISIONS) this.forget()
    const known = this.#byUser.get(user)
    if (known === undefined) this.#byUser.set(user, new Map([[questionOf(info), ruling]]))
    else known.set(questionOf(info), ruling)
  }

  forget (): void {
    if (this.#count === 0) return
    this.#byUser = new WeakMap()
    this.#count = 0
  }
}

/** With lengths, as a review may ask about any text: no two questions have one key. */
const questionOf = ({ isResourceRequest, verb, path, group, resource, subresource, namespace }: RequestInfo): string =>
  isResourceRequest
    ? `${verb.length} ${group.length} ${resource.length} ${subresource.length} ` +
      `${verb}${group}${resource}${subresource}${namespace}`
    : `${verb.length} ${verb}${path}`

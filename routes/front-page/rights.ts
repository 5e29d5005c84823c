/** What the reader of the page may see, decided as for a request of their own. */
import type { Authorizer } from '../../auth/authorizer.js'
import { pathRequest, resourceRequest, type RequestInfo } from '../../auth/request-info.js'
import type { Representation } from '../../schemas/resource.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'

/** The path of a group version. */
export const versionPath = ({ group, version }: Pick<Representation, 'group' | 'version'>): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`

export class Rights {
  readonly #authorizer: Authorizer
  readonly #user: UserInfo
  readonly #paths = new Map<string, Promise<boolean>>()

  constructor (authorizer: Authorizer, user: UserInfo) {
    this.#authorizer = authorizer
    this.#user = user
  }

  /** Whether the reader may GET the path, which names no resource. */
  get (path: string): Promise<boolean> {
    let known = this.#paths.get(path)
    if (known === undefined) this.#paths.set(path, known = this.#may(pathRequest(path, 'get')))
    return known
  }

  /** Whether the reader may list the resource in all namespaces. */
  list (representation: Representation): Promise<boolean> {
    const { group, version, plural } = representation
    return this.#may(resourceRequest({
      path: `${versionPath(representation)}/${plural}`, verb: 'list', group, version, resource: plural
    }))
  }

  async #may (info: RequestInfo): Promise<boolean> {
    if (turnIsOver()) await nextTurn() // a page has hundreds of decisions, and a user may have thousands of rules
    return (await this.#authorizer.authorize({ user: this.#user, info })).decision === 'Allow'
  }
}

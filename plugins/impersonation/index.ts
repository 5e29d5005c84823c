/**
 * Impersonation: a request with `Impersonate-User` continues as that user, with the given groups, uid and extra, if the
 * authorizer allows each of them, for what the request does or for everything. Runs after authentication and audit,
 * whose events name both users, and before limits and authorization, which see only the impersonated user. The headers
 * are removed.
 */
import { served, type ServedRequest } from '../../answers/request-context.js'
import { allows, refusal } from '../../auth/refusal.js'
import type { Attributes } from '../../auth/authorizer.js'
import { resourceRequest, type RequestInfo } from '../../auth/request-info.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { badRequest, internalError } from '../../schemas/status.js'
import { reasonOf } from '../../storage/errors.js'
import { parseImpersonation, type Permission } from './permissions.js'
import { modesOf, type Mode } from './constrained.js'
import { impersonationHeaders, isImpersonation, type Impersonation } from './headers.js'
import { ownUsers } from '../shared/client-names.js'
import { removeHeaders } from '../shared/sent-headers.js'
import { plugin } from '../shared/plugin.js'
import { later, type Authorization } from '../shared/server.js'

const PATH = '/impersonate'

/** The authorizer request for a permission. Users and groups have no version, as upstream. */
const requestInfoOf = (
  { group, resource, subresource = '', namespace = '', name }: Permission, verb: string
): RequestInfo => resourceRequest({
  path: PATH, verb, group, version: group === '' ? '' : 'v1', resource, subresource, namespace, name
})

function headersOf (rawHeaders: readonly string[]): Impersonation {
  try {
    return impersonationHeaders(rawHeaders)
  } catch (error) {
    throw badRequest(reasonOf(error))
  }
}

/** From this many groups, or values of extra, on. */
const MANY = 4

/** Groups those of one resource. */
function kindsOf (permissions: readonly Permission[]): Permission[][] {
  const kinds = new Map<string, Permission[]>()
  for (const permission of permissions) {
    kinds.set(permission.resource, [...kinds.get(permission.resource) ?? [], permission])
  }
  return [...kinds.values()]
}

/** Stands for all names, and all keys, of a resource. */
const wildcardOf = ({ group, resource, subresource }: Permission): Permission =>
  ({ group, resource, name: '*', ...subresource === undefined ? {} : { subresource: '*' } })

const verbOf = ({ name }: Mode): string => `impersonate:${name}`

/** What who impersonates must be allowed. */
class Permits {
  readonly #authorization: () => Authorization | undefined

  constructor (authorization: () => Authorization | undefined) { this.#authorization = authorization }

  /** @throws StatusError for the first permission that is not allowed */
  async allow (user: UserInfo, permissions: readonly Permission[], verb = 'impersonate'): Promise<void> {
    for (const permission of permissions) await this.#authorize({ user, info: requestInfoOf(permission, verb) })
  }

  /** @throws StatusError 403 if the mode does not allow the request */
  async allowMode ({ orch }: ServedRequest, mode: Mode): Promise<void> {
    const { requester } = mode
    const info = { ...orch.info, verb: `impersonate-on:${mode.name}:${orch.info.verb}` }
    if (mode.problem !== undefined) throw refusal({ user: requester, info }, mode.problem)
    await this.#authorize({ user: requester, info })
    await this.#allowMany(requester, mode.permissions, verbOf(mode))
  }

  /** As `allow`; many of a kind may be allowed at once. */
  async #allowMany (user: UserInfo, permissions: readonly Permission[], verb: string): Promise<void> {
    for (const alike of kindsOf(permissions)) {
      const [first] = alike
      const info = first === undefined || alike.length < MANY ? undefined : requestInfoOf(wildcardOf(first), verb)
      if (info === undefined || !await this.#isAllowed({ user, info })) await this.allow(user, alike, verb)
    }
  }

  #isAllowed (attributes: Attributes): Promise<boolean> {
    return this.#authorize(attributes).then(() => true, () => false)
  }

  /** @throws StatusError if it is not allowed */
  async #authorize (attributes: Attributes): Promise<void> {
    const ruling = await this.#authorization()?.authorizer.authorize(attributes)
    if (ruling === undefined || !allows(ruling)) throw refusal(attributes, ruling?.reason ?? '')
  }
}

export default plugin()(async fastify => {
  const permits = new Permits(later(fastify, 'orchAuthorization')) // its hook comes after ours
  const constrains = fastify.orchSettings.featureGates.enabled('ConstrainedImpersonation')

  const impersonate = async (request: ServedRequest): Promise<void> => {
    const { orch, raw } = request
    if (orch.user === undefined) throw internalError(new Error('impersonation ran before authentication'))
    const sent = ownUsers(headersOf(raw.rawHeaders), orch)
    const { permissions, user } = parseImpersonation(sent)
    removeHeaders(raw, isImpersonation)
    if (user === undefined) return
    const requester = orch.user
    let failure: unknown
    for (const mode of constrains ? modesOf(sent, requester) : []) {
      try {
        await permits.allowMode(request, mode)
        orch.impersonator = requester
        orch.user = mode.user
        orch.impersonationConstraint = verbOf(mode)
        return
      } catch (error) {
        failure ??= error
      }
    }
    await permits.allow(requester, permissions).catch((error: unknown) => { throw failure ?? error })
    orch.impersonator = requester
    orch.user = user
  }

  fastify.addHook('onRequest', (request, _reply, done) => {
    const { rawHeaders } = request.raw
    for (let at = 0; at < rawHeaders.length; at += 2) {
      if (isImpersonation(rawHeaders[at] as string)) { // names and values alternate
        impersonate(served(request)).then(() => { done() }, done)
        return
      }
    }
    done()
  })
}, {
  name: 'orch/impersonation',
  fastify: '5.x',
  dependencies: ['orch/authentication', 'orch/audit'],
  decorators: { fastify: ['orchSettings'], request: ['orch'] }
})

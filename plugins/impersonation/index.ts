/**
 * Impersonation: a request with `Impersonate-User` continues as that user, with the given groups, uid and extra, if the
 * authorizer allows each of them. Runs after authentication and audit, whose events name both users, and before limits
 * and authorization, which see only the impersonated user. The headers are removed.
 */
import { served, type ServedRequest } from '../../answers/request-context.js'
import { allows, refusal } from '../../auth/refusal.js'
import { resourceRequest, type RequestInfo } from '../../auth/request-info.js'
import type { Naming } from '../../schemas/naming.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { badRequest, internalError } from '../../schemas/status.js'
import { reasonOf } from '../../storage/errors.js'
import { parseImpersonation, type Permission } from './permissions.js'
import { impersonationHeaders, isImpersonation, type Impersonation } from './headers.js'
import { removeHeaders } from '../shared/sent-headers.js'
import { plugin } from '../../answers/server.js'
import { later } from '../shared/server.js'

const PATH = '/impersonate'

/** The authorizer request for a permission. Users and groups have no version, as upstream. */
const requestInfoOf = ({ group, resource, subresource = '', namespace = '', name }: Permission): RequestInfo =>
  resourceRequest({
    path: PATH, verb: 'impersonate', group, version: group === '' ? '' : 'v1', resource, subresource, namespace, name
  })

function headersOf (rawHeaders: readonly string[]): Impersonation {
  try {
    return impersonationHeaders(rawHeaders)
  } catch (error) {
    throw badRequest(reasonOf(error))
  }
}

const underOwnNames = ({ users, uids, groups, extra }: Impersonation, { user, key }: Naming): Impersonation => ({
  users: users.map(user),
  uids,
  groups: groups.map(user),
  extra: new Map([...extra].map(([name, values]) => [key(name), values]))
})

export default plugin()(async fastify => {
  const authorization = later(fastify, 'orchAuthorization') // its hook comes after ours
  /** @throws StatusError for the first permission that is not allowed */
  const allow = async (user: UserInfo, permissions: readonly Permission[]): Promise<void> => {
    for (const permission of permissions) {
      const attributes = { user, info: requestInfoOf(permission) }
      const ruling = await authorization()?.authorizer.authorize(attributes)
      if (ruling === undefined || !allows(ruling)) throw refusal(attributes, ruling?.reason ?? '')
    }
  }

  const impersonate = async (request: ServedRequest): Promise<void> => {
    const { orch, raw } = request
    if (orch.user === undefined) throw internalError(new Error('impersonation ran before authentication'))
    const sent = headersOf(raw.rawHeaders)
    const { permissions, user } = parseImpersonation(underOwnNames(sent, orch.naming))
    removeHeaders(raw, isImpersonation)
    if (user === undefined) return
    await allow(orch.user, permissions)
    orch.impersonator = orch.user
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
  decorators: { request: ['orch'] }
})

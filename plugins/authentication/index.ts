/**
 * Who is asking: a chain of authenticators, the first that recognises its credentials ends it. With none
 * recognised the request is anonymous where that is allowed and else refused with 401; credentials that
 * were recognised and are bad are refused, anonymous or not. (Interface: Authentication.)
 */
import fp from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import type { Authenticator, Credentials, UserInfo } from '../../schemas/request.js'
import { StatusError, unauthorized } from '../../schemas/status.js'
import { clientCertificateAuthenticator, certificateOf } from './client-certificate.js'
import { bearerToken, tokenFileAuthenticator } from './token-file.js'

export interface AuthenticationOptions {
  readonly anonymous: boolean
  /** Contents of the static token file. */
  readonly tokens: string | undefined
  /** True when the TLS server asks for client certificates. */
  readonly clientCertificates: boolean
  readonly authenticators: readonly Authenticator[]
}

const AUTHENTICATED = 'system:authenticated'
export const ANONYMOUS: UserInfo = { username: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} }

/** Every authenticated user is in the group of all authenticated users; remembered per user object, as most are reused. */
const completed = new WeakMap<UserInfo, UserInfo>()
function complete (user: UserInfo): UserInfo {
  if (user.groups.includes(AUTHENTICATED) || user.username === ANONYMOUS.username) return user
  let whole = completed.get(user)
  if (whole === undefined) completed.set(user, whole = { ...user, groups: [...user.groups, AUTHENTICATED] })
  return whole
}

type Found = UserInfo | undefined

/** The chain as one function; synchronous as long as the authenticators asked are. Rejects or throws with the first failure when none succeeds. */
export function chain (authenticators: readonly Authenticator[]): (credentials: Credentials) => Found | Promise<Found> {
  const ask = (from: number, credentials: Credentials, before: unknown[] | undefined): Found | Promise<Found> => {
    let failures = before
    for (let at = from; at < authenticators.length; at++) {
      let found: Found | Promise<Found>
      try {
        found = (authenticators[at] as Authenticator).authenticate(credentials)
      } catch (error) {
        failures = [...failures ?? [], error]
        continue
      }
      if (found instanceof Promise) {
        const known = failures
        return found.then(user => user ?? ask(at + 1, credentials, known), error => ask(at + 1, credentials, [...known ?? [], error]))
      }
      if (found !== undefined) return found
    }
    if (failures !== undefined) throw new StatusError('Unauthorized', 'Unauthorized', { cause: failures[0] })
    return undefined
  }
  return credentials => ask(0, credentials, undefined)
}

export default fp<AuthenticationOptions>(async (fastify, options) => {
  const authenticate = chain([
    ...options.authenticators,
    ...(options.clientCertificates ? [clientCertificateAuthenticator] : []),
    ...(options.tokens === undefined ? [] : [tokenFileAuthenticator(options.tokens)])
  ])

  const settle = (request: FastifyRequest, found: Found): Error | undefined => {
    const bearer = found === undefined && bearerToken(request.headers.authorization) !== undefined
    const user = found ?? (options.anonymous && !bearer ? ANONYMOUS : undefined)
    if (user === undefined) return unauthorized()
    request.orch.user = complete(user)
    return undefined
  }

  const refuse = (error: unknown): Error => error instanceof StatusError ? error : new StatusError('Unauthorized', 'Unauthorized', { cause: error })

  fastify.addHook('onRequest', (request, _reply, done) => {
    const credentials = { headers: request.headers, certificate: options.clientCertificates ? certificateOf(request.raw.socket) : undefined }
    try {
      const found = authenticate(credentials)
      if (!(found instanceof Promise)) return done(settle(request, found))
      found.then(user => { done(settle(request, user)) }, error => { done(refuse(error)) })
    } catch (error) {
      done(refuse(error))
    }
  })
}, { name: 'orch/authentication', fastify: '5.x', dependencies: ['orch/request-info'] })

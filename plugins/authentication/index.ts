/**
 * Authenticates requests: tries the methods of `methods.ts` in order; the first that recognizes the credentials
 * decides. Requests without recognized credentials are anonymous if allowed, otherwise they get 401. Invalid
 * credentials always get 401. Credentials are removed from the request, so that later code cannot see them. (Interface:
 * Authentication.) `fastify.orchAuthentication` offers the chain, without the anonymous user, for other credentials
 * such as those of a TokenReview.
 */
import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { served, type ServedRequest } from '../../answers/request-context.js'
import type { Authenticator, Credentials } from '../../auth/authenticator.js'
import { authoritiesOf, type Authorities } from '../../auth/authorities.js'
import type { Naming } from '../../schemas/naming.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { StatusError, unauthorized } from '../../schemas/status.js'
import { oncePer } from '../../schemas/once-per.js'
import type { PublishedAuthentication } from '../../controllers/published-authentication.js'
import { runParts } from '../shared/lifecycle.js'
import { removeHeaders } from '../shared/sent-headers.js'
import { countAttempts } from './attempts.js'
import { chain, type Found } from './chain.js'
import type { AuthenticationOptions, HostCredentials } from './method.js'
import { authenticatorsOf } from './methods.js'
import { certificateOf } from './peer-certificate.js'
import { OwnUsers } from './own-users.js'
import { isProxyHeader, type RequestHeaderOptions } from './request-header.js'
import { failureFields } from '../../storage/errors.js'
import { KeptTokens } from './service-account/kept-tokens.js'
import { serviceAccounts } from './service-account/index.js'
import { hasToken, removeAuthorization, tokenInProtocol } from './sent-credentials.js'
import { currentTrust } from './trust.js'
import { plugin } from '../../answers/server.js'

export type { AuthenticationOptions, HostAuthenticator, HostCredentials } from './method.js'
import { ignoredToken } from './token-file.js'

const connectionOf = (raw: IncomingMessage & Partial<Pick<Http2ServerRequest, 'stream'>>): object =>
  raw.stream?.session ?? raw.socket

const HEALTH = /^\/(?:healthz|livez|readyz)(?:\/|$)/
const AUTHENTICATED = 'system:authenticated'
export const ANONYMOUS: UserInfo = {
  username: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {}
}

/** Adds the group of all authenticated users; cached per user object, because most are reused. */
const complete = oncePer((user: UserInfo): UserInfo =>
  user.groups.includes(AUTHENTICATED) || user.username === ANONYMOUS.username
    ? user
    : { ...user, groups: [...user.groups, AUTHENTICATED] })

const completeFound = (user: Found): Found => user === undefined ? undefined : complete(user)

/** Who others authenticate, under our names; cached as `complete`. */
const renamed = new WeakMap<UserInfo, UserInfo>()
function named (user: Found, { key, ownUser }: Pick<Naming, 'key' | 'ownUser'>): Found {
  if (user === undefined) return undefined
  let own = renamed.get(user)
  if (own !== undefined) return own
  const extra = Object.fromEntries(Object.entries(user.extra).map(([name, values]) => [key(name), values]))
  renamed.set(user, own = { ...user, username: ownUser(user.username), groups: user.groups.map(ownUser), extra })
  return own
}

/** An authenticator whose users may have other names. */
const external = (authenticator: Authenticator, { key, ownUser }: Naming): Authenticator => {
  const naming = { ownUser, key: authenticator.ownExtra === true ? (name: string) => name : key }
  return {
    name: authenticator.name,
    knowsAudiences: authenticator.knowsAudiences === true,
    authenticate: credentials => {
      const result = authenticator.authenticate(credentials)
      return result instanceof Promise ? result.then(user => named(user, naming)) : named(result, naming)
    }
  }
}

/** Undefined if no certificate authorities are configured. */
function publication (
  clientAuthorities: Authorities | undefined, authorities: Authorities | undefined,
  header: RequestHeaderOptions | undefined, publishesUid: boolean
): PublishedAuthentication | undefined {
  if (clientAuthorities === undefined && authorities === undefined) return undefined
  const {
    allowedNames = [], usernameHeaders = [], groupHeaders = [], extraHeaderPrefixes = [], uidHeaders = []
  } = header ?? {}
  return {
    clientAuthorities, proxy: authorities === undefined
      ? undefined
      : {
          authorities, allowedNames, usernameHeaders, groupHeaders, extraHeaderPrefixes,
          ...(publishesUid ? { uidHeaders } : {})
        }
  }
}

export default plugin<AuthenticationOptions>()(async (fastify, options) => {
  const { anonymous = true, clientCertificates = false, requestHeader } = options
  const {
    orchMetrics: metrics, orchClock: clock, orchResources: resources, orchSettings: { naming, featureGates }
  } = fastify
  const log = (message: string, error: unknown): void => { fastify.log.warn(failureFields(error), message) }
  const kept = featureGates.enabled('LegacyServiceAccountTokenTracking')
    ? new KeptTokens({ resources, now: clock.wall, log })
    : undefined
  const accounts = await serviceAccounts({
    ...options.serviceAccounts, kept, audiences: options.audiences, naming, resources, metrics, gates: featureGates,
    now: clock.wall, log
  })
  fastify.addHook('onClose', async () => {
    await kept?.close()
    accounts.close()
  })
  const { audiences } = accounts.tokens
  const authenticators = await authenticatorsOf(options, {
    gates: featureGates, clock, log: fastify.log, metrics, tunnel: fastify.orchEgress.controlPlane,
    cluster: fastify.orchEgress.cluster, audiences, resources, naming,
    serviceAccounts: accounts.authenticator
  })
  // Tokens of service accounts say by themselves under which names they are.
  const underOwnNames = (authenticator: Authenticator): Authenticator =>
    authenticator === accounts.authenticator ? authenticator : external(authenticator, naming)
  const ask = chain(naming.renames ? authenticators.map(underOwnNames) : authenticators, audiences)
  const authenticate = (credentials: Credentials): Found | Promise<Found> => {
    const result = ask(credentials)
    return result instanceof Promise ? result.then(completeFound) : completeFound(result)
  }
  runParts(fastify, 'authenticator', authenticators)

  const clients = options.clientAuthorities === undefined ? undefined : authoritiesOf(options.clientAuthorities)
  const proxies = requestHeader === undefined ? undefined : authoritiesOf(requestHeader.authorities)
  const ownUsers = new OwnUsers()
  fastify.decorate('orchAuthentication', {
    authenticator: { name: 'chain', authenticate }, audiences, tokens: accounts.tokens, ownUsers,
    published: publication(clients, proxies, requestHeader, featureGates.enabled('RemoteRequestHeaderUID'))
  })
  const trust = currentTrust(clients, proxies)
  const certificates = clientCertificates || requestHeader !== undefined
  const isHidden = requestHeader === undefined ? undefined : isProxyHeader(requestHeader)
  const attempts = countAttempts(metrics)

  const mayBeAnonymous = typeof anonymous === 'boolean'
    ? () => anonymous
    : anonymous === 'health' ? (path: string) => HEALTH.test(path) : (path: string) => anonymous.includes(path)

  const settle = (request: ServedRequest, result: Found, since: number): Error | undefined => {
    const user = result ?? (mayBeAnonymous(request.orch.info.path) && !hasToken(request.raw) ? ANONYMOUS : undefined)
    if (user === undefined) {
      attempts.failed(since)
      return unauthorized()
    }
    attempts.succeeded(user, since)
    removeAuthorization(request.raw)
    if (isHidden !== undefined) removeHeaders(request.raw, isHidden)
    request.orch.user = user
    return undefined
  }

  const refuse = (error: unknown, since: number): Error => {
    attempts.errored(since)
    return error instanceof StatusError ? error : new StatusError('Unauthorized', 'Unauthorized', { cause: error })
  }

  fastify.addHook('onRequest', (arrived, _reply, done) => {
    const request = served(arrived)
    const since = performance.now()
    const { headers, rawHeaders, socket } = request.raw
    const own = ownUsers.find(headers.authorization)
    if (own !== undefined && 'isLightMyRequest' in request.raw) return done(settle(request, complete(own), since))
    const ignored = ignoredToken(headers.authorization)
    if (ignored !== undefined) request.orch.warnings.push(ignored)
    try {
      const token = headers['sec-websocket-protocol'] === undefined ? undefined : tokenInProtocol(request.raw)
      const credentials: HostCredentials = {
        request,
        headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
        rawHeaders,
        certificate: certificates ? certificateOf(socket, trust(), connectionOf(request.raw)) : undefined,
        annotate: (key, value) => { request.orch.annotations = { ...request.orch.annotations, [key]: value } },
        warn: text => { request.orch.warnings.push(text) }
      }
      const result = authenticate(credentials)
      if (!(result instanceof Promise)) return done(settle(request, result, since))
      result.then(user => { done(settle(request, user, since)) }, error => { done(refuse(error, since)) })
    } catch (error) {
      done(refuse(error, since))
    }
  })
}, {
  name: 'orch/authentication',
  fastify: '5.x',
  decorators: {
    fastify: ['orchClock', 'orchEgress', 'orchMetrics', 'orchResources', 'orchSettings'], request: ['orch']
  }
})

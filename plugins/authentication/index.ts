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
import type { UserInfo } from '../../schemas/meta/user-info.js'
import { StatusError, unauthorized } from '../../schemas/status.js'
import { oncePer } from '../../schemas/once-per.js'
import type { PublishedAuthentication } from '../../controllers/published-authentication.js'
import { runParts } from '../shared/lifecycle.js'
import type { Settings } from '../shared/server.js'
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
import { plugin, type Having } from '../shared/plugin.js'

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

/** An authenticator whose users may have other names. */
const external = (
  authenticator: Authenticator, ownUser: NonNullable<Settings['outside']['authenticated']>
): Authenticator => {
  const named = (user: Found): Found =>
    user === undefined ? undefined : ownUser(user, authenticator.ownExtra === true)
  return {
    name: authenticator.name,
    knowsAudiences: authenticator.knowsAudiences === true,
    authenticate: credentials => {
      const result = authenticator.authenticate(credentials)
      return result instanceof Promise ? result.then(named) : named(result)
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

type Server = Having<'orchClock' | 'orchEgress' | 'orchMetrics' | 'orchResources' | 'orchSettings'>
type Accounts = Awaited<ReturnType<typeof serviceAccounts>>

/** Service accounts and their tokens, which are kept up until the server closes. */
async function openAccounts (fastify: Server, options: AuthenticationOptions): Promise<Accounts> {
  const { orchMetrics: metrics, orchClock: { wall: now }, orchResources: resources, orchSettings } = fastify
  const { outside: { tokens: names }, featureGates: gates } = orchSettings
  const log = (message: string, error: unknown): void => { fastify.log.warn(failureFields(error), message) }
  const kept = gates.enabled('LegacyServiceAccountTokenTracking') ? new KeptTokens({ resources, now, log }) : undefined
  const accounts = await serviceAccounts({
    ...options.serviceAccounts, kept, audiences: options.audiences, names, resources, metrics, gates, now, log
  })
  fastify.addHook('onClose', async () => {
    await kept?.close()
    accounts.close()
  })
  return accounts
}

/** Asks all methods that are configured. */
async function openChain (
  fastify: Server, options: AuthenticationOptions, { authenticator: ofAccounts, tokens: { audiences } }: Accounts
): Promise<Authenticator['authenticate']> {
  const { outside: { group, authenticated: ownUser }, featureGates: gates } = fastify.orchSettings
  const authenticators = await authenticatorsOf(options, {
    gates, clock: fastify.orchClock, log: fastify.log, metrics: fastify.orchMetrics,
    tunnel: fastify.orchEgress.controlPlane, cluster: fastify.orchEgress.cluster, audiences,
    resources: fastify.orchResources, shownGroup: group, serviceAccounts: ofAccounts
  })
  runParts(fastify, 'authenticator', authenticators)
  // Tokens of service accounts say by themselves under which names they are.
  const underOwnNames = ownUser === undefined
    ? authenticators
    : authenticators.map(each => each === ofAccounts ? each : external(each, ownUser))
  const ask = chain(underOwnNames, audiences)
  return credentials => {
    const result = ask(credentials)
    return result instanceof Promise ? result.then(completeFound) : completeFound(result)
  }
}

/** Whether requests to a path may do without credentials. */
function anonymity (anonymous: NonNullable<AuthenticationOptions['anonymous']>): (path: string) => boolean {
  if (typeof anonymous === 'boolean') return () => anonymous
  return anonymous === 'health' ? path => HEALTH.test(path) : path => anonymous.includes(path)
}

/** The end of an authentication, which began at `since`. */
interface Outcomes {
  /** Gives the request its user, or makes the refusal of one that has none. */
  readonly settle: (request: ServedRequest, found: Found, since: number) => Error | undefined
  readonly refuse: (error: unknown, since: number) => Error
}

function outcomes (
  { orchMetrics: metrics }: Server, { anonymous = true, requestHeader }: AuthenticationOptions
): Outcomes {
  const attempts = countAttempts(metrics)
  const mayBeAnonymous = anonymity(anonymous)
  const isHidden = requestHeader === undefined ? undefined : isProxyHeader(requestHeader)
  return {
    settle: (request, found, since) => {
      const user = found ?? (mayBeAnonymous(request.orch.info.path) && !hasToken(request.raw) ? ANONYMOUS : undefined)
      if (user === undefined) {
        attempts.failed(since)
        return unauthorized()
      }
      attempts.succeeded(user, since)
      removeAuthorization(request.raw)
      if (isHidden !== undefined) removeHeaders(request.raw, isHidden)
      request.orch.user = user
      return undefined
    },
    refuse: (error, since) => {
      attempts.errored(since)
      return error instanceof StatusError ? error : new StatusError('Unauthorized', 'Unauthorized', { cause: error })
    }
  }
}

function credentialsOf (request: ServedRequest, certificate: Credentials['certificate']): HostCredentials {
  const { orch, raw: { headers, rawHeaders } } = request
  const token = headers['sec-websocket-protocol'] === undefined ? undefined : tokenInProtocol(request.raw)
  return {
    request,
    headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
    rawHeaders,
    certificate,
    annotate: (key, value) => { orch.annotations = { ...orch.annotations, [key]: value } },
    warn: text => { orch.warnings.push(text) }
  }
}

export default plugin<AuthenticationOptions>()(async (fastify, options) => {
  const { clientCertificates = false, clientAuthorities, requestHeader } = options
  const accounts = await openAccounts(fastify, options)
  const authenticate = await openChain(fastify, options, accounts)
  const clients = clientAuthorities === undefined ? undefined : authoritiesOf(clientAuthorities)
  const proxies = requestHeader === undefined ? undefined : authoritiesOf(requestHeader.authorities)
  const ownUsers = new OwnUsers()
  const publishesUid = fastify.orchSettings.featureGates.enabled('RemoteRequestHeaderUID')
  fastify.decorate('orchAuthentication', {
    authenticator: { name: 'chain', authenticate }, audiences: accounts.tokens.audiences, tokens: accounts.tokens,
    ownUsers, published: publication(clients, proxies, requestHeader, publishesUid)
  })
  const trust = currentTrust(clients, proxies)
  const readsCertificates = clientCertificates || requestHeader !== undefined
  const { settle, refuse } = outcomes(fastify, options)

  fastify.addHook('onRequest', (arrived, _reply, done) => {
    const request = served(arrived)
    const since = performance.now()
    const { raw } = request
    const { authorization } = raw.headers
    const own = ownUsers.find(authorization)
    if (own !== undefined && 'isLightMyRequest' in raw) return done(settle(request, complete(own), since))
    const ignored = ignoredToken(authorization)
    if (ignored !== undefined) request.orch.warnings.push(ignored)
    try {
      const certificate = readsCertificates ? certificateOf(raw.socket, trust(), connectionOf(raw)) : undefined
      const result = authenticate(credentialsOf(request, certificate))
      if (!(result instanceof Promise)) return done(settle(request, result, since))
      result.then(user => { done(settle(request, user, since)) }, error => { done(refuse(error, since)) })
    } catch (error) {
      done(refuse(error, since))
    }
  })
}, {
  name: 'orch/authentication',
  fastify: '5.x',
  dependencies: ['orch/deadline', 'orch/security-headers'],
  decorators: {
    fastify: ['orchClock', 'orchEgress', 'orchMetrics', 'orchResources', 'orchSettings'], request: ['orch']
  }
})

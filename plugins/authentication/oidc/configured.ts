/**
 * The issuers of a configuration of authentication, which may be a file that is followed: a new content replaces all of
 * them at once, if it is valid and each issuer could be reached within a minute. Otherwise the last ones stay.
 */
import type { HttpClientOptions } from '../../../clients/http-client.js'
import type { Tunnel } from '../../../clients/egress/tunnel.js'
import type { Authenticator } from '../../../auth/authenticator.js'
import type { JwtAuthenticator } from '../../../schemas/api/apiserver/authentication.js'
import { followConfiguration } from '../../shared/followed-configuration.js'
import { userOfClaims } from './mapping.js'
import { byIssuer, tokenIssuer, type OidcContext, type TokenIssuer } from './token-issuer.js'

export interface ConfiguredIssuersOptions {
  readonly issuers: readonly JwtAuthenticator[]
  /** The file that they are of. Default: they stay. */
  readonly file?: {
    readonly path: string
    /** What its content says now. @throws Error that says what is wrong */
    readonly read: () => readonly JwtAuthenticator[]
  }
  /** For tests. */
  readonly client?: Partial<HttpClientOptions>
}

export interface ConfiguredIssuersContext extends OidcContext {
  /** To the cluster. */
  readonly cluster?: Tunnel | undefined
}

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']
const REACHED_WITHIN_MS = 60_000
const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function configuredIssuers (
  { issuers, file, client }: ConfiguredIssuersOptions, context: ConfiguredIssuersContext
): Authenticator {
  const timed = latency(context.metrics)
  const make = (given: readonly JwtAuthenticator[]): ReadonlyMap<unknown, TokenIssuer> =>
    new Map(given.map(authenticator => [authenticator.issuer.url, made(authenticator, context, client)]))
  let current = make(issuers)
  let end = (): void => {}
  let closed = false

  const replace = async (): Promise<void> => {
    const next = make(file?.read() ?? [])
    try {
      await within(REACHED_WITHIN_MS, context, Promise.all([...next.values()].map(issuer => issuer.begin())))
    } catch (error) {
      await close(next)
      throw error
    }
    if (closed) return await close(next)
    const before = current
    current = next
    await close(before)
  }

  return {
    name: 'jwt',
    authenticate: credentials => {
      const asked = byIssuer(name => current.get(name))(credentials)
      return asked instanceof Promise ? timed(asked) : asked
    },
    start: async () => {
      for (const issuer of current.values()) void issuer.begin()
      if (file === undefined) return
      end = await followConfiguration(
        { path: file.path, of: 'authentication', what: 'authenticators', replace }, context
      )
    },
    close: async () => {
      closed = true
      end()
      await close(current)
    }
  }
}

async function close (issuers: ReadonlyMap<unknown, TokenIssuer>): Promise<void> {
  await Promise.all([...issuers.values()].map(issuer => issuer.close()))
}

function made (
  authenticator: JwtAuthenticator, context: ConfiguredIssuersContext, client: Partial<HttpClientOptions> | undefined
): TokenIssuer {
  const { url, discoveryURL, audiences = [], certificateAuthority = '', egressSelectorType } = authenticator.issuer
  return tokenIssuer({
    url, audiences, algorithms: ALGORITHMS, distributedClaim: authenticator.claimMappings.groups?.claim ?? '', client,
    discoveryUrl: discoveryURL === '' ? undefined : discoveryURL,
    authority: certificateAuthority === '' ? undefined : { data: certificateAuthority },
    tunnel: egressSelectorType === 'cluster'
      ? context.cluster
      : egressSelectorType === 'controlplane' ? context.tunnel : undefined,
    toUser: userOfClaims(authenticator)
  }, context)
}

/** @throws Error if the promise takes longer */
async function within (milliseconds: number, { clock }: OidcContext, promise: Promise<unknown>): Promise<void> {
  let cancel = (): void => {}
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(milliseconds, () => { reject(new Error('an issuer could not be reached within a minute')) })
  })
  try {
    await Promise.race([promise, late])
  } finally {
    cancel()
  }
}

/** Measures the authentication of a token. */
function latency (metrics: OidcContext['metrics']): <T>(asked: Promise<T>) => Promise<T> {
  const seconds = metrics.histogram(
    'apiserver_authentication_jwt_authenticator_latency_seconds', 'Seconds to authenticate a token.', SECONDS,
    ['result']
  )
  return async asked => {
    const since = performance.now()
    let result = 'failure'
    try {
      const answer = await asked
      result = 'success'
      return answer
    } finally {
      seconds.with(result).observe((performance.now() - since) / 1000)
    }
  }
}

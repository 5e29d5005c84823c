/**
 * OpenID Connect: ID tokens of issuers as bearer tokens; one issuer by flags, or those of a configuration. (Interface:
 * the service Connect.)
 */
import type { HttpClientOptions } from '../../../clients/http-client.js'
import type { Material } from '../../../clients/kubeconfig.js'
import type { Authenticator } from '../../../auth/authenticator.js'
import { userOf, type ClaimOptions } from './claims.js'
import { byIssuer, tokenIssuer, type OidcContext } from './token-issuer.js'

export interface OidcOptions extends ClaimOptions {
  /** `--oidc-issuer-url` */
  readonly issuer: string
  /** `--oidc-client-id` */
  readonly clientId: string
  /** `--oidc-signing-algs`. Default RS256. */
  readonly algorithms?: readonly string[]
  /** `--oidc-ca-file`. Default the system roots. */
  readonly authority?: Material
  /** For tests. */
  readonly client?: Partial<HttpClientOptions>
  /** Monotonic clock, milliseconds. For tests. */
  readonly now?: () => number
}

export function oidcAuthenticator (options: OidcOptions, context: OidcContext): Authenticator {
  const { issuer: url, clientId, algorithms = ['RS256'], groupsClaim = '' } = options
  const issuer = tokenIssuer({
    url, audiences: [clientId], algorithms, authority: options.authority, tunnel: context.tunnel,
    distributedClaim: groupsClaim, toUser: claims => userOf(claims, url, options), client: options.client,
    now: options.now
  }, context)
  return {
    name: 'oidc',
    authenticate: byIssuer(name => name === url ? issuer : undefined),
    start: async () => { void issuer.begin() },
    close: () => issuer.close()
  }
}

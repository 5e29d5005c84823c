/** What every method of authentication is made from, and what the host may say of each. */
import type { FastifyBaseLogger } from 'fastify'
import type { Authenticator } from '../../auth/authenticator.js'
import type { Authorities } from '../../auth/authorities.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { OrchServer } from '../server.js'
import type { OidcOptions } from './oidc/index.js'
import type { RequestHeaderOptions } from './request-header.js'
import type { ServiceAccountOptions } from './service-account/index.js'
import type { TokenWebhookOptions } from './webhook.js'

export interface AuthenticationOptions {
  /** Who brings no credentials is `system:anonymous`. Default true. */
  readonly anonymous?: boolean
  /** Audiences of this server, of which tokens must be for one, `--api-audiences`. Default the issuers of `serviceAccounts`. */
  readonly audiences?: readonly string[]
  /** Contents of the static token file (CSV), `--token-auth-file`. */
  readonly tokens?: string
  /** True when the TLS server asks for client certificates. Default false. */
  readonly clientCertificates?: boolean
  /**
   * Its `--client-ca-file` in PEM. Without it certificates whose only use is any (`anyExtendedKeyUsage`) are refused, and beside
   * `requestHeader` all are, as it cannot be told whom the TLS server believes for what.
   */
  readonly clientAuthorities?: string | Authorities
  /** A proxy that authenticates, `--requestheader-…`. */
  readonly requestHeader?: RequestHeaderOptions
  /** Tokens of service accounts, which are always accepted. */
  readonly serviceAccounts?: ServiceAccountOptions
  /** `--enable-bootstrap-token-auth`. Default false. */
  readonly bootstrapTokens?: boolean
  /** An issuer of ID tokens, `--oidc-…`. */
  readonly oidc?: OidcOptions
  /** A service that is asked about tokens, `--authentication-token-webhook-…`. */
  readonly webhook?: TokenWebhookOptions
  /** Asked before the built-in ones. */
  readonly authenticators?: readonly Authenticator[]
}

/** What a method may use of the server. */
export interface MethodContext {
  readonly log: FastifyBaseLogger
  readonly metrics: OrchServer['metrics']
  /** Of this server. */
  readonly audiences: readonly string[]
  /** Whose tokens this server issues by itself. */
  readonly serviceAccounts: Authenticator
  /** The served types, once the server is being started; not while methods are made. */
  readonly resources: () => ResourceRegistry
}

/** A method of authentication, in the table of `methods.ts`. */
export interface Method {
  readonly name: string
  /** Undefined when the options do not ask for it. Libraries and whatever else costs a start are loaded here, and not before. */
  readonly make: (options: AuthenticationOptions, context: MethodContext) => Authenticator | undefined | Promise<Authenticator | undefined>
}

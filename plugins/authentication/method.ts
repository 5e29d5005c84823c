/** Types of authentication methods, and the options for each. */
import type { Tunnel } from '../../clients/egress/tunnel.js'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { Authenticated, Authenticator, Credentials } from '../../auth/authenticator.js'
import type { Authorities } from '../../auth/authorities.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { Gates } from '../../schemas/gates.js'
import type { Clock } from '../../event-loop/clock.js'
import type { Metrics } from '../shared/metric-series.js'
import type { ConfiguredIssuersOptions } from './oidc/configured.js'
import type { OidcOptions } from './oidc/index.js'
import type { RequestHeaderOptions } from './request-header.js'
import type { ServiceAccountOptions } from './service-account/index.js'
import type { TokenWebhookOptions } from './webhook.js'

/** The credentials of a request, as an authenticator of the host sees them. */
export interface HostCredentials extends Credentials {
  /**
   * The request, which hooks of the host have seen: `request.jwtVerify()`, `request.session`. Undefined where a token
   * is reviewed that is not the request's own.
   */
  readonly request?: FastifyRequest | undefined
}

/** An authenticator of the host. */
export interface HostAuthenticator extends Omit<Authenticator, 'authenticate'> {
  readonly authenticate: (
    credentials: HostCredentials
  ) => Authenticated | undefined | Promise<Authenticated | undefined>
}

export interface AuthenticationOptions {
  /**
   * Requests without credentials are `system:anonymous`; with 'health', those of the health endpoints alone, with
   * paths, those of exactly these paths. Default true.
   */
  readonly anonymous?: boolean | 'health' | readonly string[]
  /**
   * Audiences of this server; tokens must be for one of them. `--api-audiences`. Default the issuers of
   * `serviceAccounts`.
   */
  readonly audiences?: readonly string[]
  /** Contents of the static token file (CSV), `--token-auth-file`. */
  readonly tokens?: string
  /** True if the TLS server requests client certificates. Default false. */
  readonly clientCertificates?: boolean
  /**
   * `--client-ca-file` in PEM. Without it, certificates with only `anyExtendedKeyUsage` are rejected; with
   * `requestHeader`, all are, because the purpose of each authority in the TLS server is unknown.
   */
  readonly clientAuthorities?: string | Authorities
  /** An authenticating proxy, `--requestheader-…`. */
  readonly requestHeader?: RequestHeaderOptions
  /** Service account tokens, always accepted. */
  readonly serviceAccounts?: ServiceAccountOptions
  /** `--enable-bootstrap-token-auth`. Default false. */
  readonly bootstrapTokens?: boolean
  /** An issuer of ID tokens, `--oidc-…`. */
  readonly oidc?: OidcOptions
  /** Issuers of tokens, `--authentication-config`. */
  readonly jwt?: ConfiguredIssuersOptions
  /** A webhook that reviews tokens, `--authentication-token-webhook-…`. */
  readonly webhook?: TokenWebhookOptions
  /** Called before the built-in methods. They may ask the host's own plugins about the request. */
  readonly authenticators?: readonly HostAuthenticator[]
}

/** Parts of the server that methods may use. */
export interface MethodContext {
  readonly log: FastifyBaseLogger
  readonly metrics: Metrics
  /** To servers of the control plane. Undefined for direct connections. */
  readonly tunnel: Tunnel | undefined
  /** To the cluster. */
  readonly cluster: Tunnel | undefined
  /** Audiences of this server. */
  readonly audiences: readonly string[]
  /** Authenticates tokens that this server issues. */
  readonly serviceAccounts: Authenticator
  readonly clock: Clock
  readonly gates: Pick<Gates, 'enabled'>
  /** A group, or `GROUP/VERSION`, as webhooks know it. */
  readonly shownGroup: (own: string) => string
  /** Types are added to it after the methods are created. */
  readonly resources: ResourceRegistry
}

/** An authentication method, an entry of `methods.ts`. */
export interface Method {
  readonly name: string
  /** Returns undefined if the options do not enable the method. Loads expensive libraries only when enabled. */
  readonly make: (
    options: AuthenticationOptions, context: MethodContext
  ) => Authenticator | undefined | Promise<Authenticator | undefined>
}

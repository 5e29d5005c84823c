/** What the instance decorator `fastify.orch` offers to plugins and routes. Each member is set by the plugin that owns it. */
import type { Authenticator } from '../auth/authenticator.js'
import type { Attributes, Authorizer } from '../auth/authorizer.js'
import type { ServiceAccountTokens } from '../auth/service-account-tokens.js'
import type { RequestInfo } from '../auth/request-info.js'
import type { PublishedAuthentication } from '../controllers/published-authentication.js'
import type { RbacAuthorizer } from '../auth/rbac/authorizer.js'
import type { FlowControl } from '../flow-control/flow-control.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { ServiceAllocation } from '../registry/services/allocation.js'
import type { Connections } from './connections/index.js'
import type { Health } from './health.js'
import type { Metrics } from './metric-series.js'
import type { Shutdown } from './shutdown.js'

export interface OrchServer {
  /**
   * `plugins/authentication/`: the chain of the server, in the group of all authenticated users; nobody is anonymous to it.
   * Throws a StatusError 401 for credentials that were recognised and are bad. Synchronous where its authenticators are.
   */
  authenticator: Authenticator
  /** Of this server: those that `--api-audiences` names, or the issuers of service account tokens. */
  audiences: readonly string[]
  /** What servers behind this one are to know of it; undefined where it believes no certificates. */
  publishedAuthentication: PublishedAuthentication | undefined
  /** `plugins/authentication/service-account/`: who issues tokens of service accounts, and what others may know of them. */
  serviceAccountTokens: ServiceAccountTokens
  /** `plugins/authorization/`: the chain of the server. Neither throws nor rejects: what failed is the `evaluationError`. */
  authorizer: Authorizer
  /** The authorizers in words, for reviews that ask why. */
  explain: (attributes: Attributes) => Promise<string>
  /** `plugins/metrics/index.ts` */
  metrics: Metrics
  /** `plugins/flow-control/index.ts`; undefined where plain limits hold. */
  flowControl: FlowControl | undefined
  /** `plugins/health.ts`: checks are added by whoever can fail. */
  health: Health
  /** `plugins/shutdown.ts` */
  shutdown: Shutdown
  /** `plugins/storage/index.ts`: the served resource types, each added by its route. */
  /** Where `--authorization-mode` has RBAC. */
  rbac: RbacAuthorizer | undefined
  resources: ResourceRegistry
  /** `plugins/storage/index.ts`: where services are given addresses. */
  services: ServiceAllocation | undefined
  /** `plugins/connections/`: who answers requests that lead to where pods run. */
  connections: Connections
  /** `plugins/errors.ts`: true where a path is served, if not with this method. */
  knowsPath: (info: RequestInfo) => boolean
  /** What the server is doing, as fields of log lines. Set by `app.ts`. */
  report: () => Array<Record<string, unknown>>
  /** Set by `app.ts` for the routes. */
  settings: RouteSettings
}

export interface RouteSettings {
  /** Seconds; a watch ends at a random time between one and two of it. */
  readonly minRequestTimeoutSeconds: number
  readonly deleteCollectionWorkers: number
  /** Of each long-running request; 0 is no bound. */
  readonly connectionBytesPerSecond: number
  /** `--feature-gates`. Throws for a name that is no gate. */
  readonly featureGates: { readonly enabled: (name: string) => boolean }
  /** `group/version` that are not served. */
  readonly disabledApis: ReadonlySet<string>
  readonly externalHostname: string | undefined
  /** `host:port` for discovery. */
  readonly advertiseAddress: string | undefined
}

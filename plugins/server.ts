/** The interface of `fastify.orch`. Each member is set by the plugin named in its comment. */
import type { FastifyRequest } from 'fastify'
import type { Authenticator } from '../auth/authenticator.js'
import type { Attributes, Authorizer } from '../auth/authorizer.js'
import type { ServiceAccountTokens } from '../auth/service-account-tokens.js'
import type { PublishedAuthentication } from '../controllers/published-authentication.js'
import type { StorageVersions } from '../controllers/storage-versions.js'
import type { RbacAuthorizer } from '../auth/rbac/authorizer.js'
import type { HookCaller } from '../admission/webhooks/target.js'
import type { FlowControl } from '../flow-control/flow-control.js'
import type { ResourceRegistry } from '../registry/resource-registry.js'
import type { ServiceAllocation } from '../registry/services/allocation.js'
import type { Clock } from '../event-loop/clock.js'
import type { Naming } from '../schemas/naming.js'
import type { Aggregation } from './aggregation/index.js'
import type { Connections } from './connections/index.js'
import type { EgressTunnels } from './egress.js'
import type { Health } from './health.js'
import type { Metrics } from './metric-series.js'
import type { Shutdown } from './shutdown.js'
import type { SlowRequest } from './tracing/recent.js'

export interface OrchServer {
  /**
   * `plugins/authentication/`: the authenticator chain. Never returns the anonymous user. Synchronous if its authenticators are.
   * @throws StatusError 401
   */
  authenticator: Authenticator
  /** Audiences of this server: `--api-audiences`, or the issuers of service account tokens. */
  audiences: readonly string[]
  /** Authentication settings published to aggregated servers; undefined if client certificates are disabled. */
  publishedAuthentication: PublishedAuthentication | undefined
  /** `plugins/authentication/service-account/`: issuers and public keys of service account tokens. */
  serviceAccountTokens: ServiceAccountTokens
  /** `plugins/authorization/`: the authorizer chain. Never throws or rejects; failures are in `evaluationError`. */
  authorizer: Authorizer
  /** Explains a decision in words, for access reviews. */
  explain: (attributes: Attributes) => Promise<string>
  /** `plugins/metrics/index.ts` */
  metrics: Metrics
  /** `plugins/deadline.ts`: the requests under way that are not long-running, in no order. */
  underWay: () => readonly FastifyRequest[]
  /** `plugins/tracing/index.ts`: the latest slow requests, the newest first. */
  slowRequests: () => readonly SlowRequest[]
  /** `plugins/egress.ts`: connections through proxies. */
  egress: EgressTunnels
  /** `plugins/flow-control/index.ts`; undefined if the plain limits apply. */
  flowControl: FlowControl | undefined
  /** `plugins/health.ts` */
  health: Health
  /** `plugins/shutdown.ts` */
  shutdown: Shutdown
  /** Set if `--authorization-mode` includes RBAC. */
  rbac: RbacAuthorizer | undefined
  /** `plugins/storage/index.ts`: the served resource types, each added by its route. */
  resources: ResourceRegistry
  /** `plugins/storage/index.ts`: calls conversion webhooks. */
  conversionCaller: HookCaller
  /** `plugins/storage/index.ts`: allocation of service addresses and ports. */
  services: ServiceAllocation | undefined
  /** `plugins/controllers/`: publishes the storage versions; undefined without the feature gate. */
  storageVersions: StorageVersions | undefined
  /** `plugins/connections/`: handles requests to pods, services and nodes. */
  connections: Connections
  /** `plugins/aggregation/`: group versions that other servers serve. */
  aggregation: Aggregation
  /** Returns the server's state as fields of log lines. Set by `app.ts`. */
  report: () => Array<Record<string, unknown>>
  /** The time that clients see. Set by `app.ts`. */
  clock: Clock
  /** Set by `app.ts` for the routes. */
  settings: RouteSettings
}

export interface RouteSettings {
  /** Seconds; a watch ends at a random time between one and two times this. */
  readonly minRequestTimeoutSeconds: number
  readonly deleteCollectionWorkers: number
  /** Limit per long-running request; 0 means unlimited. */
  readonly connectionBytesPerSecond: number
  /** `--feature-gates`. Throws for an unknown gate. */
  readonly featureGates: { readonly enabled: (name: string) => boolean }
  /** `group/version` pairs that are disabled. */
  readonly disabledApis: ReadonlySet<string>
  readonly externalHostname: string | undefined
  /** `host:port` for discovery. */
  readonly advertiseAddress: string | undefined
  /** Of webhooks, extension servers and node agents, `--compat-names`. */
  readonly naming: Naming
}

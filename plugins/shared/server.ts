/**
 * What plugins decorate the server with. Each member names the plugin that provides it; the plugins that use it
 * declare that (`plugin.ts`), so that a wrong order fails at boot; until then it is undefined.
 */
import type { FastifyInstance } from 'fastify'
import type { RequestContext, ServedRequest } from '../../answers/request-context.js'
import type { Authenticator } from '../../auth/authenticator.js'
import type { Attributes, Authorizer } from '../../auth/authorizer.js'
import type { ServiceAccountTokens } from '../../auth/service-account-tokens.js'
import type { PublishedAuthentication } from '../../controllers/published-authentication.js'
import type { StorageVersions } from '../../controllers/storage-versions.js'
import type { RbacAuthorizer } from '../../auth/rbac/authorizer.js'
import type { HookCaller } from '../../admission/webhooks/target.js'
import type { FlowControl } from '../../flow-control/flow-control.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import type { ServiceAllocation } from '../../registry/services/allocation.js'
import type { UserInfo } from '../../schemas/meta/user-info.js'
import type { Clock } from '../../event-loop/clock.js'
import type { Release } from '../../schemas/meta/release.js'
import type { StatusError } from '../../schemas/status.js'
import type { Aggregation } from '../aggregation/index.js'
import type { Connections } from '../connections/index.js'
import type { EgressTunnels } from '../egress.js'
import type { Health } from '../health.js'
import type { Metrics } from './metric-series.js'
import type { Outside } from './outside.js'
import type { Shutdown } from '../shutdown.js'
import type { Standalone } from '../standalone.js'
import type { Backends } from '../storage/options.js'
import type { SlowRequest } from '../tracing/recent.js'

export interface OrchDecorators {
  /** `app.ts`: the time that clients see. */
  orchClock: Clock
  /** `app.ts` */
  orchSettings: Settings
  /** `metrics/` */
  orchMetrics: Metrics
  /** `tracing/`: the latest slow requests, the newest first. */
  orchSlowRequests: () => readonly SlowRequest[]
  /** `egress.ts`: connections through proxies. */
  orchEgress: EgressTunnels
  /** `shutdown.ts` */
  orchShutdown: Shutdown
  /** `health.ts` */
  orchHealth: Health
  /** `storage/`: the back ends. */
  orchBackends: Backends
  /** `registry/`: the served resource types. */
  orchResources: ResourceRegistry
  /** `registry/`: allocation of service addresses and ports. */
  orchServices: ServiceAllocation | undefined
  /** `registry/`: the server's state as fields of log lines. */
  orchReport: () => Array<Record<string, unknown>>
  /** `deadline.ts`: the requests under way that are not long-running, in no order. */
  orchUnderWay: () => readonly ServedRequest[]
  /** `authentication/` */
  orchAuthentication: Authentication
  /** `flow-control/`; missing if the plain limits apply. */
  orchFlowControl?: FlowControl
  /**
   * `audit/`: records a request from now until it is closed; undefined without audit. Says why it may not be served:
   * its event had to be written and was not. Never rejects.
   */
  orchAudit: ((request: AuditedRequest) => StatusError | undefined | Promise<StatusError | undefined>) | undefined
  /** `authorization/` */
  orchAuthorization: Authorization
  /** `admission/`: calls conversion webhooks. */
  orchConversionCaller: HookCaller
  /** `standalone.ts`: undefined where the server is one of a cluster. */
  orchStandalone: Standalone | undefined
  /** `aggregation/`: group versions that other servers serve. */
  orchAggregation: Aggregation
  /** `controllers/`: publishes the storage versions; undefined without the feature gate. */
  orchStorageVersions: StorageVersions | undefined
  /** `connections/`: handles requests to pods, services and nodes. */
  orchConnections: Connections
}

export interface Authentication {
  /**
   * The authenticator chain. Never returns the anonymous user. Synchronous if its authenticators are. @throws
   * StatusError 401
   */
  readonly authenticator: Authenticator
  /** Audiences of this server: `--api-audiences`, or the issuers of service account tokens. */
  readonly audiences: readonly string[]
  /** Settings published to aggregated servers; undefined if client certificates are disabled. */
  readonly published: PublishedAuthentication | undefined
  /** Issuers and public keys of service account tokens. */
  readonly tokens: ServiceAccountTokens
  /** Users as whom this server asks itself. */
  readonly ownUsers: { readonly add: (user: UserInfo) => string }
}

export interface Authorization {
  /** The authorizer chain. Never throws or rejects; failures are in `evaluationError`. */
  readonly authorizer: Authorizer
  /**
   * Why a request may not be served, undefined if it may; the decision becomes an annotation of it. Synchronous if the
   * chain is, and never rejects.
   */
  readonly refusalOf: (context: RequestContext) => StatusError | undefined | Promise<StatusError | undefined>
  /** Explains a decision in words, for access reviews. */
  readonly explain: (attributes: Attributes) => Promise<string>
  /** Set if `--authorization-mode` includes RBAC. */
  readonly rbac: RbacAuthorizer | undefined
}

/** A request as its audit events need it. */
export interface AuditedRequest {
  readonly orch: RequestContext
  /** Read at once, if it is recorded: the connection may be closed by the time of the last event. */
  readonly sender: () => {
    /** The path, with the query. */
    readonly url: string
    readonly sourceIPs: readonly string[]
    readonly userAgent: string | undefined
  }
  /** The code of its answer, which has begun or not. */
  readonly answered: () => { readonly code: number, readonly isBegun: boolean }
}

export interface Settings {
  /** Seconds; a watch ends at a random time between one and two times this. */
  readonly minRequestTimeoutSeconds: number
  readonly deleteCollectionWorkers: number
  /** Limit per long-running request; 0 means unlimited. */
  readonly connectionBytesPerSecond: number
  /** `--feature-gates`. Throws for an unknown gate. */
  readonly featureGates: {
    readonly enabled: (name: string) => boolean
    readonly knows: (name: string) => boolean
    readonly release: Release
  }
  /** `--min-compatibility-version`: the oldest release that can read what the server stores. */
  readonly reader: string
  /** Of the command line, for `/flagz`; undefined if a host has none. */
  readonly flags: Readonly<Record<string, string>> | undefined
  /** Served paths of the server's state. */
  readonly statePaths: readonly string[]
  /** `group/version` pairs that are disabled. */
  readonly disabledApis: ReadonlySet<string>
  /** Versions and resources (`apps/v1/daemonsets`) that are served although the emulated release lacks them. */
  readonly laterApis: ReadonlySet<string>
  readonly externalHostname: string | undefined
  /** `host:port` for discovery. */
  readonly advertiseAddress: string | undefined
  /** `--compat-names` */
  readonly outside: Outside
}

/** Looks up what a later plugin decorates: undefined until it has, so while the server starts. */
export const later = <Name extends keyof OrchDecorators>(fastify: FastifyInstance, name: Name) =>
  (): Partial<OrchDecorators>[Name] => fastify[name]

declare module 'fastify' {
  interface FastifyInstance extends Partial<OrchDecorators> {}
}

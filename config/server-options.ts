/**
 * Options of `app.ts`, from a host or from the flags (`options.ts`), grouped by plugin. Times are in milliseconds
 * unless noted. The defaults suit tests: in-memory store, anonymous access, AlwaysAllow, no audit.
 */
import type { AuditOptions } from '../plugins/audit/index.js'
import type { AuthenticationOptions } from '../plugins/authentication/index.js'
import type { AuthorizationOptions } from '../plugins/authorization/index.js'
import type { ConnectionOptions } from '../plugins/connections/index.js'
import type { EgressOptions } from '../plugins/egress.js'
import type { HealthOptions } from '../plugins/health.js'
import type { MetricsOptions } from '../plugins/metrics/index.js'
import type { ProfilingOptions } from '../plugins/profiling/index.js'
import type { RequestLogOptions } from '../plugins/request-log.js'
import type { SecurityHeadersOptions } from '../plugins/security-headers.js'
import type { ShutdownOptions } from '../plugins/shutdown.js'
import type { OutboundOptions } from '../plugins/admission/outbound.js'
import type { WatchCacheOptions } from '../plugins/registry/index.js'
import type { StorageOptions } from '../plugins/storage/index.js'
import type { TracingOptions } from '../plugins/tracing/index.js'
import type { IdentitySettings } from '../controllers/identity-lease.js'
import type { Leadership } from '../controllers/leadership.js'
import type { StallGuard } from '../plugins/stalled-requests.js'
import type { OwnServiceSettings } from '../controllers/services/own-service.js'
import type { RootCA } from '../controllers/root-ca.js'
import type { ServiceRanges } from '../registry/services/allocation.js'
import type { AdmissionOptions } from '../admission/options.js'
import type { Release } from '../schemas/meta/release.js'
import type { Clock } from '../event-loop/clock.js'

/** Limits on clients, enforced by several plugins and the verbs. */
export interface LimitOptions {
  /** `--request-timeout`. 0 disables it. Default one minute. */
  readonly requestTimeout?: number
  /** Seconds; watches end at a random time between one and two times this. Default 1800. */
  readonly minRequestTimeoutSeconds?: number
  /**
   * `--enable-priority-and-fairness`: priority levels share the sum of the two limits below, which must not both be 0.
   * Needs the feature gate APIPriorityAndFairness. Default false, because it stores configuration objects.
   */
  readonly priorityAndFairness?: boolean
  /** Concurrent reads; 0 means unlimited. Default 400. */
  readonly maxRequestsInflight?: number
  /** Concurrent mutations; 0 means unlimited. Default 200. */
  readonly maxMutatingRequestsInflight?: number
  /** Total bytes of concurrent request bodies; several times the largest body, 3 MiB. Default 256 MiB. */
  readonly maxBodyBytesInflight?: number
  /** Concurrent deletes of a deletecollection. Default 1. */
  readonly deleteCollectionWorkers?: number
  /**
   * Bytes per second and direction of a watch, log or tunnel, `--max-connection-bytes-per-sec`; 0 means unlimited.
   * Default 0.
   */
  readonly connectionBytesPerSecond?: number
}

/** Served APIs and public addresses. */
export interface ApiOptions {
  /**
   * Disabled versions (`apps/v1`, `v1` for the core group) and resources (`apps/v1/daemonsets`). Default the alpha
   * versions.
   */
  readonly disabled?: readonly string[]
  /**
   * Versions and resources of later releases than the emulated one that are served all the same, where they are not
   * disabled; `--emulation-forward-compatible`. Default none.
   */
  readonly later?: readonly string[]
  /** Host name in generated URLs. */
  readonly externalHostname?: string
  /** `host:port` or host for discovery. */
  readonly advertiseAddress?: string
  /** Shows the routes in documents that a host makes of its own, as @fastify/swagger does. Default false. */
  readonly inDocuments?: boolean
}

export interface ServerOptions {
  /** Default in memory. */
  storage?: StorageOptions
  watchCache?: WatchCacheOptions
  authentication?: AuthenticationOptions
  authorization?: AuthorizationOptions
  admission?: AdmissionOptions
  /** Default no audit. */
  audit?: AuditOptions
  /** Allows privileged containers. Default true; the flag's default is false. */
  allowPrivileged?: boolean
  /** Proxies by destination. Default direct connections. */
  egress?: EgressOptions
  /** Calls to webhooks. */
  outbound?: OutboundOptions
  limits?: LimitOptions
  /** CA bundle that pods verify the server with, published in each namespace. Default none. */
  rootCA?: RootCA
  /** Ranges of cluster IPs and node ports. Default none: services get no addresses. */
  services?: ServiceRanges
  /** The `orch` service, which leads to the cluster's servers. Needs `services`. Default none. */
  orchService?: OwnServiceSettings
  /**
   * `--garbage-collection`: deletes objects whose owners are gone, and ends deletions that wait for dependents. Default
   * false: a controller manager does it. Needs `storage.garbageCollection`. Its requests to the server itself pass the
   * hooks of the host too, as a service account with a token that only this server knows.
   */
  collectGarbage?: boolean
  /**
   * The server is meant to be alone, as with `--local`: until it sees a controller manager, it says so to clients that
   * create what one would act on. Default false.
   */
  standalone?: boolean
  /** The identity lease of this server, with the feature gate APIServerIdentity. */
  identityLease?: IdentitySettings
  /** Among several processes that are one server. Default this process alone. */
  leadership?: Leadership
  /** Knows requests with which a process of this server hung. Default none. */
  stallGuard?: StallGuard
  /** Connections to node agents, and proxy destinations. */
  connections?: ConnectionOptions
  /** Serves profiles at `/debug/pprof/`, and `/debug/flags/v` with `setVerbosity`. Default off. */
  profiling?: Pick<ProfilingOptions, 'contention' | 'setVerbosity' | 'socket'>
  /** Exports spans of requests. Default off. */
  tracing?: TracingOptions
  /** Logs requests, by `-v`. Default off. */
  requestLog?: RequestLogOptions
  /** Shown by `/flagz`, without secrets: values by name. Default none: `/flagz` is not served. */
  flags?: Readonly<Record<string, string>>
  securityHeaders?: SecurityHeadersOptions
  api?: ApiOptions
  /**
   * `--compat-names`: clients that use the public project's names are served too, and options that name groups may have
   * them. Default false.
   */
  compatNames?: boolean
  health?: Pick<HealthOptions, 'livezGracePeriod'>
  shutdown?: Pick<ShutdownOptions, 'delay' | 'sendRetryAfter' | 'watchGrace'>
  /** `/metrics` and its polling intervals. */
  metrics?: MetricsOptions
  /**
   * The time that clients see: timestamps, lifetimes of objects and tokens, timeouts, bookmarks. Default the system's.
   */
  clock?: Clock
  /** `--emulated-version`. Default 1.24, the interface's release; with `compatNames` 1.36. */
  emulatedVersion?: Release
  /**
   * `--min-compatibility-version`, the oldest release that has to read what the server stores. Default the one before
   * the emulated one, or itself if that is 1.24.
   */
  minCompatibilityVersion?: string
  /** `--feature-gates`: overrides of defaults by name. */
  featureGates?: Readonly<Record<string, boolean>>
}

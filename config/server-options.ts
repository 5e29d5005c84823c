/**
 * What a host hands to `app.ts` when it embeds the server, and what `options.ts` makes of the flags: by concern, each in the
 * words of the plugin that takes care of it. Times are in milliseconds unless a name says otherwise. Everything has a
 * default that suits a test: in memory, anonymous allowed, AlwaysAllow, no audit.
 */
import type { AuditOptions } from '../plugins/audit/index.js'
import type { AuthenticationOptions } from '../plugins/authentication/index.js'
import type { AuthorizationOptions } from '../plugins/authorization/index.js'
import type { ConnectionOptions } from '../plugins/connections/index.js'
import type { HealthOptions } from '../plugins/health.js'
import type { MetricsOptions } from '../plugins/metrics/index.js'
import type { ProfilingOptions } from '../plugins/profiling/index.js'
import type { RequestLogOptions } from '../plugins/request-log.js'
import type { SecurityHeadersOptions } from '../plugins/security-headers.js'
import type { ShutdownOptions } from '../plugins/shutdown.js'
import type { StorageOptions, WatchCacheOptions } from '../plugins/storage/index.js'
import type { OutboundOptions } from '../plugins/storage/outbound.js'
import type { TracingOptions } from '../plugins/tracing/index.js'
import type { IdentitySettings } from '../controllers/identity-lease.js'
import type { OwnServiceSettings } from '../controllers/services/own-service.js'
import type { RootCA } from '../controllers/root-ca.js'
import type { ServiceRanges } from '../registry/services/allocation.js'
import type { AdmissionOptions } from '../admission/options.js'

/** What one client may take of what all share: several plugins see to it, and the verbs. */
export interface LimitOptions {
  /** `--request-timeout`. 0 never. Default one minute. */
  readonly requestTimeout?: number
  /** Seconds; watches end at a random time between one and two of it. Default 1800. */
  readonly minRequestTimeoutSeconds?: number
  /**
   * `--enable-priority-and-fairness`: levels and flow schemas decide which requests are served at a time, and the two limits
   * below are summed, and not both 0. Needs the feature gate APIPriorityAndFairness. Default false: what is stored beside it is a cluster's.
   */
  readonly priorityAndFairness?: boolean
  /** Reading requests at a time; 0 is no limit. Default 400. */
  readonly maxRequestsInflight?: number
  /** Changing requests at a time; 0 is no limit. Default 200. */
  readonly maxMutatingRequestsInflight?: number
  /** Bytes of request bodies held at a time, over all requests; several times the largest body, 3 MiB. Default 256 MiB. */
  readonly maxBodyBytesInflight?: number
  /** Objects that a deletion of a collection deletes at a time. Default 1. */
  readonly deleteCollectionWorkers?: number
  /** Bytes a second that a watch, a log or a tunnel may move, in each direction, `--max-connection-bytes-per-sec`; 0 is no limit. Default 0. */
  readonly connectionBytesPerSecond?: number
}

/** Which API there is, and where. */
export interface ApiOptions {
  /** Built-in versions that are not served (`apps/v1`, `v1` for the core group), and single resources of others (`apps/v1/daemonsets`). Default those in alpha. */
  readonly disabled?: readonly string[]
  /** For URLs that the server makes. */
  readonly externalHostname?: string
  /** `host:port` or host others reach the server at, for discovery. */
  readonly advertiseAddress?: string
}

export interface ServerOptions {
  /** Default in memory. */
  storage?: StorageOptions
  watchCache?: WatchCacheOptions
  authentication?: AuthenticationOptions
  authorization?: AuthorizationOptions
  admission?: AdmissionOptions
  /** Without it nothing is written down. */
  audit?: AuditOptions
  /** Whether pods may have privileged containers. Default true; of the flag, false. */
  allowPrivileged?: boolean
  /** How webhooks are called. */
  outbound?: OutboundOptions
  limits?: LimitOptions
  /** What pods verify the server with, published in each namespace. Default nothing is. */
  rootCA?: RootCA
  /** Where services get their cluster addresses and node ports. Default they get none: a host has no cluster to speak of. */
  services?: ServiceRanges
  /** The service `orch`, which leads to the servers of the cluster. Needs `services`. Default there is none. */
  orchService?: OwnServiceSettings
  /** Of the lease that each server has with the feature gate APIServerIdentity. */
  identityLease?: IdentitySettings
  /** How node agents are called, for logs and commands in pods, and where requests may be proxied to. */
  connections?: ConnectionOptions
  /** Serves profiles of the process at `/debug/pprof/`. Default there are none. */
  profiling?: Pick<ProfilingOptions, 'contention'>
  /** Where spans of requests are sent. Default nowhere. */
  tracing?: TracingOptions
  /** Logs a line for each request, by `-v`. Default the host logs as it likes. */
  requestLog?: RequestLogOptions
  securityHeaders?: SecurityHeadersOptions
  api?: ApiOptions
  health?: Pick<HealthOptions, 'livezGracePeriod'>
  shutdown?: Pick<ShutdownOptions, 'delay' | 'sendRetryAfter'>
  /** What `/metrics` shows and how often the store is asked. */
  metrics?: MetricsOptions
  /** `--feature-gates`: features that are on or off against their default, by name. */
  featureGates?: Readonly<Record<string, boolean>>
}

/**
 * What a host hands to `app.ts` when it embeds the server, and what `cli.ts` makes of the flags. Times
 * are in milliseconds unless a name says otherwise. Everything has a default that suits a test:
 * in memory, anonymous allowed, AlwaysAllow, no audit.
 */
import type { MetricsOptions } from '../plugins/metrics.js'
import type { Authenticator, Authorizer } from '../schemas/request.js'
import type { AdmissionPlugin } from '../storage/admission.js'
import type { StorageMediaType } from '../storage/resource-store.js'

export type StorageOptions = {
  /** Within it the store has to answer a health check, `--etcd-healthcheck-timeout`. Default 2 seconds. */
  healthcheckTimeout?: number
} & (
  | { kind: 'memory' }
  | { kind: 'embedded', directory: string }
  | {
    kind: 'etcd'
    servers: string[]
    /** PEM contents. */
    ca?: string,
    certificate?: string,
    key?: string
    /** `group/resource` to servers. */
    overrides?: Record<string, string[]>
  })

export interface AuditOptions {
  /** A file, or `-` for standard out. */
  path: string
  format?: 'json' | 'legacy'
  /** With `blocking-strict` a request whose event cannot be written is refused. Default blocking. */
  mode?: 'blocking' | 'blocking-strict'
  maxAgeDays?: number
  maxBackups?: number
  maxSizeMegabytes?: number
  compress?: boolean
}

export interface ServerOptions {
  storage?: StorageOptions
  /** Key prefix in the store, `--etcd-prefix`. Default `/registry`. */
  storePrefix?: string
  /** `--storage-media-type`. Default `application/vnd.orch.protobuf`. */
  storageMediaType?: StorageMediaType
  /** 0 never compacts. Default 5 minutes. */
  compactionInterval?: number
  /** What `/metrics` shows and how often the store is asked. */
  metrics?: MetricsOptions
  /** Built-in group versions that are not served, `v1` for the core group. */
  disabledGroupVersions?: string[]
  /**
   * Events kept per resource for watches before the back end is asked, at least; no fewer than 2,000 are. Default 100.
   * With 0 nothing of a resource is kept in memory: the back end answers everything.
   */
  watchCacheSize?: number
  /** The same for single resources, by `group/plural`, `/configmaps` for one of the core group. */
  watchCacheSizes?: Record<string, number>

  anonymous?: boolean
  /** Contents of --token-auth-file (CSV). */
  tokens?: string
  /** True when the TLS server was given --client-ca-file. */
  clientCertificates?: boolean
  /** Asked before the built-in ones. */
  authenticators?: Authenticator[]
  /** `--authorization-mode`. Default AlwaysAllow. */
  authorizationModes?: Array<'AlwaysAllow' | 'AlwaysDeny'>
  /** Asked before the modes. */
  authorizers?: Authorizer[]
  /** Names of built-in admission plugins that are off. */
  disabledAdmission?: string[]
  /** Run after the built-in ones, in order. */
  admission?: AdmissionPlugin[]

  audit?: AuditOptions
  corsAllowedOrigins?: string[]
  strictTransportSecurity?: string[]
  externalHostname?: string
  /** `host:port` or host others reach the server at, for discovery. */
  advertiseAddress?: string

  requestTimeout?: number
  /** Seconds; watches end at a random time between one and two of it. Default 1800. */
  minRequestTimeoutSeconds?: number
  maxRequestsInflight?: number
  maxMutatingRequestsInflight?: number
  deleteCollectionWorkers?: number
  livezGracePeriod?: number
  shutdownDelay?: number
  shutdownSendRetryAfter?: boolean
}

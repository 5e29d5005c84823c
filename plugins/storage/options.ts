/** What a host says about its stores, and what other plugins get of them. */
import type { PUBLIC_PROTOBUF_TYPE } from '../../schemas/public-names.js'
import type { EncryptionOptions } from '../../schemas/api/apiserver/encryption.js'
import type { Backend } from '../../storage/backend.js'
import type { BackendOptions } from '../../storage/open.js'
import type { StorageMediaType } from '../../registry/stored-form.js'

export const DEFAULT_PREFIX = '/registry'

/** A back end with its options (default memory), or the host's own `Backend`. */
export type StorageOptions = (BackendOptions | Backend) & {
  /** Prefix of all keys, `--etcd-prefix`. Default `/registry`. */
  readonly prefix?: string
  /** `--storage-media-type`; the public name needs `compatNames`. Default `application/vnd.orch.protobuf`. */
  readonly mediaType?: StorageMediaType | typeof PUBLIC_PROTOBUF_TYPE
  /** Milliseconds; 0 disables compaction. Default 5 minutes. */
  readonly compactionInterval?: number
  /** Maximum milliseconds for a health check of the store, `--etcd-healthcheck-timeout`. Default 2,000. */
  readonly healthcheckTimeout?: number
  /** Maximum milliseconds for the check `etcd-readiness`, `--etcd-readycheck-timeout`. Default 2,000. */
  readonly readycheckTimeout?: number
  /** Lifetime of Events in milliseconds, `--event-ttl`. Default one hour. */
  readonly eventTtl?: number
  /**
   * Seconds during which new Events share a lease. They outlive their TTL by at most this, and by at most a twentieth
   * of it. Default 60.
   */
  readonly leaseReuseSeconds?: number
  /** True if a garbage collector deletes dependents of deleted objects, `--enable-garbage-collector`. Default true. */
  readonly garbageCollection?: boolean
  /** Encryption at rest, `--encryption-provider-config`. Default none. */
  readonly encryption?: EncryptionOptions
  /** The file of `encryption`, to follow it; `--encryption-provider-config-automatic-reload`. Default it stays. */
  readonly encryptionFile?: {
    readonly path: string
    /** What its content says now. Rejects with an Error that says what is wrong. */
    readonly read: () => Promise<EncryptionOptions>
  }
}

/** The back ends of a server. */
export interface Backends {
  /** Prefix of all keys. */
  readonly prefix: string
  /** The back end of a resource. */
  readonly of: (group: string, plural: string) => Backend
  /** The same without encryption, for what is no object. */
  readonly unencrypted: (group: string, plural: string) => Backend
}

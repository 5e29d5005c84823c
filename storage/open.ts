/**
 * Opens a back end from plain options. Each is imported when it is asked for, so that a start pays for
 * the one it uses.
 */
import type { Backend } from './backend.js'

export type BackendOptions =
  | { readonly kind: 'memory' }
  | {
    readonly kind: 'embedded'
    /** Made when it does not exist; one process at a time. */
    readonly directory: string
  }
  | {
    readonly kind: 'etcd'
    /** `scheme://host:port`, all of one cluster. */
    readonly servers: readonly string[]
    /** PEM texts, not file names. */
    readonly ca?: string | Uint8Array
    readonly certificate?: string | Uint8Array
    readonly key?: string | Uint8Array
    /** Milliseconds `status()` may take; 2,000 by default. */
    readonly healthcheckTimeout?: number
  }

/**
 * A back end ready for use. Memory is ready at once; the embedded store when its directory is locked and
 * loaded; etcd without waiting for the servers to answer (ask `status()`).
 * @throws StorageError 'Unavailable' when the directory is in use, not usable or not ours
 */
export async function openBackend (options: BackendOptions): Promise<Backend> {
  switch (options.kind) {
    case 'memory': return (await import('./embedded/memory.js')).openMemory()
    case 'embedded': return await (await import('./embedded/lmdb.js')).openEmbedded(options.directory)
    case 'etcd': return (await import('./etcd/backend.js')).openEtcd(options)
  }
}

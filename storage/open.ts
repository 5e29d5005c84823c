/**
 * Opens a back end from plain options. Each is imported when it is asked for, so that a start pays for
 * the one it uses.
 */
import type { Backend } from './backend.js'

export type BackendOptions =
  | { readonly kind?: 'memory' }
  | {
    readonly kind: 'embedded'
    /** Made when it does not exist; one process at a time. */
    readonly directory: string
    /** Bytes of its disk that stay free: values are refused below. 64 MiB by default. */
    readonly minFree?: number
    /** Told what an operator should know of the opening. */
    readonly note?: (text: string) => void
  }
  | {
    readonly kind: 'etcd'
    /** `scheme://host:port`, all of one cluster. */
    readonly servers: readonly string[]
    /** The path that all keys are below, '' by default: what is watched, and what the user of the store needs rights on. */
    readonly prefix?: string
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
  if (options.kind === 'embedded') return await (await import('./embedded/lmdb.js')).openEmbedded(options.directory, options)
  if (options.kind === 'etcd') return (await import('./etcd/backend.js')).openEtcd(options)
  return (await import('./embedded/memory.js')).openMemory()
}

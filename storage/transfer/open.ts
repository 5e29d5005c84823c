/** Opens whole stores, of either kind, for commands; servers use `storage/open.ts`. Each kind is imported on demand. */
import type { ConnectionOptions } from '../etcd/connection.js'
import type { Compacted, StoreReader, StoreWriter } from './stores.js'

export type WholeStore =
  | {
    readonly kind: 'embedded'
    readonly directory: string
    /** Bytes of its disk that stay free; 64 MiB by default. */
    readonly minFree?: number | undefined
  }
  | ConnectionOptions & {
    readonly kind: 'etcd'
    /** The path above all keys. */
    readonly prefix: string
  }

/**
 * The newest state of a store.
 * @param exclusive whether the store must have no server meanwhile
 * @throws StorageError
 */
export async function openReader (store: WholeStore, exclusive: boolean): Promise<StoreReader> {
  if (store.kind === 'embedded') {
    return await (await import('../embedded/store-reader.js')).embeddedReader(store.directory, exclusive)
  }
  return await (await import('../etcd/store-reader.js')).etcdReader(store, exclusive)
}

/** Opens an empty store to fill it. @param reader of the store or snapshot to copy @throws StorageError */
export async function openWriter (store: WholeStore, reader: StoreReader): Promise<StoreWriter> {
  if (store.kind === 'embedded') {
    return await (await import('../embedded/new-store.js'))
      .newEmbeddedStore(store.directory, reader, { minFree: store.minFree })
  }
  return await (await import('../etcd/new-store.js')).newEtcdStore(reader, store)
}

/**
 * Compacts the history of a store and returns its free space to the disk. No server may use an embedded store
 * meanwhile.
 * @param compacted called for each file
 * @param copied called while an embedded store is copied
 * @throws StorageError
 */
export async function compactStore (
  store: WholeStore, compacted: (file: Compacted) => void, copied: (records: number, bytes: number) => void
): Promise<void> {
  if (store.kind ===
    'embedded') {
    compacted({
      place: store.directory,
      ...await (await import('../embedded/shrink.js')).shrink(store.directory, store.minFree, copied)
    })
  } else await (await import('../etcd/defragment.js')).defragment(store, compacted)
}

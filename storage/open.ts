/**
 * Opens back ends from plain options; the only code outside them that knows their kinds. Each kind is imported on
 * demand, to keep the start fast.
 */
import type { Backend } from './backend.js'
import type { Clock } from '../event-loop/clock.js'
import type { DirectoryLock } from './embedded/lock.js'
import type { Contents } from './embedded/medium.js'
import type { MemoryStore } from './embedded/memory.js'
import type { StorageError } from './errors.js'
import type { EtcdOptions } from './etcd/backend.js'

export type BackendOptions =
  | { readonly kind?: 'memory' }
  | {
    readonly kind: 'embedded'
    /** Created if missing; one process at a time. */
    readonly directory: string
    /** Bytes of its disk that stay free: below, values are refused. 64 MiB by default. */
    readonly minFree?: number
    /** How much history is kept: milliseconds, or bytes of changes. Default one to two compaction intervals. */
    readonly historyRetention?: { readonly milliseconds: number } | { readonly bytes: number }
    /** Receives notes for the operator about the opening and the format. Default ignored. */
    readonly note?: (text: string) => void
  }
  | {
    /** The embedded store of a directory that another process of the same server has opened. */
    readonly kind: 'shared'
    readonly directory: string
  }
  | {
    readonly kind: 'etcd'
    /** `scheme://host:port`, all of one cluster. */
    readonly servers: readonly string[]
    /** `group/resource` to the servers of the cluster that stores it, `--etcd-servers-overrides`. */
    readonly overrides?: Readonly<Record<string, readonly string[]>>
    /** The path above all keys, '' by default: the range that is watched and that needs permissions. */
    readonly prefix?: string
    /** PEM texts, not file names. */
    readonly ca?: string | Uint8Array
    readonly certificate?: string | Uint8Array
    readonly key?: string | Uint8Array
    /**
     * Resolves to the current client certificate, for each new connection. While it rejects, the last one stays.
     * Default that of `certificate` and `key`.
     */
    readonly renewedPair?: () => Promise<{
      readonly certificate: string | Uint8Array, readonly key: string | Uint8Array
    }>
    /** Receives notes for the operator about the client certificate. Default ignored. */
    readonly note?: (text: string, level?: 'info' | 'warn') => void
    /** Paths of Unix domain sockets that lead to servers, by server. Others are connected to directly. */
    readonly sockets?: Readonly<Record<string, string>>
    /** Timeout of `status()` in milliseconds; 2,000 by default. */
    readonly healthcheckTimeout?: number
    /**
     * Called once, as soon as etcd answers, if the store's format is newer than this release can read. All calls then
     * fail, and so does a server's start in progress. Default: the log says so.
     */
    readonly refused?: (error: Error) => void
  }

/**
 * Opens a back end. Memory is ready at once; the embedded store once its directory is locked and loaded; etcd before
 * its servers have responded (see `status()`).
 * @throws StorageError 'Unavailable' if the directory is in use, unusable or foreign
 */
export async function openBackend (options: BackendOptions): Promise<Backend> {
  const open = OPENERS[options.kind ?? 'memory'] as (options: BackendOptions) => Promise<Backend> // of the same kind
  return await open(options)
}

/**
 * Opens the embedded store of a directory for all processes of a server, which open it as `shared`.
 * @param options `lock` is that of the directory, if another process of the server holds it
 * @param failed the process can acknowledge no more writes and must end
 * @throws StorageError as `openBackend`
 */
export async function serveEmbedded (
  options: Extract<BackendOptions, { readonly kind: 'embedded' }> & { readonly lock?: DirectoryLock },
  failed: (error: unknown) => void
): Promise<{ readonly close: () => Promise<void> }> {
  const backend = await OPENERS.embedded(options)
  try {
    const { serveStore } = await import('./shared/server.js')
    const server = await serveStore(backend, options.directory, failed)
    return {
      close: async () => {
        await server.close()
        await backend.close()
      }
    }
  } catch (error) {
    await backend.close()
    throw error
  }
}

/**
 * Holds the directory of an embedded store, however often the process that opens it is replaced.
 * @returns the handle to send to that process
 * @throws StorageError as `openBackend`
 */
export async function holdDirectory (directory: string): Promise<DirectoryLock['handle']> {
  return (await (await import('./embedded/lmdb.js')).lockFolder(directory)).handle
}

/** The lock whose handle another process sent. */
export async function heldDirectory (handle: DirectoryLock['handle']): Promise<DirectoryLock> {
  return (await import('./embedded/lock.js')).receivedLock(handle)
}

export type { Contents, MemoryStore }

/** @param contents to continue from; default an empty store */
export async function openMemoryStore (clock: Clock, contents?: Contents): Promise<MemoryStore> {
  const { openMemory, continueInMemory } = await import('./embedded/memory.js')
  return contents === undefined ? openMemory({ clock }) : await continueInMemory(contents, { clock })
}

type BackEndKind = NonNullable<BackendOptions['kind']>

const OPENERS: { readonly [K in BackEndKind]: (
  options: Extract<BackendOptions, { readonly kind?: K }>
) => Promise<Backend> } = {
  memory: async (options: { readonly kind?: 'memory', readonly clock?: Clock }) =>
    (await import('./embedded/memory.js')).openMemory(options),
  embedded: async options => await (await import('./embedded/lmdb.js')).openEmbedded(options.directory, options),
  shared: async ({ directory }) => await (await import('./shared/backend.js')).openShared(directory),
  etcd: async (options: EtcdOptions) => (await import('./etcd/backend.js')).openEtcd(options)
}

/** Values of `kind`. */
export const BACK_END_KINDS = Object.keys(OPENERS) as readonly BackEndKind[] // its keys are those of the type

/** One back end of a server. */
export interface Store {
  readonly backend: Backend
  /** For metrics: `etcd`, `etcd-override-0`. */
  readonly name: string
  /** Comma-separated addresses of an etcd; undefined for other kinds. */
  readonly endpoint: string | undefined
}

/** The back ends of a server; the first serves all resources without their own. */
export interface Stores {
  readonly all: readonly Store[]
  readonly of: (group: string, plural: string) => Backend
  /** Set once a store proved to be of a newer format. */
  readonly refusal: () => StorageError | undefined
  /** Closes the back ends that were opened here, not one supplied by the host. */
  readonly close: () => Promise<void>
}

export const isBackend = (options: BackendOptions | Backend): options is Backend => 'watch' in options &&
  typeof options.watch === 'function'

export interface CommonOptions {
  /** The prefix of all keys. */
  readonly prefix: string
  /** Of leases, for back ends in this process. Default the system's. */
  readonly clock?: Clock
  /** Receives notes for the operator, unless the back end's options have a receiver. */
  readonly note: (text: string, level?: 'info' | 'warn') => void
  /** Replaces the option of this name of an etcd. */
  readonly refused: (error: Error) => void
}

/**
 * Opens back ends that check the format of what they find, and that show other programs that a server uses them.
 * @param given the host's own back end, or options to open one
 * @throws StorageError as `openBackend`
 */
export async function openStores (given: BackendOptions | Backend, common: CommonOptions): Promise<Stores> {
  let refusal: StorageError | undefined
  if (isBackend(given)) {
    return {
      all: [{ backend: given, name: given.name, endpoint: undefined }], of: () => given, refusal: () => refusal,
      close: async () => {}
    }
  }
  const { refused } = given.kind === 'etcd' && given.refused !== undefined ? { refused: given.refused } : common
  const format: EtcdOptions['format'] = {
    note: common.note,
    refused: error => {
      if (refusal !== undefined) return // already reported for another etcd of this server
      refusal = error
      refused(error)
    }
  }
  const { note, clock, prefix } = common
  const ofEtcd = given.kind === 'etcd' ? { format, presence: true } : {}
  const options: BackendOptions = Object.assign({ note, clock }, given, { prefix, ...ofEtcd })
  const main = await openBackend(options)
  const all: Store[] = [
    { backend: main, name: main.name, endpoint: options.kind === 'etcd' ? options.servers.join(',') : undefined }
  ]
  const overrideBackends = new Map<string, Backend>()
  if (options.kind === 'etcd') {
    for (const [resource, servers] of Object.entries(options.overrides ?? {})) {
      const backend = await openBackend({ ...options, servers })
      all.push({ backend, name: `${backend.name}-override-${overrideBackends.size}`, endpoint: servers.join(',') })
      overrideBackends.set(resource, backend)
    }
  }
  return {
    all,
    of: (group, plural) => overrideBackends.get(`${group}/${plural}`) ?? main,
    refusal: () => refusal,
    close: async () => { await Promise.all(all.map(({ backend }) => backend.close())) }
  }
}

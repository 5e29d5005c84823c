/**
 * Opens back ends from plain options; the one place above the waist that knows which kinds there are. Each is imported when it is asked for,
 * so that a start pays for the one it uses.
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
    /** Called with what an operator should know of the opening. Default nobody is told. */
    readonly note?: (text: string) => void
  }
  | {
    readonly kind: 'etcd'
    /** `scheme://host:port`, all of one cluster. */
    readonly servers: readonly string[]
    /** `group/resource` to the servers of another cluster that keeps it, `--etcd-servers-overrides`. */
    readonly overrides?: Readonly<Record<string, readonly string[]>>
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

/** One back end of a server. */
export interface Store {
  readonly backend: Backend
  /** For metrics: `etcd`, `etcd-override-0`. */
  readonly name: string
  /** The addresses of an etcd, with commas between them; undefined of other kinds. */
  readonly endpoint: string | undefined
}

/** The back ends of a server: the first for all resources but those that have one of their own. */
export interface Stores {
  readonly all: readonly Store[]
  readonly of: (group: string, plural: string) => Backend
  /** Closes those that were opened; a back end that was handed in belongs to whoever made it. */
  readonly close: () => Promise<void>
}

const isBackend = (options: BackendOptions | Backend): options is Backend => 'watch' in options && typeof options.watch === 'function'

/**
 * @param given a back end of the host's own, or what to open
 * @param common what all kinds of back ends are given that know it
 * @throws StorageError as `openBackend`
 */
export async function openStores (given: BackendOptions | Backend, common: { readonly prefix: string, readonly note: (text: string) => void }): Promise<Stores> {
  if (isBackend(given)) return { all: [{ backend: given, name: given.name, endpoint: undefined }], of: () => given, close: async () => {} }
  const options: BackendOptions = { ...common, ...given }
  const main = await openBackend(options)
  const all: Store[] = [{ backend: main, name: main.name, endpoint: options.kind === 'etcd' ? options.servers.join(',') : undefined }]
  const others = new Map<string, Backend>()
  if (options.kind === 'etcd') {
    for (const [resource, servers] of Object.entries(options.overrides ?? {})) {
      const backend = await openBackend({ ...options, servers })
      all.push({ backend, name: `${backend.name}-override-${others.size}`, endpoint: servers.join(',') })
      others.set(resource, backend)
    }
  }
  return {
    all,
    of: (group, plural) => others.get(`${group}/${plural}`) ?? main,
    close: async () => { await Promise.all(all.map(({ backend }) => backend.close())) }
  }
}

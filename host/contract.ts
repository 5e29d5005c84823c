/** The client of a host: what it may ask of the server that runs in its process. */

/** A TypeBox schema: of a built-in type from `orch-apiserver/schemas`, or one of the host's own. */
export interface Schema { readonly static: unknown, readonly params?: unknown }

/** What objects of a schema are. */
export type ObjectOf<S extends Schema> = (S & { params: [] })['static']

/** A type by its name, where its schema does not say that (`apiVersion` and `kind` as literals). */
export interface TypeName { readonly apiVersion: string, readonly kind: string }

/** An object of whatever type. */
export interface AnyObject {
  apiVersion?: string
  kind?: string
  metadata?: {
    name?: string, namespace?: string, uid?: string, resourceVersion?: string, generateName?: string,
    labels?: Record<string, string>, annotations?: Record<string, string>
  }
  [member: string]: unknown
}

/** What is written of an object: the server fills in the rest, `apiVersion` and `kind` too. */
export type Sent<T> = unknown extends T
  ? T
  : T extends ReadonlyArray<infer I>
    ? Array<Sent<I>>
    : T extends object ? { readonly [K in keyof T]?: Sent<T[K]> | undefined } : T

/** Who asks. */
export interface User {
  readonly username: string
  /** `system:authenticated` is added, but to `system:anonymous`. */
  readonly groups?: readonly string[]
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface Aborted {
  /** Ends it: the promise rejects with the reason, an iteration throws it. A write that was sent may complete. */
  readonly signal?: AbortSignal
}

export interface Within {
  /** Of types with namespaces: the one of the object, required unless the object names it. */
  readonly namespace?: string
}

export interface GetOptions extends Aborted, Within {
  /** Default the newest state. `0`: any. */
  readonly resourceVersion?: string
}

export interface Selection extends Aborted {
  /** Default all namespaces. */
  readonly namespace?: string
  /** As in the query: `app=web,tier!=db`. */
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

export interface ListOptions extends Selection {
  /** Objects of a page. Default 500. */
  readonly limit?: number
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /** Of a page: the next is the first. */
  readonly continue?: string
}

export interface WatchOptions extends Selection {
  /** The changes after this version, as of a list. Default the present objects, as ADDED, and all changes after. */
  readonly resourceVersion?: string
}

export interface WriteOptions extends Aborted, Within {
  /** Every stage runs but the write. */
  readonly dryRun?: boolean
  /** Owns the fields. Default that of the client. */
  readonly fieldManager?: string
  /** What becomes of unknown fields. Default Warn. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

export interface PatchOptions extends WriteOptions {
  /** `json` is a list of operations. Default merge. */
  readonly type?: 'merge' | 'json' | 'strategic'
}

export interface ApplyOptions extends WriteOptions {
  /** Takes over fields of other managers. */
  readonly force?: boolean
}

export interface DeleteOptions extends Aborted, Within {
  readonly dryRun?: boolean
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  /** Of the object that is meant, another is a Conflict. */
  readonly preconditions?: { readonly uid?: string, readonly resourceVersion?: string }
}

export interface ListMeta {
  readonly resourceVersion?: string, readonly continue?: string, readonly remainingItemCount?: number
}

export interface Page<T> { readonly metadata: ListMeta, readonly items: T[] }

/** The pages of a list: `for await (const { items } of pods.list())`. Each iteration lists anew. */
export interface Pages<T> extends AsyncIterable<Page<T>> {
  /** All objects, which are in memory then. */
  all: () => Promise<T[]>
}

export interface WatchEvent<T> { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED', readonly object: T }

/** The objects of a type. Each object is a copy of the caller's own. All throw StatusErrors. */
export interface Objects<T> {
  get: (name: string, options?: GetOptions) => Promise<T>
  list: (options?: ListOptions) => Pages<T>
  /**
   * Changes, until it is aborted or the server closes. It goes on by itself after the lifetime of a watch and after
   * history was lost: what has changed meanwhile is the events that follow, one for each object.
   */
  watch: (options?: WatchOptions) => AsyncIterableIterator<WatchEvent<T>>
  create: (object: Sent<T>, options?: WriteOptions) => Promise<T>
  /** Replaces the object that it names. With a resourceVersion, only that version of it. */
  update: (object: Sent<T>, options?: WriteOptions) => Promise<T>
  patch: (name: string, patch: object, options?: PatchOptions) => Promise<T>
  /** Server-side apply of the fields that the caller means to own. */
  apply: (object: Sent<T>, options?: ApplyOptions) => Promise<T>
  /** @returns the object while finalizers or its grace period hold it; undefined once it is removed */
  delete: (name: string, options?: DeleteOptions) => Promise<T | undefined>
  deleteCollection: (options?: Selection & Omit<DeleteOptions, 'namespace' | 'preconditions'>) => Promise<void>
  /** A part of the objects, such as `status`. */
  subresource: (<S extends Schema>(name: string, schema: S) => Part<ObjectOf<S>>) & ((name: string) => Part<T>)
}

/** A subresource of the objects of a type. */
export interface Part<T> {
  get: (name: string, options?: GetOptions) => Promise<T>
  /** Such as an eviction or a token of the named object. */
  create: (name: string, object: Sent<T>, options?: WriteOptions) => Promise<T>
  update: (object: Sent<T>, options?: WriteOptions) => Promise<T>
  patch: (name: string, patch: object, options?: PatchOptions) => Promise<T>
  apply: (object: Sent<T>, options?: ApplyOptions) => Promise<T>
}

/** Asks as one user, or as the server itself. */
export interface Client {
  /**
   * The objects of a type. A schema that says which type it is suffices: those of `orch-apiserver/schemas` do, and the
   * host's own with literals for `apiVersion` and `kind`.
   */
  of: (<S extends Schema>(schema: S, name?: TypeName) => Objects<ObjectOf<S>>)
    & ((name: TypeName) => Objects<AnyObject>)
}

export interface ClientOptions {
  /** The default field manager. Default `orch-client`. */
  readonly fieldManager?: string
  /** Warnings about what was asked. Default the host's log. What fails in it is logged. */
  readonly warn?: (text: string) => void
}

export interface InformerOptions<T> extends Omit<Selection, 'signal'> {
  /** Values by which objects are found, for each index. */
  readonly indexes?: Readonly<Record<string, (object: T) => readonly string[]>>
  readonly handlers?: InformerHandlers<T>
  /** Milliseconds after which all objects are reported as updated. Default 0, never. */
  readonly resync?: number
}

/** What fails in them, at once or as a promise, is logged and stops nothing. */
export interface InformerHandlers<T> {
  readonly added?: (object: T) => void
  /** Two changes in between may be one call; on a resync both are the same. */
  readonly updated?: (object: T, old: T) => void
  /** With the last state that was seen. */
  readonly deleted?: (object: T) => void
}

/** Keeps the objects of a type in memory, frozen, and says what changes. */
export interface ObjectInformer<T> extends Disposable {
  /**
   * Resolves when it has all objects and the handlers have seen them, or it is stopped; it then follows changes until
   * it is stopped, which is for good.
   */
  start: () => Promise<void>
  stop: () => void
  readonly synced: boolean
  get: (name: string, namespace?: string) => T | undefined
  list: () => T[]
  /** @throws TypeError for an index that there is not */
  by: (index: string, value: string) => T[]
}

/** The client of the server itself, which may do everything: admission alone is asked. */
export interface OwnClient extends Client {
  /** As a user: what is asked passes authorization, admission and audit, as a request does. */
  as: (user: User, options?: ClientOptions) => Client
  /** As the server itself, with another field manager or other warnings. */
  with: (options: ClientOptions) => OwnClient
  informer: <S extends Schema>(
    schema: S | TypeName, options?: InformerOptions<ObjectOf<S>> & { readonly type?: TypeName }
  ) => ObjectInformer<ObjectOf<S>>
}

/** What a host finds as `fastify.orch`. */
export interface Orch {
  readonly client: OwnClient
  /** Resolves when the server is ready, as `/readyz` says, once the host is. Rejects when it closes before. */
  ready: () => Promise<void>
  /** The server that is registered with a prefix, among several in the same scope. @throws TypeError without one */
  at: (prefix: string) => Omit<Orch, 'at'>
}

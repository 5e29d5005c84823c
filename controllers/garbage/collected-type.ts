/** A type whose objects are followed: one of this server's own, or one of an extension server. */
import type { ObjectState } from './object-state.js'

export interface Place { readonly namespace: string, readonly name: string }

/** Under which apiVersion and kind references name a type. */
export interface KindName { readonly apiVersion: string, readonly kind: string }

/** The state of an object, which is read when it is needed; undefined if it is gone. */
export interface Change {
  /** Tells objects of one type apart. */
  readonly key: string
  readonly state: (() => ObjectState) | undefined
}

/** `listed` follows the last of all existing objects; those that were not among them are gone. */
export type Step = readonly Change[] | 'listed'

export interface CollectedType {
  /** For logs: `pods`, `deployments.apps`. */
  readonly label: string
  readonly namespaced: boolean
  /** The preferred version first. */
  readonly kinds: readonly KindName[]
  /** Whether its objects are stored by this server, so that all of them are known sooner or later. */
  readonly isOwn: boolean
  /** The newest state. @throws StorageError, Error if that is unknown */
  readonly read: (place: Place) => Promise<ObjectState | undefined>
  /**
   * Whether that object exists, readable or not; also once its type is no longer served. @throws StorageError, Error if
   * that is unknown
   */
  readonly isThere: (object: Pick<ObjectState, 'namespace' | 'name' | 'uid'>) => Promise<boolean>
  /** Where requests for an object go, in a version in which it needs no conversion if there is one. */
  readonly pathOf: (object: Pick<ObjectState, 'namespace' | 'name' | 'storedVersion'>) => string
  /** All existing objects and what happens to them. Ends or throws when it has to be called again. */
  readonly follow: (signal: AbortSignal, progress: Progress) => AsyncGenerator<Step, void, void>
  /** Lists the keys of all objects; undefined if the objects of a removed type cannot be listed. */
  readonly keys: (() => AsyncGenerator<readonly string[], void, void>) | undefined
  /** Resolves to a revision up to which all changes that were acknowledged before are known; undefined if unknown. */
  readonly newest: () => Promise<number | undefined>
}

/** How far `follow` is. */
export interface Progress {
  /** Called by `follow`: what it has yielded is complete up to this revision; 0 if that is unknown. */
  readonly reach: (revision: number) => void
  /** Set by `follow`: makes it call `reach` soon. */
  ask: () => void
}

/** The path of an object or, without a name, of a collection. */
export function pathOf (apiVersion: string, plural: string, { namespace, name }: Place): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const within = namespace === '' ? root : `${root}/namespaces/${encodeURIComponent(namespace)}`
  return name === '' ? `${within}/${plural}` : `${within}/${plural}/${encodeURIComponent(name)}`
}

/** What garbage collection needs to know of an object, read from its metadata. */
import { parseExactly } from '../../schemas/codec/json/exact.js'
import { metadataIn } from '../../schemas/codec/json/metadata.js'
import { isObject } from '../../schemas/language/values.js'
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../schemas/meta/metadata-rules.js'
import type { OwnerReference } from '../../schemas/meta/object.js'

export type { OwnerReference } from '../../schemas/meta/object.js'

export interface ObjectState {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** The version it is stored in, where that may differ from the one its type is read in; otherwise ''. */
  readonly storedVersion: string
  readonly owners: readonly OwnerReference[]
  readonly finalizers: readonly string[]
  readonly isTerminating: boolean
}

const NO_OWNERS: readonly OwnerReference[] = Object.freeze([])
const NO_FINALIZERS: readonly string[] = Object.freeze([])

/** @param json of an object as this server writes it */
export const stateIn = (json: Buffer): ObjectState => stateOf({ metadata: parseExactly(metadataIn(json)) })

/**
 * @param stored an object of any source
 * @param revision of the store, for an object without a resourceVersion of its own
 * @throws TypeError if it has no UID, without which nothing can own or be owned
 */
export function stateOf (stored: unknown, revision?: number): ObjectState {
  const object = isObject(stored) ? stored : {}
  const metadata = isObject(object['metadata']) ? object['metadata'] : {}
  const text = (name: string): string => typeof metadata[name] === 'string' ? metadata[name] : ''
  if (text('uid') === '') throw new TypeError('the object has no UID')
  const owners = listOf(metadata['ownerReferences']).filter(isReference)
  const finalizers = listOf(metadata['finalizers']).filter(finalizer => typeof finalizer === 'string')
  return {
    namespace: text('namespace'),
    name: text('name'),
    uid: text('uid'),
    resourceVersion: revision === undefined ? text('resourceVersion') : String(revision),
    storedVersion: revision !== undefined && typeof object['apiVersion'] === 'string' ? object['apiVersion'] : '',
    owners: owners.length === 0 ? NO_OWNERS : owners,
    finalizers: finalizers.length === 0 ? NO_FINALIZERS : finalizers,
    isTerminating: text('deletionTimestamp') !== ''
  }
}

const listOf = (value: unknown): unknown[] => Array.isArray(value) ? value : []

const isReference = (value: unknown): value is OwnerReference => isObject(value) &&
  ['apiVersion', 'kind', 'name', 'uid'].every(name => typeof value[name] === 'string')

/** It is being deleted and goes when its blocking dependents are gone. */
export const waitsForDependents = ({ isTerminating, finalizers }: Pick<ObjectState, 'isTerminating' | 'finalizers'>) =>
  isTerminating && finalizers.includes(FOREGROUND_FINALIZER)

/** It is being deleted and goes when its dependents no longer name it. */
export const orphansDependents = ({ isTerminating, finalizers }: Pick<ObjectState, 'isTerminating' | 'finalizers'>) =>
  isTerminating && finalizers.includes(ORPHAN_FINALIZER)

/** Whether both name the same owners in the same way. */
export const sameOwners = (one: readonly OwnerReference[], other: readonly OwnerReference[]): boolean =>
  one.length === other.length && JSON.stringify(one) === JSON.stringify(other)

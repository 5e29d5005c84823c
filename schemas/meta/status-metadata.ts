/** Metadata that a change by a subresource leaves alone, for types whose status says nothing of it. */
import type { ObjectMeta } from './object.js'

type Member = keyof ObjectMeta

/** All but names, versions and who owns what. */
export const OWN_METADATA: readonly Member[] = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'deletionTimestamp', 'generation']

/** Puts those members back. */
export function keepMetadata (object: { metadata: ObjectMeta }, old: { metadata: ObjectMeta }, members: readonly Member[]): void {
  for (const member of members) {
    if (old.metadata[member] === undefined) delete object.metadata[member]
    else Object.assign(object.metadata, { [member]: old.metadata[member] })
  }
}

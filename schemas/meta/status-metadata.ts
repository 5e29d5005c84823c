/** Restores metadata that a status update may not change. */
import { clone } from '../language/values.js'
import type { ObjectMeta } from './object.js'

type Member = keyof ObjectMeta

/** All but names, versions and managedFields. */
export const OWN_METADATA: readonly Member[] = [
  'labels', 'annotations', 'finalizers', 'ownerReferences', 'deletionTimestamp', 'generation'
]

/** Copies these members from `old`. */
export function keepMetadata (
  object: { metadata: ObjectMeta }, old: { metadata: ObjectMeta }, members: readonly Member[]
): void {
  for (const member of members) {
    if (old.metadata[member] === undefined) delete object.metadata[member]
    else Object.assign(object.metadata, { [member]: clone(old.metadata[member]) })
  }
}

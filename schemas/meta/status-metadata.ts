/** Metadata that a change of the status leaves alone, for types whose status says nothing of it. */
import type { ObjectMeta } from './object.js'

type Member = keyof ObjectMeta

const KEPT: readonly Member[] = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'deletionTimestamp', 'generation']

interface Held { metadata: ObjectMeta }

/** Puts those members back that a change of the status may not have changed. Default all but names, versions and who owns what. */
export function keepMetadata (object: Held, old: Held, members: readonly Member[] = KEPT): void {
  for (const member of members) {
    if (old.metadata[member] === undefined) delete object.metadata[member]
    else Object.assign(object.metadata, { [member]: old.metadata[member] })
  }
}

/** The same as a strategy's preparation of an update: of the status, and of nothing else. */
export const keepMetadataOfStatus = (object: Held, old: Held, subresource: string): void => {
  if (subresource === 'status') keepMetadata(object, old)
}

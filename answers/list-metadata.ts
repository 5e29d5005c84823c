import type { ResourceStore } from '../registry/resource-store.js'
import type { ObjectList } from './answer.js'

export interface ListMetadata { resourceVersion?: string, continue?: string, remainingItemCount?: number }

export function metadataOf (list: ObjectList, { gates }: ResourceStore): ListMetadata {
  return {
    ...(list.revision === undefined ? {} : { resourceVersion: String(list.revision) }),
    ...(list.continue === '' ? {} : { continue: list.continue }),
    ...(list.remaining === undefined || !gates.enabled('RemainingItemCount')
      ? {}
      : { remainingItemCount: list.remaining })
  }
}

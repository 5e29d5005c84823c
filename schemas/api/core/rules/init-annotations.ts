/** Annotations by which node agents were told of init containers before there was a field: dropped, so that the oldest of them don't run those. */
import type { ObjectMeta } from '../../../meta/object.js'

const DROPPED: readonly string[] = ['alpha', 'beta'].flatMap(stage => ['init-containers', 'init-container-statuses'].map(name => `pod.${stage}.orch.io/${name}`))

/** Of pods, and of templates of them. In place. */
export function dropInitAnnotations (metadata: ObjectMeta): void {
  const { annotations } = metadata
  if (annotations === undefined || !DROPPED.some(key => Object.hasOwn(annotations, key))) return
  metadata.annotations = Object.fromEntries(Object.entries(annotations).filter(([key]) => !DROPPED.includes(key)))
}

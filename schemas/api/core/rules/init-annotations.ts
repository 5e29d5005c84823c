/**
 * Drops annotations that declared init containers before the field existed, so that old node agents do not run them.
 */
import type { ObjectMeta } from '../../../meta/object.js'

const DROPPED: readonly string[] = ['alpha', 'beta']
  .flatMap(stage => ['init-containers', 'init-container-statuses'].map(name => `pod.${stage}.orch.io/${name}`))

/** For the metadata of pods and pod templates; in place. */
export function dropInitAnnotations (metadata: ObjectMeta): void {
  const { annotations } = metadata
  if (annotations === undefined || !DROPPED.some(key => Object.hasOwn(annotations, key))) return
  metadata.annotations = Object.fromEntries(Object.entries(annotations).filter(([key]) => !DROPPED.includes(key)))
}

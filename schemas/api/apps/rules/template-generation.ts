/** A count of the templates a daemon set has had, which older controllers read: an annotation that is the server's alone. */
import { sameMessages } from '../../../language/presence.js'
import { sameValue } from '../../../language/values.js'
import { PodTemplateSpec } from '../../core/pod-spec.js'
import type { DaemonSet } from '../daemonsets.js'

const ANNOTATION = 'deprecated.daemonset.template.generation'

function countOf ({ metadata: { annotations } }: DaemonSet): number {
  const text = annotations !== undefined && Object.hasOwn(annotations, ANNOTATION) ? annotations[ANNOTATION] ?? '' : ''
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 1
}

export function countTemplate (set: DaemonSet, old: DaemonSet = set): void {
  const [template, before] = [set.spec.template, old.spec.template]
  const isSame = sameValue(template, before) && sameMessages(PodTemplateSpec, template, before)
  const count = countOf(old) + (isSame ? 0 : 1)
  set.metadata.annotations = { ...set.metadata.annotations, [ANNOTATION]: String(count) }
}

/** The annotation that counts template changes of a DaemonSet, for older controllers. Only the server changes it. */
import { sameMessages } from '../../../language/presence.js'
import { sameValue } from '../../../language/values.js'
import type { ObjectMeta } from '../../../meta/object.js'
import { PodTemplateSpec } from '../../core/pod-spec.js'
import type { DaemonSet } from '../daemonsets.js'

const ANNOTATION = 'deprecated.daemonset.template.generation'

function countOf ({ annotations }: ObjectMeta): number {
  const text = annotations !== undefined && Object.hasOwn(annotations, ANNOTATION) ? annotations[ANNOTATION] ?? '' : ''
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 1
}

function setCount (metadata: ObjectMeta, count: number): void {
  metadata.annotations = { ...metadata.annotations, [ANNOTATION]: String(count) }
}

/** A default, so that the creator becomes its field manager. */
export function beginCount (metadata: ObjectMeta): void {
  if (metadata.annotations?.[ANNOTATION] === undefined) setCount(metadata, 1)
}

/** Restores the old count on update; replaces a malformed one on create. */
export const keepCount = ({ metadata }: DaemonSet, old?: DaemonSet): void => {
  setCount(metadata, countOf(old?.metadata ?? metadata))
}

export function hasSameTemplate (set: DaemonSet, old: DaemonSet): boolean {
  const [template, before] = [set.spec.template, old.spec.template]
  return sameValue(template, before) && sameMessages(PodTemplateSpec, template, before)
}

export function countTemplate (set: DaemonSet, old: DaemonSet): void {
  if (!hasSameTemplate(set, old)) setCount(set.metadata, countOf(old.metadata) + 1)
}

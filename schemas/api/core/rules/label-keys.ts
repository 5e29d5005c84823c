/** Adds values of a new pod's own labels to the selectors that name them by key. */
import type { LabelSelector } from '../../../meta/options.js'
import type { ObjectMeta } from '../../../meta/object.js'
import type { Gates } from '../../../gates.js'
import type { PodSpec } from '../pod-spec.js'

interface Term {
  labelSelector?: LabelSelector | undefined
  readonly matchLabelKeys?: readonly string[] | undefined
  readonly mismatchLabelKeys?: readonly string[] | undefined
}

/** In place: `key in (value)` and `key notin (value)`, for each key that the pod has as a label. */
export function mergeLabelKeys ({ metadata, spec }: { metadata: ObjectMeta, spec: PodSpec }, gates: Gates): void {
  const labels = metadata.labels ?? {}
  const { affinity: { podAffinity, podAntiAffinity } = {}, topologySpreadConstraints = [] } = spec
  const terms = [podAffinity, podAntiAffinity].flatMap(rules => rules === undefined
    ? []
    : [
        ...rules.requiredDuringSchedulingIgnoredDuringExecution ?? [],
        ...(rules.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm)
      ])
  for (const term of terms) merge(term, labels)
  if (!gates.enabled('MatchLabelKeysInPodTopologySpreadSelectorMerge')) return
  for (const constraint of topologySpreadConstraints) merge(constraint, labels)
}

function merge (term: Term, labels: Readonly<Record<string, string>>): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term
  if (labelSelector === undefined) return
  const requirements = ([['In', matchLabelKeys], ['NotIn', mismatchLabelKeys]] as const).flatMap(([operator, keys]) =>
    keys.filter(key => Object.hasOwn(labels, key)).map(key => ({ key, operator, values: [labels[key] ?? ''] })))
  if (requirements.length === 0) return
  term.labelSelector = {
    ...labelSelector, matchExpressions: [...labelSelector.matchExpressions ?? [], ...requirements]
  }
}

/** What may change of a pod while scheduling gates hold it. */
import type { Report } from '../../../language/declare.js'
import { sameValue } from '../../../language/values.js'
import { forbidden, invalid } from '../../../rules/findings.js'
import type { NodeSelectorTerm } from '../affinity.js'
import type { PodSpec } from '../pod-spec.js'

/** Gates may only go. */
export function checkGateChanges (
  { schedulingGates = [] }: PodSpec, { schedulingGates: old = [] }: PodSpec, report: Report
): void {
  const before = new Set(old.map(({ name }) => name))
  schedulingGates.forEach(({ name }, index) => {
    if (before.has(name)) return
    forbidden(
      report, `spec.schedulingGates[${index}].name`,
      `only deletion is allowed, but found new scheduling gate ${JSON.stringify(name)}`
    )
  })
}

/**
 * The new spec with the old demands on nodes, which may become narrower while gates hold the pod: entries of
 * nodeSelector and requirements of terms may be added, preferences change freely.
 */
export function withOldPlace (spec: PodSpec, old: PodSpec, report: Report): PodSpec {
  if ((old.schedulingGates ?? []).length === 0) return spec
  const [selector, before] = [spec.nodeSelector ?? {}, old.nodeSelector ?? {}]
  if (Object.entries(before).some(([label, value]) => selector[label] !== value)) {
    invalid(
      report, 'spec.nodeSelector', spec.nodeSelector ?? null,
      'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
    )
  }
  checkTerms(spec, old, report)
  const affinity = { ...spec.affinity, nodeAffinity: old.affinity?.nodeAffinity }
  return {
    ...spec, nodeSelector: old.nodeSelector,
    affinity: Object.values(affinity).every(part => part === undefined) ? old.affinity : affinity
  }
}

function checkTerms (spec: PodSpec, old: PodSpec, report: Report): void {
  const required = ({ affinity }: PodSpec): readonly NodeSelectorTerm[] | undefined =>
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  const before = required(old)
  if (before === undefined) return
  const field = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution'
  const terms = required(spec)
  if (terms === undefined || terms.length !== before.length) {
    return invalid(
      report, `${field}.nodeSelectorTerms`, terms ?? null,
      'no additions/deletions to non-empty NodeSelectorTerms list are allowed'
    )
  }
  terms.forEach((term, index) => {
    const was = before[index] ?? {}
    const isNarrower = isEmpty(was)
      ? isEmpty(term)
      : (['matchExpressions', 'matchFields'] as const).every(member => has(term[member], was[member]))
    if (!isNarrower) {
      invalid(
        report, `${field}.nodeSelectorTerms[${index}]`, term,
        'only additions are allowed (no mutations or deletions)'
      )
    }
  })
}

const isEmpty = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): boolean =>
  matchExpressions.length + matchFields.length === 0

const has = (now: readonly unknown[] = [], before: readonly unknown[] = []): boolean =>
  before.every((requirement, index) => sameValue(requirement, now[index]))

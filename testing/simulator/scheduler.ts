/** A small scheduler: pods that wait for a node get the least used one that they fit. */
import type { Node, NodeSelectorRequirement, NodeSelectorTerm, Pod, Taint } from '../../schemas/api/core/v1.js'
import { isReady } from './nodes.js'

const PODS = 110

export const waitsForNode = ({ metadata, spec, status }: Pod): boolean =>
  metadata?.deletionTimestamp === undefined && (spec?.nodeName ?? '') === '' &&
  (spec?.schedulerName ?? 'default-scheduler') === 'default-scheduler' && (spec?.schedulingGates ?? []).length === 0 &&
  !['Succeeded', 'Failed'].includes(status?.phase ?? '')

export class Scheduler {
  /** The node of each pod that takes room, by uid; bound ones at once. */
  readonly #nodes = new Map<string, string>()
  readonly #used = new Map<string, number>()

  /** The pod changed. */
  noted ({ metadata, spec, status }: Pod): void {
    const isOver = ['Succeeded', 'Failed'].includes(status?.phase ?? '')
    this.take(metadata?.uid ?? '', isOver ? '' : spec?.nodeName ?? '')
  }

  /** @param node '' for none */
  take (uid: string, node: string): void {
    const before = this.#nodes.get(uid) ?? ''
    if (before === node) return
    if (before !== '') this.#used.set(before, (this.#used.get(before) ?? 1) - 1)
    if (node === '') this.#nodes.delete(uid)
    else {
      this.#nodes.set(uid, node)
      this.#used.set(node, (this.#used.get(node) ?? 0) + 1)
    }
  }

  /** The name of a node for the pod, undefined if it fits none. */
  choose (pod: Pod, nodes: readonly Node[]): string | undefined {
    let chosen: { readonly name: string, readonly used: number } | undefined
    for (const node of nodes) {
      const { metadata: { name = '' } = {}, status } = node
      const used = this.#used.get(name) ?? 0
      if (used >= Number(status?.allocatable?.['pods'] ?? PODS) || !fits(pod, node)) continue
      if (chosen === undefined || used < chosen.used) chosen = { name, used }
    }
    return chosen?.name
  }
}

function fits ({ spec }: Pod, node: Node): boolean {
  const { metadata: { labels = {} } = {}, spec: { unschedulable = false, taints = [] } = {} } = node
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return isReady(node) && !unschedulable && taints.every(taint => isTolerated(taint, spec)) &&
    Object.entries(spec?.nodeSelector ?? {}).every(([name, value]) => labels[name] === value) &&
    (required === undefined || required.some(term => isMet(term, node)))
}

const isTolerated = ({ key = '', value = '', effect }: Taint, spec: Pod['spec']): boolean =>
  effect === 'PreferNoSchedule' || (spec?.tolerations ?? []).some(toleration =>
    [undefined, '', effect].includes(toleration.effect) && (toleration.operator === 'Exists'
      ? [undefined, '', key].includes(toleration.key)
      : toleration.key === key && (toleration.value ?? '') === value))

function isMet ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, { metadata }: Node): boolean {
  const { labels = {}, name } = metadata ?? {}
  return matchExpressions.length + matchFields.length > 0 &&
    matchExpressions.every(requirement => meets(labels[requirement.key ?? ''], requirement)) &&
    matchFields.every(requirement => meets(requirement.key === 'metadata.name' ? name : undefined, requirement))
}

function meets (value: string | undefined, { operator, values = [] }: NodeSelectorRequirement): boolean {
  switch (operator) {
    case 'In': return value !== undefined && values.includes(value)
    case 'NotIn': return value === undefined || !values.includes(value)
    case 'Exists': return value !== undefined
    case 'DoesNotExist': return value === undefined
    case 'Gt': return Number(value) > Number(values[0])
    case 'Lt': return Number(value) < Number(values[0])
    default: return false
  }
}

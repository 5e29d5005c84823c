/** Quota scopes: a quota applies to pods and claims in all of its scopes. */
import type { Pod } from '../../schemas/api/core/pods.js'
import type { PodAffinityTerm } from '../../schemas/api/core/affinity.js'
import type { PersistentVolumeClaim } from '../../schemas/api/core/persistentvolumeclaims.js'
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../schemas/api/core/resourcequotas.js'
import { qosClass } from '../../schemas/api/core/rules/qos.js'
import { ATTRIBUTES } from '../../schemas/api/core/rules/resourcequotas.js'

export type Scope = ScopedResourceSelectorRequirement

/** The scopes in both notations. */
export function scopesOf ({ spec: { scopes = [], scopeSelector } }: ResourceQuota): Scope[] {
  return [...scopes.map(scopeName => ({ scopeName, operator: 'Exists' })), ...scopeSelector?.matchExpressions ?? []]
}

export function podIsIn ({ spec }: Pod, { scopeName, operator, values = [] }: Scope): boolean {
  switch (scopeName) {
    case 'Terminating': return (spec.activeDeadlineSeconds ?? -1) >= 0
    case 'NotTerminating': return !((spec.activeDeadlineSeconds ?? -1) >= 0)
    case 'BestEffort': return qosClass(spec) === 'BestEffort'
    case 'NotBestEffort': return qosClass(spec) !== 'BestEffort'
    case 'CrossNamespacePodAffinity': return selectsOtherNamespaces(spec)
    case 'PriorityClass': return matches(spec.priorityClassName ?? '', operator, values)
    default: return false
  }
}

/** By the classes of attributes that it has, wants or is about to get. */
export function claimIsIn (
  { spec, status }: PersistentVolumeClaim, { scopeName, operator, values = [] }: Scope
): boolean {
  if (scopeName !== ATTRIBUTES) return false
  const names = [
    spec.volumeAttributesClassName, status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName
  ].filter(name => name !== undefined && name !== '') as string[]
  return names.length === 0 ? matches('', operator, values) : names.some(name => matches(name, operator, values))
}

/** @param name empty for none */
function matches (name: string, operator: string, values: readonly string[]): boolean {
  switch (operator) {
    case 'Exists': return name !== ''
    case 'DoesNotExist': return name === ''
    case 'In': return name !== '' && values.includes(name)
    case 'NotIn': return name === '' || !values.includes(name)
    default: return false
  }
}

/** Whether its affinity refers to pods of other namespaces. */
function selectsOtherNamespaces ({ affinity }: Pod['spec']): boolean {
  const selectsOthers = ({ namespaces = [], namespaceSelector }: PodAffinityTerm): boolean => namespaces.length > 0 ||
    namespaceSelector !== undefined
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some(rules =>
    rules?.requiredDuringSchedulingIgnoredDuringExecution?.some(selectsOthers) === true ||
    rules?.preferredDuringSchedulingIgnoredDuringExecution
      ?.some(({ podAffinityTerm }) => selectsOthers(podAffinityTerm)) === true)
}

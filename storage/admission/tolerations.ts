/** Tolerations of pods, and the taints that the system itself sets. */
import type { Toleration } from '../../schemas/api/core/affinity.js'
import { sameValue } from '../../schemas/index.js'

export const NOT_READY = 'node.orch.io/not-ready'
export const UNREACHABLE = 'node.orch.io/unreachable'
export const MEMORY_PRESSURE = 'node.orch.io/memory-pressure'

/** Whether whoever has the first tolerates all that the second one does. */
export function covers (wide: Toleration, narrow: Toleration): boolean {
  if (sameValue(wide, narrow)) return true
  const { key = '', operator = '', effect = '', value = '', tolerationSeconds: seconds } = wide
  if ((narrow.key ?? '') !== key && (key !== '' || operator !== 'Exists')) return false
  if ((narrow.effect ?? '') !== effect && effect !== '') return false
  if ((effect === '' || effect === 'NoExecute') && seconds !== undefined && (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > seconds)) return false
  if (operator === 'Exists') return true
  return (narrow.operator ?? '') !== 'Exists' && (narrow.value ?? '') === value
}

/** Both, without those that another one covers. */
export function mergeTolerations (first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second]
  const merged: Toleration[] = []
  for (const [index, one] of all.entries()) {
    if (merged.some(kept => covers(kept, one))) continue
    if (all.slice(index + 1).some(later => !sameValue(later, one) && covers(later, one))) continue
    merged.push(one)
  }
  return merged
}

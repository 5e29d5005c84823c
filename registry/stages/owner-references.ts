/** Deduplicates owner references. */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { Caller } from '../write-context.js'

/**
 * Merges identical references and warns about them.
 * @param admitted whether the object comes from admission or a patch
 */
export function mergeOwnerReferences ({ metadata }: ApiObject, caller: Pick<Caller, 'warn'>, admitted = false): void {
  const { ownerReferences: all = [] } = metadata
  if (all.length < 2) return
  const repeated: string[] = []
  const seen = new Set<string>()
  const kept = all.filter(({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }) => {
    const whole = JSON.stringify([uid, name, kind, apiVersion, controller, blockOwnerDeletion])
    if (seen.has(whole)) repeated.push(uid)
    return seen.size < seen.add(whole).size
  })
  if (repeated.length === 0) return
  metadata.ownerReferences = kept
  const when = admitted ? ' after mutating admission happens' : ''
  const uids = repeated.join(', ')
  caller.warn?.(`.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in ` +
    '1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ' +
    `${uids}`)
}

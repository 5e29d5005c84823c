/** Renders conflicts of an apply as a Status. */
import { StatusError } from '../../schemas/status.js'
import type { Conflict } from './apply.js'
import { pathText } from './elements.js'
import { paths, size } from './field-set.js'
import type { ManagerIdentity } from './managers.js'

const MAX_CAUSES = 100

/** `"kubectl" with subresource "scale" using apps/v1`; an applier has the same name in all versions. */
function nameOf ({ manager, operation, subresource }: ManagerIdentity, apiVersion: string): string {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`)
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}

/**
 * 409 with one cause per field, at most 100.
 * @param displayVersion the version to print for every manager; default its own
 */
export function applyConflict (conflicts: readonly Conflict[], displayVersion?: string): StatusError {
  const clashes: Array<{ by: string, field: string }> = []
  for (const { with: manager, fields } of conflicts) {
    const by = nameOf(manager, displayVersion ?? manager.apiVersion)
    for (const path of paths(fields)) {
      if (clashes.length === MAX_CAUSES) break
      clashes.push({ by, field: pathText(path) })
    }
  }
  const count = conflicts.reduce((sum, { fields }) => sum + size(fields), 0)
  const reason = 'FieldManagerConflict'
  const causes = clashes.map(({ by, field }) => ({ reason, message: `conflict with ${by}`, field }))
  return new StatusError('Conflict', `Apply failed with ${summary(clashes, count)}`, { details: { causes } })
}

function summary (conflicts: ReadonlyArray<{ by: string, field: string }>, count: number): string {
  const [first] = conflicts
  if (count === 1 && first !== undefined) return `1 conflict: conflict with ${first.by}: ${first.field}`
  const lines = [...new Set(conflicts.map(({ by }) => by))].sort().flatMap(manager =>
    [`conflicts with ${manager}:`, ...conflicts.filter(({ by }) => by === manager).map(({ field }) => `- ${field}`)])
  const more = count - conflicts.length
  return `${count} conflicts: ${lines.join('\n')}${more > 0 ? `\nand ${more} more` : ''}`
}

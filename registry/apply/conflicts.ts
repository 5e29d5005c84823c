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
  const found: Array<{ by: string, field: string }> = []
  for (const { with: manager, fields } of conflicts) {
    const by = nameOf(manager, displayVersion ?? manager.apiVersion)
    for (const path of paths(fields)) {
      if (found.length === MAX_CAUSES) break
      found.push({ by, field: pathText(path) })
    }
  }
  const count = conflicts.reduce((sum, { fields }) => sum + size(fields), 0)
  const reason = 'FieldManagerConflict'
  const causes = found.map(({ by, field }) => ({ reason, message: `conflict with ${by}`, field }))
  return new StatusError('Conflict', `Apply failed with ${summary(found, count)}`, { details: { causes } })
}

function summary (found: ReadonlyArray<{ by: string, field: string }>, count: number): string {
  const [first] = found
  if (count === 1 && first !== undefined) return `1 conflict: conflict with ${first.by}: ${first.field}`
  const lines = [...new Set(found.map(({ by }) => by))].sort().flatMap(manager =>
    [`conflicts with ${manager}:`, ...found.filter(({ by }) => by === manager).map(({ field }) => `- ${field}`)])
  const more = count - found.length
  return `${count} conflicts: ${lines.join('\n')}${more > 0 ? `\nand ${more} more` : ''}`
}

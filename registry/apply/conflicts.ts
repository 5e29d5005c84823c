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
  const causes: Array<{ reason: string, message: string, field: string }> = []
  for (const { with: manager, fields } of conflicts) {
    for (const path of paths(fields)) {
      if (causes.length === MAX_CAUSES) break
      causes.push({
        reason: 'FieldManagerConflict',
        message: `conflict with ${nameOf(manager, displayVersion ?? manager.apiVersion)}`, field: pathText(path)
      })
    }
  }
  const count = conflicts.reduce((sum, { fields }) => sum + size(fields), 0)
  return new StatusError('Conflict', `Apply failed with ${summary(causes, count)}`, { details: { causes } })
}

function summary (causes: ReadonlyArray<{ message: string, field: string }>, count: number): string {
  const [first] = causes
  if (count === 1 && first !== undefined) return `1 conflict: ${first.message}: ${first.field}`
  const messages = [...new Set(causes.map(({ message }) => message))].sort() // by manager
  const lines = messages.flatMap(text => [
    text.replace('conflict', 'conflicts') + ':',
    ...causes.filter(({ message }) => message === text).map(({ field }) => `- ${field}`)
  ])
  const more = count - causes.length
  return `${count} conflicts: ${lines.join('\n')}${more > 0 ? `\nand ${more} more` : ''}`
}

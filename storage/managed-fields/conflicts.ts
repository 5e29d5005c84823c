/** Conflicts of an apply as the answer that tells of them. */
import { StatusError } from '../../schemas/status.js'
import type { Conflict } from './apply.js'
import { pathText } from './elements.js'
import type { Who } from './managers.js'

/** `"kubectl" with subresource "scale" using apps/v1`; appliers are known by their name in any version. */
function nameOf ({ manager, operation, subresource }: Who, apiVersion: string): string {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`)
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}

/**
 * 409 with a cause per field.
 * @param shownAs the version in which all entries are shown to who applies; default each in its own
 */
export function applyConflict (conflicts: readonly Conflict[], shownAs?: string): StatusError {
  const causes = conflicts.map(({ with: who, path }) => ({ reason: 'FieldManagerConflict', message: `conflict with ${nameOf(who, shownAs ?? who.apiVersion)}`, field: pathText(path) }))
  return new StatusError('Conflict', `Apply failed with ${summary(causes)}`, { details: { causes } })
}

function summary (causes: ReadonlyArray<{ message: string, field: string }>): string {
  const [first] = causes
  if (causes.length === 1 && first !== undefined) return `1 conflict: ${first.message}: ${first.field}`
  const messages = [...new Set(causes.map(({ message }) => message))].sort() // by manager
  const lines = messages.flatMap(wanted => [wanted.replace('conflict', 'conflicts') + ':', ...causes.filter(({ message }) => message === wanted).map(({ field }) => `- ${field}`)])
  return `${causes.length} conflicts: ${lines.join('\n')}`
}

/** What a StorageClass has to keep to. */
import type { Report } from '../../language/types.js'
import { sameValue } from '../../language/values.js'
import { qualifiedName } from '../../names.js'
import { duplicate, forbidden, invalid, named, notSupported, required, tooLong } from '../../rules/findings.js'
import type { StorageClass } from './storageclasses.js'

const MOST_PARAMETERS = 512
/** Of what a class provides nothing is recycled. */
const RECLAIM_POLICIES: readonly string[] = ['Delete', 'Retain']
const MOST_SIZE = 256 * 1024

export function validateStorageClass (object: StorageClass, report: Report): void {
  const { provisioner, parameters = {}, reclaimPolicy, allowedTopologies = [] } = object
  if (provisioner !== '') named(report, 'provisioner', provisioner, name => qualifiedName(name.toLowerCase()))
  validateEntries(parameters, 'parameters', report)
  if (reclaimPolicy !== undefined && !RECLAIM_POLICIES.includes(reclaimPolicy)) notSupported(report, 'reclaimPolicy', reclaimPolicy, RECLAIM_POLICIES)
  const seen: unknown[] = []
  for (const [index, { matchLabelExpressions: terms = [] }] of allowedTopologies.entries()) {
    validateTerm(terms, report)
    const same = terms.map(({ key, values = [] }) => [key, [...values].sort()] as const).sort(([one], [other]) => one < other ? -1 : 1)
    if (seen.some(other => sameValue(other, same))) duplicate(report, `allowedTopologies[${index}].matchLabelExpressions`, '')
    seen.push(same)
  }
}

/** So many, and together of such a size. */
export function validateEntries (entries: Readonly<Record<string, string>>, field: string, report: Report): void {
  const list = Object.entries(entries)
  if (list.length > MOST_PARAMETERS) return tooLong(report, field, MOST_PARAMETERS)
  if (Object.hasOwn(entries, '')) invalid(report, field, '', 'a key can not be empty')
  const size = list.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  if (size > MOST_SIZE) tooLong(report, field, MOST_SIZE)
}

interface Term { readonly key: string, readonly values?: readonly string[] | undefined }

/** Findings stand at the list as a whole: the convention does not say of which topology they are. */
function validateTerm (terms: readonly Term[], report: Report): void {
  for (const [index, { key, values = [] }] of terms.entries()) {
    const at = `allowedTopologies.matchLabelExpressions[${index}]`
    if (values.length === 0) required(report, `${at}.values`)
    for (const [nth, value] of values.entries()) if (values.indexOf(value) < nth) duplicate(report, `${at}.values[${nth}]`, value)
    named(report, `${at}.key`, key, qualifiedName)
    if (terms.findIndex(other => other.key === key) < index) duplicate(report, `${at}.key`, key)
  }
}

export function validateStorageClassUpdate (object: StorageClass, old: StorageClass, report: Report): void {
  for (const field of ['parameters', 'provisioner', 'reclaimPolicy'] as const) {
    if (!sameValue(object[field], old[field])) forbidden(report, field, `updates to ${field} are forbidden`)
  }
}

/** Validation of StorageClasses and VolumeAttributesClasses. */
import { isOn } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { sameValueAndPresence } from '../../../language/values.js'
import { qualifiedName } from '../../../names.js'
import { duplicate, forbidden, invalid, checkName, notSupported, required, tooLong } from '../../../rules/findings.js'
import type { StorageClass } from '../storageclasses.js'
import type { VolumeAttributesClass } from '../v1.js'

const MAX_PARAMETERS = 512
/** Provisioned volumes cannot be recycled. */
const RECLAIM_POLICIES: readonly string[] = ['Delete', 'Retain']
export const MAX_SIZE = 256 * 1024

export function validateStorageClass (object: StorageClass, report: Report): void {
  const { provisioner, parameters = {}, reclaimPolicy, allowedTopologies = [] } = object
  validateDriver(provisioner, 'provisioner', report)
  validateClassParameters(parameters, report)
  const policy: string = reclaimPolicy ?? '' // empty counts as unset
  if (policy !== '' && !RECLAIM_POLICIES.includes(policy)) {
    notSupported(report, 'reclaimPolicy', policy, RECLAIM_POLICIES)
  }
  // As upstream, a term without expressions is reported as a duplicate.
  const seen = new Set([raw([])])
  for (const [index, { matchLabelExpressions: terms = [] }] of allowedTopologies.entries()) {
    const at = `allowedTopologies[${index}].matchLabelExpressions`
    validateTerm(terms, at, report)
    const term = raw(terms)
    if (seen.has(term)) duplicate(report, at, '')
    seen.add(term)
  }
}

/** Equal for terms that select the same. If a key occurs twice, its last values count. */
function raw (terms: readonly Term[]): string {
  const byKey = new Map(terms.map(({ key, values = [] }) => [key, [...new Set(values)].sort()]))
  return JSON.stringify([...byKey].sort(([one], [other]) => one < other ? -1 : 1))
}

/** A missing one is reported as such. */
function validateDriver (name: string, field: string, report: Report): void {
  if (name !== '') checkName(report, field, name.toLowerCase(), qualifiedName)
}

export function validateAttributesClass ({ driverName, parameters = {} }: VolumeAttributesClass, report: Report): void {
  validateDriver(driverName, 'driverName', report)
  if (Object.keys(parameters).length === 0) {
    required(report, 'parameters', 'must contain at least one key/value pair')
  }
  validateClassParameters(parameters, report)
}

function validateClassParameters (parameters: Readonly<Record<string, string>>, report: Report): void {
  if (Object.keys(parameters).length > MAX_PARAMETERS) return tooLong(report, 'parameters', MAX_PARAMETERS)
  if (Object.hasOwn(parameters, '')) invalid(report, 'parameters', '', 'field can not be empty.')
  validateSize(parameters, 'parameters', report)
}

/** Limits the total bytes of keys and values. */
export function validateSize (entries: Readonly<Record<string, string>>, field: string, report: Report): void {
  const size = Object.entries(entries)
    .reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  if (size > MAX_SIZE) tooLong(report, field, MAX_SIZE)
}

interface Term { readonly key: string, readonly values?: readonly string[] | undefined }

function validateTerm (terms: readonly Term[], field: string, report: Report): void {
  const keys = new Set<string>()
  for (const [index, { key, values = [] }] of terms.entries()) {
    const at = `${field}[${index}]`
    if (values.length === 0) required(report, `${at}.values`)
    const seen = new Set<string>()
    for (const [nth, value] of values.entries()) {
      if (seen.has(value)) duplicate(report, `${at}.values[${nth}]`, value)
      seen.add(value)
    }
    checkName(report, `${at}.key`, key, qualifiedName)
    if (keys.has(key)) duplicate(report, `${at}.key`, key)
    keys.add(key)
  }
}

function validateFixed<T extends object> (
  object: T, old: T, fields: ReadonlyArray<keyof T & string>, report: Report, isInvalid = false
): void {
  for (const field of fields) {
    if (sameValueAndPresence(object[field], old[field])) continue
    if (isInvalid) invalid(report, field, object[field], 'field is immutable')
    else forbidden(report, field, `updates to ${field} are forbidden.`)
  }
}

export function validateAttributesClassUpdate (
  object: VolumeAttributesClass, old: VolumeAttributesClass, report: Report
): void {
  validateFixed(object, old, ['driverName', 'parameters'], report)
}

export function validateStorageClassUpdate (object: StorageClass, old: StorageClass, report: Report): void {
  const isInvalid = isOn(report, 'StorageClassChangeIsInvalid')
  validateFixed(object, old, ['parameters', 'provisioner', 'reclaimPolicy'], report, isInvalid)
  if (object.volumeBindingMode !== old.volumeBindingMode) {
    invalid(report, 'volumeBindingMode', object.volumeBindingMode, 'field is immutable')
  }
}

/** Shared by ConfigMap and Secret: validation of keys, and immutability. */
import { bool, type Report } from '../../language/declare.js'
import { sameValueAndPresence } from '../../language/values.js'
import { configKey } from '../../names.js'
import { forbidden, checkName } from '../../rules/findings.js'

/** Bytes of all values together. */
export const MAX_SIZE = 1024 * 1024

/** The `immutable` field. */
export const immutableFlag = (number: number) => bool(
  number, 'True keeps the data as it is for good; can be set but never unset.', { pointer: true, immutable: 'ruled' }
)

export function checkKey (field: string, key: string, report: Report): void {
  checkName(report, `${field}[${key}]`, key, configKey)
}

export function checkImmutable<T extends { immutable?: boolean | undefined }> (
  object: T, old: T, fields: ReadonlyArray<keyof T & string>, report: Report
): void {
  if (old.immutable !== true) return
  const forbid = (field: string) => forbidden(report, field, 'field is immutable when `immutable` is set')
  if (object.immutable !== true) forbid('immutable')
  for (const field of fields) if (!sameValueAndPresence(object[field], old[field])) forbid(field)
}

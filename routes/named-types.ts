/** Custom objects have to name their type. Built-in ones have that of their path, whether they name it or not. */
import type { Message } from '../schemas/language/declare.js'
import { Facts, type KindFacts } from '../schemas/language/types.js'
import { isObject } from '../schemas/language/values.js'
import { badRequest, invalid, type FieldError, type StatusError } from '../schemas/status.js'

const MAX_QUOTED = 100

interface Named { readonly type: KindFacts, readonly apiVersion: string, readonly kind: string, readonly name: string }

/** Undefined for built-in types. */
function named (message: Message, value: unknown): Named | undefined {
  const { type, given } = message[Facts]
  if (type === undefined || given === undefined) return undefined
  const members = isObject(value) ? value : {}
  const text = (of: unknown): string => typeof of === 'string' ? of.slice(0, MAX_QUOTED) : ''
  const { metadata } = members
  const name = text(isObject(metadata) ? metadata['name'] : undefined)
  return { type, apiVersion: text(members['apiVersion']), kind: text(members['kind']), name }
}

const refusal = ({ type, kind, name }: Named, ...causes: readonly FieldError[]): StatusError =>
  invalid({ group: type.group, kind }, name, causes)

const otherKind = (of: Named): StatusError => refusal(of, {
  type: 'FieldValueInvalid', field: 'kind', value: of.kind, detail: `must be ${of.type.kind}`
})

/** @throws StatusError 400 without a kind or for another version, 422 for another kind */
export function checkNamedType (message: Message, body: unknown): void {
  const of = named(message, body)
  if (of === undefined) return
  const { type, apiVersion, kind } = of
  if (kind === '') {
    throw badRequest(`the object provided is unrecognized (must be of type ${type.kind}): its kind is missing`)
  }
  if (apiVersion !== type.apiVersion) {
    throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version ` +
      `(${type.apiVersion})`)
  }
  if (kind !== type.kind) throw otherKind(of)
}

/** The same of an object that a patch has made. @returns whether it still names a kind @throws StatusError 422 */
export function keepsNamedType (message: Message, patched: unknown): boolean {
  const of = named(message, patched)
  if (of === undefined) return true
  const { type, apiVersion, kind } = of
  if (kind === '') return false
  if (apiVersion !== type.apiVersion) {
    throw refusal(of, {
      type: 'FieldValueInvalid', field: 'apiVersion', value: apiVersion, detail: `must be ${type.apiVersion}`
    })
  }
  if (kind !== type.kind) throw otherKind(of)
  return true
}

/**
 * What the protobuf forms of both versions of OpenAPI have in common, as gnostic defines them: maps are lists of pairs,
 * and extensions, examples and enum values are YAML text.
 */
import type protobuf from 'protobufjs/minimal.js'
import type { Plain } from '../language/declare.js'
import type { Entries } from './v2.js'

const LENGTH_DELIMITED = 2
export const tag = (field: number): number => field << 3 | LENGTH_DELIMITED

/** A message in field `field` that is a list of name and encoded message, in its field `pair`. */
export function writeEntries (
  writer: protobuf.Writer, field: number, pair: number, entries: Entries<Uint8Array>
): void {
  writer.uint32(tag(field)).fork()
  for (const [name, bytes] of entries) {
    writer.uint32(tag(pair)).fork().uint32(tag(1)).string(name).uint32(tag(2)).bytes(bytes).ldelim()
  }
  writer.ldelim()
}

let last: unknown
let lastAny = { yaml: '' }
/** Each extension occurs twice with the same value, under both prefixes. */
export function any (value: unknown): object {
  if (value !== last) lastAny = { yaml: `${JSON.stringify(last = value)}\n` }
  return lastAny
}

/** Converters of members. Each value has the type that its converter expects. */
export type Forms = Readonly<Record<string, (value: never) => unknown>>

/** @param extensions the field of the messages that has members whose names begin with `x-` */
export const messagesWith = (extensions: string) => (source: Plain, forms: Forms): Plain => {
  const fields: Plain = {}
  const extended: object[] = []
  for (const name of Object.keys(source)) {
    const value = source[name]
    const form = forms[name]
    if (name.startsWith('x-')) extended.push({ name, value: any(value) })
    else if (name === '$ref') fields['_ref'] = value
    else if (value !== undefined) fields[name] = form === undefined ? value : form(value as never)
  }
  if (extended.length > 0) fields[extensions] = extended
  return fields
}

export const pairs = (map: Plain, of: (value: Plain) => object) =>
  Object.keys(map).map(name => ({ name, value: of(map[name] as Plain) }))

/** Omits false. */
export const flag = (value: unknown) => value === true ? true : undefined

export const requirement = (source: Plain): object => ({ additionalProperties: pairs(source, value => ({ value })) })

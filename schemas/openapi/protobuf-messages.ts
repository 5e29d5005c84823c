/**
 * Protobuf messages of a document that is known as JSON: which member goes to which field, and how it is written. What is here
 * runs some ten thousand times, once, and so mostly before it is compiled: hence loops by index, which cost the interpreter least.
 */
import type { Plain } from '../language/declare.js'
import { bytesTag } from '../codec/protobuf/wire.js'
import type { Writer } from '../codec/protobuf/wire.js'

/** Writes the body of one message, or the value of one field with its length. */
export type Body = (writer: Writer, value: unknown) => void
type Write = (writer: Writer, number: number, value: unknown) => void

/* The writer runs backwards: of everything, the last comes first. */
export function delimited (writer: Writer, number: number, body: Body, value: unknown): void {
  const start = writer.length
  body(writer, value)
  writer.varint(writer.length - start)
  writer.varint(bytesTag(number))
}

export const text: Write = (writer, number, value) => {
  writer.string(String(value))
  writer.varint(bytesTag(number))
}
export const flag: Write = (writer, number, value) => {
  if (value !== true) return
  writer.varint(1)
  writer.varint(number << 3)
}
export const integer: Write = (writer, number, value) => {
  writer.integer(Number(value))
  writer.varint(number << 3)
}
export const float: Write = (writer, number, value) => {
  writer.double(Number(value))
  writer.varint(number << 3 | 1)
}
export const one = (body: Body): Write => (writer, number, value) => delimited(writer, number, body, value)
export const each = (write: Write): Write => (writer, number, value) => {
  const items = value as unknown[] // every caller hands over a list of the document
  for (let index = items.length - 1; index >= 0; index--) write(writer, number, items[index])
}
export const many = (body: Body): Write => each(one(body))
export const texts = each(text)

/** For what stands in many places as one and the same object: its bytes are kept. */
export function kept (write: Write): Write {
  const known = new WeakMap<object, Uint8Array>()
  return (writer, number, value) => {
    const object = value as object // every caller hands over an object or list of the document
    const bytes = known.get(object)
    if (bytes !== undefined) return writer.bytes(bytes)
    const start = writer.length
    write(writer, number, value)
    known.set(object, Buffer.from(writer.finish().subarray(0, writer.length - start)))
  }
}

/** A message with a name in field 1 and a value in field 2. */
function pair (writer: Writer, number: number, name: string, body: Body, value: unknown): void {
  const start = writer.length
  delimited(writer, 2, body, value)
  text(writer, 1, name)
  writer.varint(writer.length - start)
  writer.varint(bytesTag(number))
}

/** A message that is known by the members of its JSON; `extensions` is the number its x- members go to. */
export function message (members: Readonly<Record<string, readonly [number, Write]>>, extensions?: number): Body {
  const order = Object.entries(members).map(([name, [number, write]]) => ({ name, number, write })).sort((a, b) => b.number - a.number)
  return (writer, value) => {
    const source = value as Plain // every caller hands over an object of the document
    if (extensions !== undefined) {
      const names = Object.keys(source)
      for (let index = names.length - 1; index >= 0; index--) {
        const name = names[index] as string // as it is within them
        if (name.startsWith('x-')) pair(writer, extensions, name, any, source[name])
      }
    }
    for (let index = 0; index < order.length; index++) {
      const { name, number, write } = order[index] as typeof order[number] // as above
      const member = source[name]
      if (member !== undefined) write(writer, number, member)
    }
  }
}

/** A map as a message with a list of pairs. */
export const pairs = (number: number, body: Body): Body => (writer, value) => {
  const map = value as Plain
  const names = Object.keys(map)
  for (let index = names.length - 1; index >= 0; index--) {
    const name = names[index] as string // as it is within them
    pair(writer, number, name, body, map[name])
  }
}

/** A message around one field. */
export const wrap = (number: number, body: Body): Body => (writer, value) => delimited(writer, number, body, value)

let last: unknown
let lastText = ''

/** YAML, for which JSON serves. Extensions come in pairs of one value. */
export const any: Body = (writer, value) => {
  if (value !== last) lastText = `${JSON.stringify(last = value)}\n`
  text(writer, 2, lastText)
}

/**
 * Encodes protobuf: fields by ascending number, non-pointer scalars and messages always written, maps by ascending key.
 * The writer works backwards, so everything here runs from last to first.
 */
import { Facts, type ScalarName, type Int64, type Message, type Plain, type TypeMembers } from '../../language/types.js'
import { ListMeta as ListMetaMessage, type ListMeta } from '../../meta/object.js'
import { sortedKeys } from '../json/escape.js'
import { wireTypeOf, planOf, alternativeOf, type PlannedField, type Plan } from '../../language/plan.js'
import type { Representation } from '../../resource.js'
import { Scratch, Writer, bytesTag } from './wire.js'

const NOTHING: Plain = Object.freeze({})
export const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00])

/** The message without an envelope, such as a list item. @throws TypeError for a type without a protobuf form */
export function encodeMessage<T> (message: Message<T>, object: T & object): Buffer {
  const writer = new Writer()
  writeBody(writer, message, object)
  return writer.finish()
}

/** Shared, as encoding is not reentrant. */
const scratch = new Scratch(64 * 1024)

/** With magic prefix and envelope; kind and apiVersion of the object take precedence over the message's. */
export function encodeProtobuf<T> (message: Message<T>, object: T & object): Buffer {
  return Buffer.from(encodeProtobufOnce(message, object))
}

/** The same in memory that the next call overwrites. */
function encodeProtobufOnce<T> (message: Message<T>, object: T & object): Buffer {
  const { type } = message[Facts]
  const { kind = type?.kind, apiVersion = type?.apiVersion } = object as Plain
  const writer = scratch.take()
  return envelope(writer, String(apiVersion ?? ''), String(kind ?? ''), () => writeBody(writer, message, object))
}

/** A message that is there already in its envelope. */
export function envelopeOf ({ apiVersion, kind }: TypeMembers, message: Uint8Array): Buffer {
  const writer = new Writer(message.length + ENVELOPE_BYTES)
  return envelope(writer, apiVersion, kind, () => { writer.bytes(message) })
}

/** Of most types. */
const ENVELOPE_BYTES = 96

/** The last fields of an envelope: empty contentEncoding and contentType. */
const TAIL = Buffer.from([bytesTag(3), 0, bytesTag(4), 0])

/** What is before and after the items of a list. @param size bytes of all items, as `writeItem` writes them */
export function protobufListEnds (
  { apiVersion, listKind }: Pick<Representation, 'apiVersion' | 'listKind'>, metadata: ListMeta, size: number
): { readonly head: Buffer, readonly tail: Buffer } {
  const writer = new Writer()
  nested(writer, 1, encodeMessage(ListMetaMessage, metadata))
  writer.varint(writer.length + size)
  writer.varint(bytesTag(2))
  writeType(writer, apiVersion, listKind)
  return { head: writer.finish(), tail: TAIL }
}

/** Bytes of an item of a list, from `encodeMessage`. */
export const sizeOfItem = ({ length }: Uint8Array): number => 1 + sizeOfVarint(length) + length

/** @returns where it ends */
export function writeItem (into: Uint8Array, at: number, item: Uint8Array): number {
  into[at++] = bytesTag(2)
  at = writeVarint(into, at, item.length)
  into.set(item, at)
  return at + item.length
}

function writeVarint (into: Uint8Array, at: number, value: number): number {
  let rest = value
  for (; rest > 127; rest >>>= 7) into[at++] = rest & 127 | 128
  into[at++] = rest
  return at
}

function sizeOfVarint (value: number): number {
  let size = 1
  for (let rest = value >>> 7; rest !== 0; rest >>>= 7) size++
  return size
}

/**
 * One frame of a protobuf watch: a four-byte length and a WatchEvent. The event has no envelope; the object in it does
 * (from `encodeProtobuf`).
 */
export function protobufWatchFrame (type: string, object: Uint8Array): Buffer {
  const writer = new Writer(object.length + 64)
  const start = writer.length
  nested(writer, 1, object)
  writer.varint(writer.length - start)
  writer.varint(bytesTag(2))
  writer.string(type)
  writer.varint(bytesTag(1))
  const prefix = Buffer.allocUnsafe(4)
  prefix.writeUInt32BE(writer.length)
  writer.bytes(prefix)
  return writer.finish()
}

const FRAME_PREFIX = 4
const NO_BYTES = new Uint8Array(0)
/** Of bytes before those of a member that is empty: its length, and in an envelope what follows it. */
const EMPTY_RAW = 3

/** As `protobufWatchFrame` of `envelopeOf`, written at once into memory of the caller. */
export function protobufWatchFrames (type: string, typeMeta: TypeMembers) {
  const before = protobufWatchFrame(type, NO_BYTES).subarray(FRAME_PREFIX, -EMPTY_RAW)
  const header = envelopeOf(typeMeta, NO_BYTES).subarray(0, -1 - TAIL.length)
  const sizeOfEnvelope = (message: number): number => header.length + sizeOfVarint(message) + message + TAIL.length
  const sizeOfRaw = (envelope: number): number => 1 + sizeOfVarint(envelope) + envelope
  const sizeOf = (raw: number): number => FRAME_PREFIX + before.length + sizeOfVarint(raw) + raw
  return {
    size: ({ length }: Uint8Array): number => sizeOf(sizeOfRaw(sizeOfEnvelope(length))),
    /** @returns where it ends */
    write (into: Buffer, at: number, message: Uint8Array): number {
      const envelope = sizeOfEnvelope(message.length)
      const raw = sizeOfRaw(envelope)
      at = into.writeUInt32BE(sizeOf(raw) - FRAME_PREFIX, at)
      into.set(before, at)
      at = writeVarint(into, at + before.length, raw)
      into[at++] = bytesTag(1)
      at = writeVarint(into, at, envelope)
      into.set(header, at)
      at = writeVarint(into, at + header.length, message.length)
      into.set(message, at)
      into.set(TAIL, at + message.length)
      return at + message.length + TAIL.length
    }
  }
}

function envelope (writer: Writer, apiVersion: string, kind: string, writeRaw: () => void): Buffer {
  writer.bytes(TAIL)
  const raw = writer.length
  writeRaw()
  writer.varint(writer.length - raw)
  writer.varint(bytesTag(2))
  writeType(writer, apiVersion, kind)
  return writer.finish()
}

/** The start of an envelope: magic prefix and typeMeta. */
function writeType (writer: Writer, apiVersion: string, kind: string): void {
  const start = writer.length
  writer.string(kind)
  writer.varint(bytesTag(2))
  writer.string(apiVersion)
  writer.varint(bytesTag(1))
  writer.varint(writer.length - start)
  writer.varint(bytesTag(1))
  writer.bytes(MAGIC)
}

function nested (writer: Writer, number: number, body: Uint8Array | undefined): void {
  if (body === undefined) return
  writer.bytes(body)
  writer.varint(body.length)
  writer.varint(bytesTag(number))
}

export function writeBody (writer: Writer, message: Message, object: unknown): void {
  const { name, protobuf, special, alternatives } = message[Facts]
  if (!protobuf) throw new TypeError(`${name} has no protobuf form`)
  if (special !== undefined) writer.bytes(special.toProtobuf(object))
  else if (alternatives !== undefined) write(writer, planOf(message), asChosen(planOf(message), object))
  else write(writer, planOf(message), object as Plain) // read by field name
}

function write (writer: Writer, plan: Plan, object: Plain): void {
  for (const field of plan.descending) {
    writeField(writer, field, field.shape === 'inline' ? object : object[field.name])
  }
}

/** All that a message has of a field, with tags. */
export function writeField (writer: Writer, field: PlannedField, value: unknown): void {
  const unset = value === undefined || value === null
  switch (field.shape) {
    case 'list':
      if (unset) return
      for (let items = value as readonly unknown[], index = items.length - 1; index >= 0; index--) {
        writeValue(writer, field, items[index])
        writer.varint(field.tag)
      }
      return
    case 'map':
      if (!unset) writeMap(writer, field, value as Plain)
      return
    default:
      if (unset && (field.pointer || field.scalar === 'bytes' || field.special?.nullable)) return
      writeValue(writer, field, value)
      writer.varint(field.tag)
  }
}

function writeMap (writer: Writer, field: PlannedField, map: Plain): void {
  const keys = sortedKeys(map)
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] ?? ''
    const start = writer.length
    writeValue(writer, field, map[key])
    writer.varint(2 << 3 | (field.scalar === undefined ? 2 : wireTypeOf(field.scalar)))
    writer.string(key)
    writer.varint(bytesTag(1))
    writer.varint(writer.length - start)
    writer.varint(field.tag)
  }
}

/** A value with its length if it has one, without its tag. */
export function writeValue (writer: Writer, field: PlannedField, value: unknown): void {
  if (field.scalar !== undefined) {
    writeScalar(writer, field.scalar, value ?? field.zero)
    return
  }
  const start = writer.length
  if (field.special !== undefined) writer.bytes(field.special.toProtobuf(value ?? undefined))
  else write(writer, field.plan, field.alternatives ? asChosen(field.plan, value) : (value ?? NOTHING) as Plain)
  writer.varint(writer.length - start)
}

/** A union's value as its protobuf message. */
function asChosen (plan: Plan, value: unknown): Plain {
  const chosen = alternativeOf(plan, value)
  return chosen === undefined ? NOTHING : { ...plan.message.alternatives?.beside, [chosen.name]: value }
}

function writeScalar (writer: Writer, scalar: ScalarName, value: unknown): void {
  // Values match their declarations. A server bug would show as a TypeError from Buffer, or as 0.
  switch (scalar) {
    case 'string': writer.string(value as string); break
    case 'bool': writer.varint(value === true ? 1 : 0); break
    case 'bytes': {
      const bytes = Buffer.from(value as string, 'base64')
      writer.bytes(bytes)
      writer.varint(bytes.length)
      break
    }
    case 'double': writer.double(value as number); break
    default: writer.integer(value as Int64)
  }
}

/**
 * Decodes protobuf. Unknown fields are skipped; truncated, overlong, mistyped or too deeply nested input is a
 * DecodeError. The result is canonical, as from JSON: see declare.ts.
 */
import { Facts, type ScalarName, type Message, type Plain } from '../../language/types.js'
import { DecodeError, DocumentError } from '../../language/decode-error.js'
import { decode, checkType, type Decoded } from '../../language/decode.js'
import { MAX_ENTRIES, MAX_VALUES } from '../../limits.js'
import { MAX_DEPTH, UNBOUNDED, parseInSteps, tooManyEntries, tooManyValues, type ValueBounds } from '../json/parse.js'
import { finish, type Steps } from '../../steps.js'
import { wireTypeOf, fillRequired, planOf, type PlannedField, type Plan } from '../../language/plan.js'
import { MAGIC } from './encode.js'
import { BYTES, Reader, bytesTag } from './wire.js'

export interface Envelope {
  readonly apiVersion: string
  readonly kind: string
  /** A view of the input. */
  readonly raw: Uint8Array
  readonly contentEncoding: string
  /** Empty for protobuf. */
  readonly contentType: string
}

/** @throws DecodeError without the magic prefix or for a malformed envelope */
export function openEnvelope (bytes: Uint8Array): Envelope {
  if (bytes.length < MAGIC.length || MAGIC.compare(bytes, 0, MAGIC.length) !== 0) {
    throw new DocumentError('does not begin with the bytes 6b 38 73 00 that mark the protobuf form of an object')
  }
  const reader = new Reader(bytes.subarray(MAGIC.length))
  const { end } = reader
  const envelope: { -readonly [K in keyof Envelope]: Envelope[K] } = {
    apiVersion: '', kind: '', raw: new Uint8Array(0), contentEncoding: '', contentType: ''
  }
  while (reader.at < end) {
    const tag = reader.varint(end)
    switch (tag) {
      case bytesTag(1): {
        const limit = reader.limit(end)
        while (reader.at < limit) {
          const inner = reader.varint(limit)
          if (inner === bytesTag(1)) envelope.apiVersion = reader.string(limit)
          else if (inner === bytesTag(2)) envelope.kind = reader.string(limit)
          else reader.skip(inner & 7, limit)
        }
        break
      }
      case bytesTag(2): envelope.raw = reader.bytes(end); break
      case bytesTag(3): envelope.contentEncoding = reader.string(end); break
      case bytesTag(4): envelope.contentType = reader.string(end); break
      default: reader.skip(tag & 7, end)
    }
  }
  return envelope
}

/** A step takes a millisecond or two for as many bytes. */
const STEP_BYTES = 64 * 1024
/** Bounds fields per value: a singular field may be repeated at two bytes each, and the last one counts. */
const FIELDS_PER_VALUE = 5

/** `unknown` and `duplicates` are empty unless the envelope contains JSON. */
export interface DecodedProtobuf<T> extends Decoded<T> { readonly duplicates: string[] }

/** How the sender of a body names what is in it. */
export interface BodyNames {
  /** The own name of a group, or `GROUP/VERSION`. */
  readonly group: (sent: string) => string
  /** By whose members JSON is read. */
  readonly message: <T>(own: Message<T>) => Message<T>
  /** What has been read, under own names, in place. */
  readonly value: <T>(message: Message, object: T) => T
}

const OWN_NAMES: BodyNames = { group: sent => sent, message: own => own, value: (_message, object) => object }

/**
 * Opens the envelope and decodes its content as `message`, checking kind and apiVersion as `decode` does.
 * @param most bounds for request bodies; stored objects have none
 * @param names of a body
 */
export function decodeProtobuf<T> (
  message: Message<T>, bytes: Uint8Array, most = UNBOUNDED, names = OWN_NAMES
): DecodedProtobuf<T> {
  return finish(protobufInSteps(message, bytes, most, names))
}

/** The same, of a large body. */
export function * protobufInSteps<T> (
  message: Message<T>, bytes: Uint8Array, most: ValueBounds, names: BodyNames = OWN_NAMES
): Steps<DecodedProtobuf<T>> {
  const { apiVersion: sent, kind, raw, contentEncoding, contentType } = openEnvelope(bytes)
  const apiVersion = names.group(sent)
  if (contentEncoding !== '') {
    throw new DecodeError(
      `the envelope says contentEncoding ${JSON.stringify(contentEncoding.slice(0, 100))}, which is not supported`
    )
  }
  if (contentType === 'application/json') {
    const { value, duplicates } = yield * parseInSteps(raw, most)
    return { ...decode(names.message(message), names.value(message, value), most), duplicates }
  }
  if (contentType !== '' && !/^application\/vnd\.(?:orch|kubernetes)\.protobuf$/.test(contentType)) {
    throw new DecodeError(
      `the envelope says contentType ${JSON.stringify(contentType.slice(0, 100))}, which is not supported`
    )
  }
  const type = checkType(message, apiVersion, kind) // whose apiVersion is ours already
  const decoded = yield * messageInSteps(message, raw, undefined, most)
  yield
  const object = { ...type, ...names.value(message, decoded) }
  return { object, unknown: [], duplicates: [] }
}

/** Decodes a message without an envelope. `type` is the kind and apiVersion of the result. */
export function decodeMessage<T> (
  message: Message<T>, bytes: Uint8Array, type?: Plain, most: ValueBounds = UNBOUNDED
): T {
  return finish(messageInSteps(message, bytes, type, most))
}

function * messageInSteps<T> (
  message: Message<T>, bytes: Uint8Array, type: Plain | undefined, most: ValueBounds
): Steps<T> {
  const { name, protobuf, special, alternatives, type: kind } = message[Facts]
  if (!protobuf) throw new DecodeError(`${kind?.kind ?? name} has no protobuf form`)
  const reader = new Reader(bytes)
  reader.entriesLeft = most.entries
  reader.valuesLeft = most.values
  reader.fieldsLeft = most.values * FIELDS_PER_VALUE
  const object = special === undefined
    ? yield * readInSteps(reader, reader.end, planOf(message), type ?? {})
    : special.fromProtobuf(bytes, reader)
  // decoded by the declaration of T
  return (alternatives === undefined ? object : chosenOf(planOf(message), object as Plain)) as T
}

/* eslint-disable @typescript-eslint/max-params -- called for each field: an object for arguments would cost too much */
/** As `read`, in steps of a part of the bytes each, between the members of messages that are large. */
function * readInSteps (reader: Reader, end: number, plan: Plan, object: Plain): Steps<Plain> {
  while (end - reader.at > STEP_BYTES) {
    const stepEnd = reader.at + STEP_BYTES
    while (reader.at < stepEnd) {
      const before = reader.at
      const field = plan.byNumber.get(reader.varint(end) >>> 3)
      const length = field === undefined || !isMessage(field) ? 0 : reader.limit(end) - reader.at
      if (field !== undefined && length > STEP_BYTES) {
        if (--reader.fieldsLeft < 0 || --reader.valuesLeft < 0) throw tooManyValues(MAX_VALUES)
        object[field.name] = yield * readInSteps(reader, reader.at + length, field.plan, {})
      } else {
        reader.at = before
        readMember(reader, end, plan, object, 0)
      }
    }
    yield
  }
  return read(reader, end, plan, object, 0)
}

const isMessage = ({ shape, tag, scalar, special, alternatives }: PlannedField): boolean =>
  shape === 'one' && (tag & 7) === BYTES && scalar === undefined && special === undefined && !alternatives

function read (reader: Reader, end: number, plan: Plan, object: Plain, depth: number): Plain {
  if (depth > MAX_DEPTH) throw new DecodeError('the protobuf message nests too deeply')
  while (reader.at < end) readMember(reader, end, plan, object, depth)
  return fillRequired(plan, object)
}

function readMember (reader: Reader, end: number, plan: Plan, object: Plain, depth: number): void {
  const tag = reader.varint(end)
  const field = plan.byNumber.get(tag >>> 3)
  if (field !== undefined && tag >= 8) readField(reader, end, field, tag & 7, object, depth)
  else if (tag < 8) throw new DecodeError('the protobuf message holds a field of number 0')
  else reader.skip(tag & 7, end)
}

function readField (
  reader: Reader, end: number, field: PlannedField, wireType: number, object: Plain, depth: number
): void {
  if (--reader.fieldsLeft < 0) throw tooManyValues(MAX_VALUES)
  if (field.shape !== 'one' || field.scalar === undefined) {
    if (--reader.valuesLeft < 0) throw tooManyValues(MAX_VALUES)
    if (field.keyed && --reader.entriesLeft < 0) throw tooManyEntries(MAX_ENTRIES)
  }
  const packed = field.shape === 'list' && wireType === BYTES && (field.tag & 7) !== BYTES
  if (wireType !== (field.tag & 7) && !packed) {
    throw new DecodeError(`the protobuf message holds field ${field.number} (${field.name}) with the wire type ` +
      `${wireType}, not ${field.tag & 7}`)
  }
  switch (field.shape) {
    case 'inline': read(reader, reader.limit(end), field.plan, object, depth + 1); return
    case 'list': {
      const items = (object[field.name] ??= []) as unknown[] // set only here
      if (packed) {
        for (const limit = reader
          .limit(end); reader.at < limit;) items.push(readValue(reader, limit, field, depth))
      } else items.push(readValue(reader, end, field, depth))
      return
    }
    case 'map': {
      // No prototype: any key is data.
      const map = (object[field.name] ??= Object.create(null)) as Plain
      readEntry(reader, reader.limit(end), field, map, depth)
      return
    }
    default: {
      const value = readValue(reader, end, field, depth)
      if (value === undefined || (value === field.zero && !field.pointer && !field.required)) delete object[field.name]
      else object[field.name] = value
    }
  }
}

function readEntry (reader: Reader, end: number, field: PlannedField, map: Plain, depth: number): void {
  const valueTag = 2 << 3 | (field.scalar === undefined ? BYTES : wireTypeOf(field.scalar))
  let key = ''
  let value: unknown
  while (reader.at < end) {
    const tag = reader.varint(end)
    if (tag === bytesTag(1)) key = reader.string(end)
    else if (tag === valueTag) value = readValue(reader, end, field, depth)
    else reader.skip(tag & 7, end)
  }
  map[key] = value ?? (field.scalar === undefined && field.special === undefined && !field.alternatives
    ? fillRequired(field.plan, {})
    : field.zero)
}

/* eslint-enable @typescript-eslint/max-params */

function readValue (reader: Reader, end: number, field: PlannedField, depth: number): unknown {
  if (field.scalar !== undefined) return readScalar(reader, end, field.scalar)
  if (field.special !== undefined) return field.special.fromProtobuf(reader.bytes(end), reader)
  const object = read(reader, reader.limit(end), field.plan, {}, depth + 1)
  return field.alternatives ? chosenOf(field.plan, object) : object
}

/** The value of a union in memory. If several fields are set, a list wins over an object, and that over a boolean. */
function chosenOf ({ fields }: Plan, object: Plain): unknown {
  const rank = ({ shape, scalar }: PlannedField): number => shape === 'list' ? 0 : scalar === undefined ? 1 : 2
  const chosen = [...fields].sort((one, other) => rank(one) - rank(other))
    .find(({ name }) => object[name] !== undefined)
  return chosen === undefined
    ? fields.find(({ scalar, shape }) => scalar !== undefined && shape === 'one')?.zero
    : object[chosen.name]
}

function readScalar (reader: Reader, end: number, scalar: ScalarName): unknown {
  switch (scalar) {
    case 'string': return reader.string(end)
    case 'bool': return reader.bool(end)
    case 'bytes': return reader.bytes(end).toString('base64')
    case 'int32': return reader.integer(end, 32)
    case 'int64': return reader.int64(end)
    case 'double': return reader.double(end)
  }
}

/**
 * Protobuf of the JSON of an object, without making the object: the bytes that `encodeMessage` makes of it, at less
 * than half the cost. Benchmark: `npm run bench -- forms`, 'LIST pods, protobuf, own names': the first of them takes
 * twice as much for each pod without. Works on a tape of the text, from last to first as the writer does.
 */
import { hashOf, Tape } from '../json/tape.js'
import { namedMembers } from '../json/renamed-keys.js'
import type { Renamed, RenamedKeys, Renaming, Signs } from '../renaming.js'
import { planOf, wireTypeOf, type Plan, type PlannedField } from '../../language/plan.js'
import { oncePer } from '../../once-per.js'
import { Facts, type Message } from '../../language/types.js'
import { finish } from '../../steps.js'
import { writeBody, writeField, writeValue } from './encode.js'
import { BYTES, bytesTag, Scratch, type Writer } from './wire.js'

const [TRUE, MINUS, ZERO] = [0x74, 0x2d, 0x30]
/** Digits that fit into 32 bits, whatever they are. */
const FEW_DIGITS = 9
/** Of a member that is not there; the token of the whole object is no member. */
const ABSENT = 0

/* Shared, as transcoding is not reentrant. */
const tape = new Tape()
const scratch = new Scratch(64 * 1024)
let stack = new Int32Array(1024)
let top = 0
let signs: Signs | undefined

/** What has a way of its own from text to protobuf; the rest is made and encoded as values are. */
enum Way { Text, Bool, Integer, WrappedText, WrappedJson, Message, Value }

function wayOf ({ scalar, special, alternatives }: PlannedField): Way {
  if (scalar === 'string') return Way.Text
  if (scalar === 'bool') return Way.Bool
  if (scalar === 'int32' || scalar === 'int64') return Way.Integer
  if (special?.wraps !== undefined) return special.wraps === 'json' ? Way.WrappedJson : Way.WrappedText
  return scalar === undefined && special === undefined && !alternatives ? Way.Message : Way.Value
}

interface Member {
  readonly field: PlannedField
  readonly way: Way
  /** Nothing is written of an unset one. */
  readonly isOmitted: boolean
  /** Its index in JSON order. */
  readonly index: number
  readonly renamed: Renamed | undefined
  /** Of a nested message, at first use. */
  layout: Layout | undefined
}

/** A plan as this needs it. */
interface Layout {
  readonly plan: Plan
  readonly hashes: Int32Array
  readonly lengths: Int32Array
  readonly descending: readonly Member[]
}

function layoutFor (plan: Plan, renaming?: Renaming): Layout {
  return {
    plan,
    hashes: Int32Array.from(plan.fields, ({ name }) => hashOf(name)),
    lengths: Int32Array.from(plan.fields, ({ name }) => name.length),
    descending: plan.descending.map(field => ({
      field,
      way: wayOf(field),
      isOmitted: field.shape === 'list' || field.shape === 'map' || field.pointer || field.scalar === 'bytes' ||
        field.special?.nullable === true,
      index: plan.fields.indexOf(field),
      renamed: field.shape === 'inline'
        ? renaming && { kind: 'objects', renaming, inMap: false }
        : renaming?.member(field.name),
      layout: undefined
    }))
  }
}

const plainLayout = oncePer((plan: Plan) => layoutFor(plan))
const renamedLayout = oncePer((renaming: Renaming) => oncePer((plan: Plan) => layoutFor(plan, renaming)))

const layoutOf = (plan: Plan, renaming: Renaming | undefined): Layout =>
  renaming === undefined ? plainLayout(plan) : renamedLayout(renaming)(plan)

/**
 * The message without an envelope, in memory that the next call overwrites.
 * @param json as this server writes objects of the message
 * @throws TypeError for a type without a protobuf form
 */
export function transcodeOnce (message: Message, json: Buffer, renaming?: Renaming): Buffer {
  tape.read(json)
  const writer = scratch.take()
  const { name, protobuf, special, alternatives } = message[Facts]
  if (!protobuf) throw new TypeError(`${name} has no protobuf form`)
  if (special !== undefined || alternatives !== undefined) {
    writeBody(writer, message, tape.value(0))
    return writer.finish()
  }
  signs = renaming?.signsIn(json)
  top = 0
  const plan = planOf(message)
  write(writer, signs === undefined || signs.none ? plainLayout(plan) : layoutOf(plan, renaming), 0)
  return writer.finish()
}

/** Room for as many numbers on the stack. @returns the first */
function reserve (count: number): number {
  const base = top
  top += count
  if (top > stack.length) {
    const longer = new Int32Array(top * 2)
    longer.set(stack)
    stack = longer
  }
  return base
}

function write (writer: Writer, layout: Layout, object: number): void {
  const { hashes, lengths, descending } = layout
  const count = hashes.length
  const base = reserve(count)
  for (let at = base; at < top; at++) stack[at] = ABSENT
  const { notes, starts, ends } = tape
  const stop = notes[object] as number
  let index = 0
  for (let key = object + 1; key < stop; key = tape.after(key + 1)) {
    const hash = notes[key]
    const length = (ends[key] as number) - (starts[key] as number)
    // Members come in the order of the plan, mostly.
    for (let tried = 0; tried < count; tried++) {
      const isIt = hashes[index] === hash && lengths[index] === length
      if (isIt && !tape.isNull(key + 1)) stack[base + index] = key + 1
      if (++index === count) index = 0
      if (isIt) break
    }
  }
  for (const member of descending) {
    const { shape } = member.field
    if (shape === 'inline') {
      writeTagged(writer, member, object)
      continue
    }
    const value = stack[base + member.index] as number
    if (value === ABSENT) {
      if (!member.isOmitted) writeField(writer, member.field, undefined)
    } else if (member.renamed?.kind === 'value' && isConcerned(value)) {
      writeField(writer, member.field, member.renamed.of(tape.value(value)))
    } else if (member.renamed?.kind === 'keys' && isConcerned(value)) {
      writeNamedMap(writer, member, value, member.renamed)
    } else if (shape === 'list') writeList(writer, member, value)
    else if (shape === 'map') writeMap(writer, member, value)
    else writeTagged(writer, member, value)
  }
  top = base
}

const isConcerned = (value: number): boolean =>
  signs?.between(tape.starts[value] as number, tape.ends[value] as number) === true

function writeTagged (writer: Writer, member: Member, value: number): void {
  writeOne(writer, member, value)
  writer.varint(member.field.tag)
}

function push (token: number): void {
  const at = reserve(1) // may replace the stack
  stack[at] = token
}

function writeList (writer: Writer, member: Member, list: number): void {
  const base = top
  for (let item = list + 1, stop = tape.notes[list] as number; item < stop; item = tape.after(item)) push(item)
  for (let at = top - 1; at >= base; at--) writeTagged(writer, member, stack[at] as number)
  top = base
}

function writeMap (writer: Writer, member: Member, map: number): void {
  const base = top
  for (let key = map + 1, stop = tape.notes[map] as number; key < stop; key = tape.after(key + 1)) push(key)
  for (let at = top - 1; at >= base; at--) {
    const key = stack[at] as number
    const start = writer.length
    writeOne(writer, member, key + 1)
    endEntry(writer, member, tape.key(key), start)
  }
  top = base
}

function writeNamedMap (writer: Writer, member: Member, map: number, renamed: RenamedKeys): void {
  const members = signs === undefined ? undefined : finish(namedMembers(tape, map, renamed, signs))
  if (members === undefined) return writeMap(writer, member, map)
  for (const { key, value, text } of members.reverse()) {
    const start = writer.length
    if (text === undefined) writeOne(writer, member, value)
    else writeValue(writer, member.field, text)
    endEntry(writer, member, key, start)
  }
}

/** Before the value of an entry, which is written from last to first. */
function endEntry (writer: Writer, { field: { tag, scalar } }: Member, key: string, start: number): void {
  writer.varint(2 << 3 | (scalar === undefined ? BYTES : wireTypeOf(scalar)))
  writer.string(key)
  writer.varint(bytesTag(1))
  writer.varint(writer.length - start)
  writer.varint(tag)
}

/** A value with its length if it has one, without its tag. */
function writeOne (writer: Writer, member: Member, value: number): void {
  const { bytes, starts, ends, notes } = tape
  const start = starts[value] as number
  const end = ends[value] as number
  switch (member.way) {
    case Way.Text:
      if (notes[value] !== 0 || !tape.isText(value)) break
      if (member.renamed?.kind === 'text' && isConcerned(value)) break
      writer.part(bytes, start, end)
      return
    case Way.Bool:
      writer.varint(bytes[start] === TRUE ? 1 : 0)
      return
    case Way.Integer: {
      if (end - start > FEW_DIGITS || bytes[start] === MINUS) break
      let number = 0
      for (let at = start; at < end; at++) number = number * 10 + (bytes[at] as number) - ZERO
      writer.varint(number)
      return
    }
    case Way.WrappedText: case Way.WrappedJson: {
      const isText = tape.isText(value)
      if (member.way === Way.WrappedJson ? tape.isNull(value) : notes[value] !== 0 || !isText) break
      const quotes = isText && member.way === Way.WrappedJson ? 1 : 0
      const before = writer.length
      writer.part(bytes, start - quotes, end + quotes)
      writer.varint(bytesTag(1))
      writer.varint(writer.length - before)
      return
    }
    case Way.Message: {
      if (!tape.isObject(value)) break
      const { field: { plan }, renamed } = member
      const before = writer.length
      write(writer, member.layout ??= layoutOf(plan, renamed?.kind === 'objects' ? renamed.renaming : undefined), value)
      writer.varint(writer.length - before)
      return
    }
  }
  writeValue(writer, member.field, renamedValue(member, value))
}

function renamedValue ({ renamed }: Member, token: number): unknown {
  const value = tape.value(token)
  return renamed?.kind === 'text' && typeof value === 'string' ? renamed.of(value) : value
}

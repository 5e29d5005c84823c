/**
 * Parses large JSON of other servers in steps, as JSON.parse cannot be interrupted: the text is divided between the
 * members of its lists and objects, and JSON.parse makes each piece. The result is that of JSON.parse.
 */
import { DocumentError } from '../../language/decode-error.js'
import { setMember } from '../../language/values.js'
import { MAX_MEMBERS, MAX_VALUES } from '../../limits.js'
import type { Steps } from '../../steps.js'
import { countValues, decodeText, MAX_DEPTH, tooManyEntries, tooManyValues, UNBOUNDED } from './parse.js'

/** A text of this many bytes takes a few milliseconds at most, whatever it holds. */
const PIECE = 16 * 1024

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x22, 0x5c, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d
]

/** A list or object that has begun. */
interface Open {
  readonly isList: boolean
  readonly start: number
  commas: number
  /** Where the members begin that are not made yet. */
  pending: number
  /** Where the last member begins. */
  member: number
  /** The last member was made by itself: a comma or the end must follow. */
  isMade: boolean
  /** Undefined while all of it may be made with what is around it. */
  made: Made | undefined
}

type Made = unknown[] | Record<string, unknown>

/**
 * @param most list items and object members in all
 * @throws DecodeError unless the bytes are JSON in UTF-8 within `MAX_DEPTH`, that number and `MAX_MEMBERS`
 */
export function * parseInPieces (bytes: Buffer, most = MAX_VALUES): Steps<unknown> {
  if (bytes.length <= PIECE) {
    countValues(bytes, { ...UNBOUNDED, values: most })
    return parsed(decodeText(bytes))
  }
  const open: Open[] = []
  let root: { readonly value: unknown, readonly end: number } | undefined
  let values = 0
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at]
    if (code === QUOTE) {
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (bytes[at + 1] !== CLOSE_LIST && bytes[at + 1] !== CLOSE_OBJECT && ++values > most) throw tooManyValues(most)
      if (open.length === MAX_DEPTH) throw new DocumentError(`nests more than ${MAX_DEPTH} levels deep`)
      if (open.length === 0) expectBlank(bytes, root?.end ?? 0, at)
      open.push({
        isList: code === OPEN_LIST, start: at, commas: 0, pending: at + 1, member: at + 1, isMade: false,
        made: undefined
      })
    } else if (code === COMMA) {
      if (++values > most) throw tooManyValues(most)
      const within = open.at(-1)
      if (within === undefined) continue
      if (++within.commas >= MAX_MEMBERS && !within.isList) throw tooManyEntries(MAX_MEMBERS)
      within.member = at + 1
      if (!within.isMade && at - within.pending < PIECE) continue
      if (within.isMade) expectBlank(bytes, within.pending, at)
      else makeMembers(within, bytes, at)
      Object.assign(within, { pending: at + 1, isMade: false })
      yield
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      const closed = open.pop()
      if (closed === undefined || closed.isList !== (code === CLOSE_LIST)) throw notJson()
      const around = open.at(-1)
      if (closed.made === undefined && around !== undefined && at - closed.start < PIECE) continue
      const value = whole(closed, bytes, at)
      if (around === undefined) root = { value, end: at + 1 }
      else {
        addMember(around, bytes, { value, start: closed.start })
        Object.assign(around, { pending: at + 1, isMade: true })
      }
      yield
    }
  }
  if (open.length > 0) throw notJson()
  if (root === undefined) return parsed(decodeText(bytes)) // neither list nor object
  expectBlank(bytes, root.end, bytes.length)
  return root.value
}

/** All of a list or object that ends at `to`. */
function whole (closed: Open, bytes: Buffer, to: number): unknown {
  const { made, start, pending, isMade } = closed
  if (made === undefined) return parsed(decodeText(bytes.subarray(start, to + 1)))
  if (isMade) expectBlank(bytes, pending, to)
  else if (isBlank(bytes, pending, to)) throw notJson() // after a comma
  else makeMembers(closed, bytes, to)
  return made
}

/** Makes the pending members, of which there is one at least, up to `to`. */
function makeMembers (within: Open, bytes: Buffer, to: number): void {
  const text = decodeText(bytes.subarray(within.pending, to))
  if (within.isList) {
    const added = parsed(`[${text}]`) as unknown[]
    if (added.length === 0) throw notJson()
    for (const value of added) (madeOf(within) as unknown[]).push(value)
    return
  }
  const added = Object.entries(parsed(`{${text}}`) as object)
  if (added.length === 0) throw notJson()
  for (const [name, value] of added) setMember(madeOf(within), name, value)
}

/** Adds a list or object that was made by itself. */
function addMember (within: Open, bytes: Buffer, { value, start }: { value: unknown, start: number }): void {
  if (within.isMade) throw notJson()
  if (within.member > within.pending) makeMembers(within, bytes, within.member - 1)
  const container = madeOf(within)
  if (Array.isArray(container)) {
    expectBlank(bytes, within.member, start)
    container.push(value)
    return
  }
  const [name] = Object.keys(parsed(`{${decodeText(bytes.subarray(within.member, start))}null}`) as object)
  if (name === undefined) throw notJson()
  setMember(container, name, value)
}

const madeOf = (within: Open): Made => within.made ??= within.isList ? [] : {}

const isBlank = (bytes: Buffer, from: number, to: number): boolean =>
  /^[\t\n\r ]*$/.test(bytes.toString('latin1', from, to))
function expectBlank (bytes: Buffer, from: number, to: number): void {
  if (!isBlank(bytes, from, to)) throw notJson()
}

function parsed (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw notJson(cause)
  }
}

const notJson = (cause?: unknown): DocumentError => new DocumentError('is not valid JSON', { cause })

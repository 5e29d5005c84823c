/**
 * Where the values of a JSON text are, found without making any of them: what is derived from stored bytes (protobuf,
 * other names, metadata, cells) visits the few that concern it and copies the rest. Only for compact JSON that this
 * server wrote.
 *
 * A tape has a token for each value and each key, in the order of the text; none for what is in `fieldsV1`, which is a
 * large part of many objects and always taken as a whole.
 */
import { parseExactly } from './exact.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const LETTER_N = 0x6e

/** A token needs two places: its key's and its own. */
const FIRST_TOKENS = 4096
const FIRST_DEPTH = 64

const longer = (before: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> => {
  const after = new Int32Array(before.length * 2)
  after.set(before)
  return after
}

export class Tape {
  bytes: Buffer = Buffer.alloc(0)
  /** First byte; of a string or key after its quote. */
  starts = new Int32Array(FIRST_TOKENS)
  /** The byte after the last one; of a string or key its quote. */
  ends = new Int32Array(FIRST_TOKENS)
  /** Of an object or list the token behind all that is in it; of a string whether it has escapes; of a key its hash. */
  notes = new Int32Array(FIRST_TOKENS)
  #open = new Int32Array(FIRST_DEPTH)

  /** The token behind a value and all that is in it. */
  after (value: number): number {
    const first = this.bytes[this.starts[value] as number]
    return (first === OPEN_OBJECT || first === OPEN_LIST) && !this.isText(value)
      ? this.notes[value] as number
      : value + 1
  }

  isText (value: number): boolean { return this.bytes[(this.starts[value] as number) - 1] === QUOTE }
  isNull (value: number): boolean {
    return this.bytes[this.starts[value] as number] === LETTER_N && !this.isText(value)
  }

  isObject (value: number): boolean {
    return this.bytes[this.starts[value] as number] === OPEN_OBJECT && !this.isText(value)
  }

  isList (value: number): boolean {
    return this.bytes[this.starts[value] as number] === OPEN_LIST && !this.isText(value)
  }

  /** The token of a member's value; -1 if the object has none of that name. */
  member (object: number, name: string): number {
    const hash = hashOf(name)
    for (let key = object + 1, stop = this.notes[object] as number; key < stop; key = this.after(key + 1)) {
      if (this.notes[key] === hash && this.key(key) === name) return key + 1
    }
    return -1
  }

  key (token: number): string {
    const text = this.#slice(token, 0)
    return text.includes('\\') ? JSON.parse(`"${text}"`) as string : text
  }

  /** The value itself, made. */
  value (token: number): unknown {
    if (!this.isText(token)) return parseExactly(this.json(token))
    return this.notes[token] === 0 ? this.#slice(token, 0) : JSON.parse(this.#slice(token, 1))
  }

  /** Its text, with the quotes of a string. A view. */
  json (token: number): Buffer {
    const quotes = this.isText(token) ? 1 : 0
    return this.bytes.subarray((this.starts[token] as number) - quotes, (this.ends[token] as number) + quotes)
  }

  #slice (token: number, beside: number): string {
    return this.bytes.toString('utf8', (this.starts[token] as number) - beside, (this.ends[token] as number) + beside)
  }

  /**
   * Finds the values of a text; what was found before is lost.
   * @throws TypeError if it is no compact JSON
   */
  read (bytes: Buffer): this {
    this.bytes = bytes
    const { length } = bytes
    let { starts, ends, notes } = this
    let [token, at, depth] = [0, 0, 0]
    let inObject = false
    for (;;) {
      if (token + 2 > starts.length) {
        starts = this.starts = longer(starts)
        ends = this.ends = longer(ends)
        notes = this.notes = longer(notes)
      }
      if (inObject) {
        if (bytes[at++] !== QUOTE) throw notCompact(at)
        let hash = 0
        starts[token] = at
        for (let code; at < length && (code = bytes[at] as number) !== QUOTE; at++) {
          if (code === BACKSLASH) at++
          hash = Math.imul(hash, 31) + code | 0
        }
        ends[token] = at
        notes[token++] = hash
        if (bytes[++at] !== COLON) throw notCompact(at)
        at++
      }
      const first = bytes[at] as number
      if (first === QUOTE) {
        let hasEscapes = 0
        starts[token] = ++at
        for (let code; at < length && (code = bytes[at] as number) !== QUOTE; at++) {
          if (code !== BACKSLASH) continue
          hasEscapes = 1
          at++
        }
        ends[token] = at++
        notes[token++] = hasEscapes
      } else if (first === OPEN_OBJECT && inObject && notes[token - 1] === FIELDS && isFieldSet(bytes, at)) {
        starts[token] = at
        const end = endOfObject(bytes, at)
        if (end === undefined) throw notCompact(at)
        ends[token] = at = end
        notes[token] = ++token
      } else if (first === OPEN_OBJECT || first === OPEN_LIST) {
        starts[token] = at++
        const next = bytes[at]
        if (next !== CLOSE_OBJECT && next !== CLOSE_LIST) {
          if (depth === this.#open.length) this.#open = longer(this.#open)
          this.#open[depth++] = token++
          inObject = first === OPEN_OBJECT
          continue
        }
        ends[token] = ++at
        notes[token] = ++token
      } else {
        starts[token] = at
        for (; at < length; at++) {
          const code = bytes[at]
          if (code === COMMA || code === CLOSE_OBJECT || code === CLOSE_LIST) break
        }
        ends[token++] = at
      }
      // A value has ended, and maybe those around it.
      let next = bytes[at++]
      while (depth > 0 && next !== COMMA) {
        if (next !== CLOSE_OBJECT && next !== CLOSE_LIST) throw notCompact(at)
        const opened = this.#open[--depth] as number
        ends[opened] = at
        notes[opened] = token
        next = bytes[at++]
      }
      if (depth === 0) return this
      inObject = bytes[starts[this.#open[depth - 1] as number] as number] === OPEN_OBJECT
    }
  }
}

/** The byte after an object that begins there; undefined if it does not end before `until`. */
export function endOfObject (bytes: Uint8Array, from: number, until = bytes.length): number | undefined {
  let depth = 0
  for (let at = from; at < until; at++) {
    const code = bytes[at]
    if (code === QUOTE) {
      for (at++; at < until && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
    } else if (code === OPEN_OBJECT) depth++
    else if (code === CLOSE_OBJECT && --depth === 0) return at + 1
  }
  return undefined
}

const notCompact = (at: number): TypeError => new TypeError(`the text is not compact JSON at byte ${at}`)

/** What a tape notes of a key of ASCII letters. */
export function hashOf (key: string): number {
  let hash = 0
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash, 31) + key.charCodeAt(at) | 0
  return hash
}

const FIELDS = hashOf('fieldsV1')
const DOT = 0x2e

/** Its first key is as long as a letter and a colon, or a dot: a schema may have a property of the same name. */
const isFieldSet = (bytes: Uint8Array, at: number): boolean =>
  bytes[at + 1] === QUOTE && (bytes[at + 3] === COLON || (bytes[at + 2] === DOT && bytes[at + 3] === QUOTE))

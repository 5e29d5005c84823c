/** The JSON of an object under other names: what holds none is copied, and no object is made but of what is renamed. */
import type { Renamed, Renaming, Signs } from '../renaming.js'
import { quote, rawJson } from './escape.js'
import { Tape } from './tape.js'

/* Shared, as renaming is not reentrant. */
const tape = new Tape()

interface Edit { readonly start: number, readonly end: number, readonly bytes: Buffer }

class Edits {
  readonly #signs: Signs
  readonly all: Edit[] = []

  constructor (signs: Signs) { this.#signs = signs }

  /** The members of the object. */
  members (object: number, renaming: Renaming): void {
    const { starts, ends, notes } = tape
    for (let key = object + 1, stop = notes[object] as number; key < stop; key = tape.after(key + 1)) {
      if (!this.#signs.between(starts[key] as number, ends[key + 1] as number)) continue
      const renamed = renaming.member(tape.key(key))
      if (renamed !== undefined) this.#value(key + 1, renamed)
    }
  }

  #value (value: number, renamed: Renamed): void {
    if (!this.#signs.between(tape.starts[value] as number, tape.ends[value] as number)) return
    if (renamed.kind === 'value') return this.#replace(value, rawJson(renamed.of(tape.value(value))))
    if (tape.isList(value)) {
      const stop = tape.notes[value] as number
      for (let item = value + 1; item < stop; item = tape.after(item)) this.#value(item, renamed)
    } else if (renamed.kind === 'text') {
      if (tape.isText(value)) this.#text(value, renamed.of)
    } else if (tape.isObject(value)) this.#objects(value, renamed)
  }

  #text (value: number, of: (text: string) => string): void {
    const text = tape.value(value) as string
    const other = of(text)
    if (other !== text) this.#replace(value, quote(other))
  }

  #objects (value: number, { renaming, inMap }: Renamed & { kind: 'objects' }): void {
    if (!inMap) return this.members(value, renaming)
    const stop = tape.notes[value] as number
    for (let key = value + 1; key < stop; key = tape.after(key + 1)) {
      if (tape.isObject(key + 1)) this.members(key + 1, renaming)
    }
  }

  #replace (value: number, json: string): void {
    const bytes = Buffer.from(json)
    const before = tape.json(value)
    if (bytes.equals(before)) return
    const start = (tape.starts[value] as number) - (tape.isText(value) ? 1 : 0)
    this.all.push({ start, end: start + before.length, bytes })
  }
}

/**
 * The same bytes if no name differs, otherwise bytes of their own.
 * @param json as this server writes objects of a message
 */
export function renamedJson (json: Buffer, renaming: Renaming): Buffer {
  const signs = renaming.signsIn(json)
  if (signs.none) return json
  tape.read(json)
  const edits = new Edits(signs)
  edits.members(0, renaming)
  if (edits.all.length === 0) return json
  let length = json.length
  for (const { start, end, bytes } of edits.all) length += bytes.length - (end - start)
  const made = Buffer.allocUnsafeSlow(length)
  let [from, to] = [0, 0]
  for (const { start, end, bytes } of edits.all) {
    to += json.copy(made, to, from, start)
    to += bytes.copy(made, to)
    from = end
  }
  json.copy(made, to, from)
  return made
}

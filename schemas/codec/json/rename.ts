/** The JSON of an object under other names: what holds none is copied, and no object is made but of what is renamed. */
import type { Renamed, RenamedKeys, Renaming, Signs } from '../renaming.js'
import { finish, type Steps } from '../../steps.js'
import { quote, rawJson } from './escape.js'
import { namedMembers } from './renamed-keys.js'
import { Tape } from './tape.js'

/* Shared, for what is renamed in one go. */
const shared = new Tape()
/** A step takes a millisecond or two for as many values. */
const STEP = 1024

interface Edit { readonly start: number, readonly end: number, readonly bytes: Buffer }

class Edits {
  readonly #signs: Signs
  readonly #tape: Tape
  #seen = 0
  readonly all: Edit[] = []

  constructor (tape: Tape, signs: Signs) {
    this.#tape = tape
    this.#signs = signs
  }

  /** The members of the object. */
  * members (object: number, renaming: Renaming): Steps<void> {
    const { starts, ends, notes } = this.#tape
    for (let key = object + 1, stop = notes[object] as number; key < stop; key = this.#tape.after(key + 1)) {
      if (!this.#signs.between(starts[key] as number, ends[key + 1] as number)) continue
      const renamed = renaming.member(this.#tape.key(key))
      if (renamed !== undefined) yield * this.#value(key + 1, renamed)
    }
  }

  * #value (value: number, renamed: Renamed): Steps<void> {
    const tape = this.#tape
    if (!this.#signs.between(tape.starts[value] as number, tape.ends[value] as number)) return
    if (++this.#seen % STEP === 0) yield
    if (renamed.kind === 'value') {
      const before = tape.value(value)
      yield
      const after = renamed.of(before)
      yield
      this.#replace(value, rawJson(after))
    } else if (renamed.kind === 'keys') {
      if (tape.isObject(value)) yield * this.#keys(value, renamed)
    } else if (tape.isList(value)) {
      const stop = tape.notes[value] as number
      for (let item = value + 1; item < stop; item = tape.after(item)) yield * this.#value(item, renamed)
    } else if (renamed.kind === 'text') {
      if (tape.isText(value)) this.#text(value, renamed.of)
    } else if (tape.isObject(value)) yield * this.#objects(value, renamed)
  }

  #text (value: number, of: (text: string) => string): void {
    const text = this.#tape.value(value) as string
    const other = of(text)
    if (other !== text) this.#replace(value, quote(other))
  }

  * #keys (map: number, renamed: RenamedKeys): Steps<void> {
    const members = yield * namedMembers(this.#tape, map, renamed, this.#signs)
    if (members === undefined) return
    let json = ''
    for (const { key, value, text } of members) {
      const shown = text === undefined ? this.#tape.json(value).toString() : quote(text)
      json += `${json === '' ? '' : ','}${quote(key)}:${shown}`
      if (++this.#seen % STEP === 0) yield
    }
    this.#replace(map, `{${json}}`)
  }

  * #objects (value: number, { renaming, inMap }: Renamed & { kind: 'objects' }): Steps<void> {
    if (!inMap) return yield * this.members(value, renaming)
    const tape = this.#tape
    const stop = tape.notes[value] as number
    for (let key = value + 1; key < stop; key = tape.after(key + 1)) {
      if (tape.isObject(key + 1)) yield * this.members(key + 1, renaming)
    }
  }

  #replace (value: number, json: string): void {
    const tape = this.#tape
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
export const renamedJson = (json: Buffer, renaming: Renaming): Buffer => finish(renamedInSteps(json, renaming, shared))

/** The same for a large object. */
export function * renamedInSteps (json: Buffer, renaming: Renaming, tape = new Tape()): Steps<Buffer> {
  const signs = renaming.signsIn(json)
  if (signs.none) return json
  yield
  tape.read(json)
  yield
  const edits = new Edits(tape, signs)
  yield * edits.members(0, renaming)
  if (edits.all.length === 0) return json
  let length = json.length
  for (const { start, end, bytes } of edits.all) length += bytes.length - (end - start)
  const renamedJson = Buffer.allocUnsafeSlow(length)
  let [from, to] = [0, 0]
  for (const { start, end, bytes } of edits.all) {
    to += json.copy(renamedJson, to, from, start)
    to += bytes.copy(renamedJson, to)
    from = end
  }
  json.copy(renamedJson, to, from)
  return renamedJson
}

/** Groups renamed in members of JSON that name one. Whatever else is text, in annotations and messages too, stays as it is. */
import { Transform, type TransformCallback } from 'node:stream'
import { DecodeError } from '../../schemas/public.js'
import { type Names, renamePath, renameText } from './names.js'

const NAME_A_GROUP = new Set(['apiGroup', 'apiGroups', 'apiVersion', 'group', 'groupVersion'])
/** Whose members are made up by users. */
const MADE_UP = new Set(['annotations', 'data', 'labels', 'matchLabels', 'nodeSelector', 'selector', 'stringData'])
const LONGEST = 256
const DEEPEST = 1_000
const BACKSLASH = '\\'

/** JSON on its way, however long: kept are a text that may still be a name, and the member that each open object or list is the value of. */
export class RenamedJson extends Transform {
  readonly #names: Names
  readonly #open: Array<{ readonly member: string, readonly list: boolean }> = []
  /** Whose value comes next; undefined where its name comes first. */
  #member: string | undefined = ''
  /** The text under way, as far as it was not passed on; undefined between texts. */
  #text: string | undefined
  /** A part of it was, as it is too long to be a name. */
  #passed = false
  #escaped = false

  constructor (names: Names) {
    super()
    this.#names = names
  }

  override _transform (chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    // Names are ASCII. Of other characters each byte is taken for one, so that none is cut in two.
    const piece = chunk.toString('latin1')
    let out = ''
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const char = piece[at]
      if (this.#text === undefined) {
        if (char !== '"') this.#between(char)
        else {
          out += piece.slice(from, at + 1)
          from = at + 1
          this.#text = ''
        }
      } else if (this.#escaped) this.#escaped = false
      else if (char === BACKSLASH) this.#escaped = true
      else if (char === '"') {
        const text = this.#text + piece.slice(from, at)
        out += this.#passed ? text + this.#ended('') : this.#ended(text)
        from = at
        this.#text = undefined
        this.#passed = false
      }
    }
    const rest = (this.#text ?? '') + piece.slice(from)
    const kept = this.#text !== undefined && !this.#passed && rest.length <= LONGEST
    if (!kept) out += rest
    if (this.#text !== undefined) {
      this.#text = kept ? rest : ''
      this.#passed = !kept
    }
    if (this.#open.length > DEEPEST) done(new DecodeError(`more than ${DEEPEST} objects and lists in each other`))
    else done(null, Buffer.from(out, 'latin1'))
  }

  override _flush (done: TransformCallback): void {
    done(null, Buffer.from(this.#text ?? '', 'latin1'))
  }

  #between (char: string | undefined): void {
    const top = this.#open.at(-1)
    if (char === '{' || char === '[') {
      this.#open.push({ member: this.#member ?? '', list: char === '[' })
      if (char === '{') this.#member = undefined
    } else if (char === '}' || char === ']') this.#member = this.#open.pop()?.member ?? ''
    else if (char === ',' && top?.list === false) this.#member = undefined
  }

  #ended (text: string): string {
    const parent = this.#open.at(-1)?.member ?? ''
    if (this.#member === undefined) {
      this.#member = text
      return parent === 'paths' ? renamePath(text, this.#names) : text
    }
    // Groups in discovery have their names as any object has.
    const names = (NAME_A_GROUP.has(this.#member) && !MADE_UP.has(parent)) || (this.#member === 'name' && (parent === '' || parent === 'groups'))
    return names ? renameText(text, this.#names) : text
  }
}

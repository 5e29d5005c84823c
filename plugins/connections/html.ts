/**
 * Rewrites links in HTML pages to lead through the proxy, as with Location headers. Works on the stream: buffers only
 * incomplete tags and changes only URLs; all other bytes pass unchanged.
 */
import { Transform, pipeline, type Readable, type TransformCallback } from 'node:stream'
import { constants, createDeflateRaw, createGunzip, createGzip, createInflateRaw } from 'node:zlib'
import { rewriteUrl, type Place } from './rewriting.js'

/** Attributes that contain URLs, by tag. */
const URLS: ReadonlyMap<string, ReadonlySet<string>> = new Map(Object.entries({
  a: 'href', applet: 'codebase', area: 'href', audio: 'src', base: 'href', blockquote: 'cite', body: 'background',
  button: 'formaction', command: 'icon', del: 'cite', embed: 'src',
  form: 'action', frame: 'longdesc src', head: 'profile', html: 'manifest', iframe: 'longdesc src',
  img: 'longdesc src usemap', input: 'src usemap formaction', ins: 'cite', link: 'href',
  object: 'classid codebase data usemap', q: 'cite', script: 'src', source: 'src', video: 'poster src'
}).map(([tag, names]) => [tag, new Set(names.split(' '))]))

/** Tags whose content is not HTML. */
const RAW = new Set(['iframe', 'noembed', 'noframes', 'script', 'style', 'textarea', 'title', 'xmp'])

/** Maximum characters of a buffered tag; a longer one passes unchanged. */
const MAX_TAG_LENGTH = 16 * 1024

const NAME = /^<([a-z][^\s/>]*)/i
/** The lookbehind anchors each match, so that the scan stays linear. */
const ATTRIBUTE = /(?<=[\s/"'])([^\s=/>"']+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/g

/** Length of the tag at the start of the text; 0 if incomplete. Quotes count only after an equals sign. */
function lengthOfTag (text: string): number {
  let quote = ''
  let before = ''
  for (let at = 1; at < text.length; at++) {
    const letter = text.charAt(at)
    if (quote !== '') {
      if (letter === quote) quote = ''
    } else if (letter === '>') return at + 1
    else if (before === '=' && (letter === '"' || letter === "'")) quote = letter
    if (letter > ' ') before = letter
  }
  return 0
}
const COMMENT = '<!--'
/** Comments, declarations, processing instructions and end tags, with their terminators. */
const ENDS: ReadonlyArray<readonly [start: string, end: string]> = [
  [COMMENT, '-->'], ['<!', '>'], ['<?', '>'], ['</', '>']
]

/**
 * The first place of a terminator, -1 if there is none. Only names have letters. Reads no further than that place: all
 * that is held may be tags of a few bytes.
 */
const positionOf = (end: string, text: string): number =>
  end.startsWith('</') ? text.search(new RegExp(end, 'i')) : text.indexOf(end)

class LinkRewriter extends Transform {
  readonly #place: Place
  /** One character per byte: relevant tags and URLs are ASCII in any encoding. */
  #held = ''
  /** Text passes unchanged up to this terminator. */
  #until = ''

  constructor (place: Place) {
    super()
    this.#place = place
  }

  override _transform (chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#held += chunk.toString('latin1')
    let out = ''
    for (let passed = this.#next(); passed !== undefined; passed = this.#next()) out += passed
    done(null, out === '' ? null : Buffer.from(out, 'latin1'))
  }

  override _flush (done: TransformCallback): void { done(null, Buffer.from(this.#held, 'latin1')) }

  /** Returns the next part to pass on, or undefined if more input is needed. */
  #next (): string | undefined {
    if (this.#held === '') return undefined
    if (this.#until !== '') return this.#passUntil(this.#until)
    const at = this.#held.indexOf('<')
    if (at !== 0) return this.#take(at < 0 ? this.#held.length : at)
    if (this.#held.length < COMMENT.length) return undefined
    const other = ENDS.find(([start]) => this.#held.startsWith(start))
    if (other !== undefined) {
      this.#until = other[1]
      return this.#take(other[0].length)
    }
    const name = NAME.exec(this.#held)?.[1]?.toLowerCase()
    if (name === undefined) return this.#take(1)
    const length = lengthOfTag(this.#held)
    if (length === 0) return this.#held.length > MAX_TAG_LENGTH ? this.#take(this.#held.length) : undefined
    if (RAW.has(name)) this.#until = `</${name}`
    return this.#rewritten(this.#take(length), name)
  }

  #take (length: number): string {
    const taken = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    return taken
  }

  #passUntil (end: string): string | undefined {
    const at = positionOf(end, this.#held)
    // The terminator may span two chunks.
    if (at < 0) return this.#held.length < end.length ? undefined : this.#take(this.#held.length - end.length + 1)
    this.#until = ''
    // The end tag itself is parsed as a tag.
    return end.startsWith('</') ? at === 0 ? this.#take(end.length) : this.#take(at) : this.#take(at + end.length)
  }

  #rewritten (tag: string, name: string): string {
    const urls = URLS.get(name)
    if (urls === undefined) return tag
    return tag.replace(ATTRIBUTE, (whole: string, attribute: string, is: string, value: string) => {
      if (!urls.has(attribute.toLowerCase())) return whole
      const quote = value.startsWith('"') || value.startsWith("'") ? value.charAt(0) : ''
      const url = quote === '' ? value : value.slice(1, -1)
      return `${attribute}${is}${quote}${rewriteUrl(url, this.#place)}${quote}`
    })
  }
}

/** Flushes compressed output with each chunk. */
const PACKING = { flush: constants.Z_SYNC_FLUSH }

/** Returns the page with rewritten links, or undefined for an unsupported encoding. */
export function rewriteLinks (page: Readable, encoding: string | undefined, place: Place): Readable | undefined {
  const rewriter = new LinkRewriter(place)
  const ended = (): void => {} // errors reach the reader of the last stream
  if (encoding === undefined || encoding === '') return pipeline(page, rewriter, ended)
  if (encoding === 'gzip') return pipeline(page, createGunzip(), rewriter, createGzip(PACKING), ended)
  if (encoding === 'deflate') return pipeline(page, createInflateRaw(), rewriter, createDeflateRaw(PACKING), ended)
  return undefined
}

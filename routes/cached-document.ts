/** A document that is built once and sent often: its bytes, its ETag and its compressed bytes. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { DocumentAnswer } from '../answers/answer.js'
import { acceptsGzip, LARGE_BYTES } from '../answers/heads.js'
import type { ServedRequest } from '../answers/request-context.js'
import { finish, type Steps } from '../schemas/steps.js'
import { byteRange } from './byte-range.js'

const compress = promisify(gzip)

export interface DocumentOptions {
  /** Of another form of the document, with which it shares its tag. */
  readonly hash?: string
  /** It is made again too often for the best compression, which takes several times as long. */
  readonly changesOften?: boolean
  /** When it was made, on the clock: it has that date, and may be read in ranges. */
  readonly modified?: number
}

const SECOND = 1000

/** Bytes hashed in a step: a fraction of a millisecond. */
const PIECE = 256 * 1024

/** What the tag of a large document is made of. */
export function * hashInSteps (bytes: Buffer): Steps<string> {
  const hash = createHash('sha512')
  for (let at = 0; at < bytes.length; at += PIECE) {
    hash.update(bytes.subarray(at, at + PIECE))
    yield
  }
  return hash.digest('hex').toUpperCase()
}

export class CachedDocument {
  readonly hash: string
  readonly #level: number
  /** In whole seconds, as dates of headers are. */
  readonly #modified: number | undefined
  #compressed: Promise<Buffer> | undefined

  constructor (readonly bytes: Buffer, { hash, changesOften = false, modified }: DocumentOptions = {}) {
    this.hash = hash ?? finish(hashInSteps(bytes))
    this.#level = changesOften ? constants.Z_BEST_SPEED : constants.Z_DEFAULT_COMPRESSION
    this.#modified = modified === undefined ? undefined : Math.floor(modified / SECOND) * SECOND
  }

  /** 304 if the client has it already. @param has whether If-None-Match says so, by default compared weakly */
  async answer (request: ServedRequest, type: string, has = isKnown): Promise<DocumentAnswer> {
    const etag = `"${this.hash}"`
    const { headers } = request
    const heads = { etag, vary: 'accept, accept-encoding', ...this.#dated() }
    const tags = headers['if-none-match']
    if (tags === undefined ? this.#isUnmodified(headers['if-modified-since']) : has(tags, etag)) {
      return { kind: 'document', code: 304, headers: heads, bytes: undefined }
    }
    const [condition] = [headers['if-range']].flat()
    const range = this.#isRanged(condition, etag) ? byteRange(headers.range, this.bytes.length) : undefined
    const typed = { ...heads, 'content-type': type }
    if (range !== undefined) {
      const { start, end } = range
      const ranged = { ...typed, 'content-range': `bytes ${start}-${end - 1}/${this.bytes.length}` }
      return { kind: 'document', code: 206, headers: ranged, bytes: this.bytes.subarray(start, end) }
    }
    if (this.bytes.length < LARGE_BYTES || !acceptsGzip(request)) {
      return { kind: 'document', code: 200, headers: typed, bytes: this.bytes }
    }
    this.#compressed ??= compress(this.bytes, { level: this.#level })
    const encoded = { ...typed, 'content-encoding': 'gzip' }
    return { kind: 'document', code: 200, headers: encoded, bytes: await this.#compressed }
  }

  #dated (): Record<string, string> {
    return this.#modified === undefined
      ? {}
      : { 'last-modified': new Date(this.#modified).toUTCString(), 'accept-ranges': 'bytes' }
  }

  #isUnmodified (since: string | undefined): boolean {
    return this.#modified !== undefined && since !== undefined && Date.parse(since) >= this.#modified
  }

  /** Whether ranges of the document that the client means are those of this one. */
  #isRanged (condition: string | undefined, etag: string): boolean {
    return this.#modified !== undefined &&
      (condition === undefined || condition === etag || Date.parse(condition) === this.#modified)
  }
}

/** Whether If-None-Match, which compares weakly, contains the tag. */
function isKnown (header: string | undefined, etag: string): boolean {
  return header !== undefined &&
    header.split(',').some(tag => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}

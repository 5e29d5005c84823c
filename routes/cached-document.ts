/** A document that is built once and sent often: its bytes, its ETag and its compressed bytes. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { acceptsGzip, LARGE_BYTES } from '../answers/heads.js'
import type { ServedRequest } from '../answers/request-context.js'

const compress = promisify(gzip)

export interface DocumentOptions {
  /** Of another form of the document, with which it shares its tag. */
  readonly hash?: string
  /** It is made again too often for the best compression, which takes several times as long. */
  readonly changesOften?: boolean
}

export class CachedDocument {
  readonly hash: string
  readonly #level: number
  #compressed: Promise<Buffer> | undefined

  constructor (readonly bytes: Buffer, { hash, changesOften = false }: DocumentOptions = {}) {
    this.hash = hash ?? createHash('sha512').update(bytes).digest('hex').toUpperCase()
    this.#level = changesOften ? constants.Z_BEST_SPEED : constants.Z_DEFAULT_COMPRESSION
  }

  /** Sends 304 if the client has it already. @param has whether If-None-Match says so, by default compared weakly */
  async send (
    request: ServedRequest, reply: FastifyReply, type: string, has = isKnown
  ): Promise<FastifyReply> {
    const etag = `"${this.hash}"`
    reply.headers({ etag, vary: 'accept, accept-encoding' })
    if (has(request.headers['if-none-match'], etag)) return reply.code(304).send()
    reply.header('content-type', type)
    if (this.bytes.length < LARGE_BYTES || !acceptsGzip(request)) return reply.send(this.bytes)
    this.#compressed ??= compress(this.bytes, { level: this.#level })
    return reply.header('content-encoding', 'gzip').send(await this.#compressed)
  }
}

/** Whether If-None-Match, which compares weakly, contains the tag. */
function isKnown (header: string | undefined, etag: string): boolean {
  return header !== undefined &&
    header.split(',').some(tag => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}

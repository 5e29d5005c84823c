/** A document that is made once and sent many times: its bytes, its entity tag, and the same bytes compressed once. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { nextTurn, turnIsOver } from '../storage/turns.js'
import { acceptsGzip, LARGE_BYTES } from './stream.js'

const compressed = promisify(gzip)

export class CachedDocument {
  readonly hash: string
  readonly #bytes: Buffer
  #packed: Promise<Buffer> | undefined

  constructor (bytes: Buffer) {
    this.#bytes = bytes
    this.hash = createHash('sha512').update(bytes).digest('hex').toUpperCase()
  }

  /** 304 where the client has it already. */
  async send (request: FastifyRequest, reply: FastifyReply, type: string): Promise<FastifyReply> {
    const etag = `"${this.hash}"`
    reply.headers({ etag, vary: 'accept, accept-encoding' })
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
    reply.header('content-type', type)
    if (this.#bytes.length < LARGE_BYTES || !acceptsGzip(request)) return reply.send(this.#bytes)
    this.#packed ??= compressed(this.#bytes)
    return reply.header('content-encoding', 'gzip').send(await this.#packed)
  }
}

/** Whether the tag is among those of If-None-Match, which compares weakly. */
function isKnown (header: string | undefined, etag: string): boolean {
  return header !== undefined && header.split(',').some(tag => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}

/** Does the steps of long work, so that others have their turns between them. */
export async function inTurns<T> (steps: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (turnIsOver()) await nextTurn()
  }
}

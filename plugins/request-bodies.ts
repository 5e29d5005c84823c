/**
 * Receives request bodies as bytes of any type; decoding is up to the verbs. Reads nothing until all hooks have
 * accepted the request, and nothing for unmatched paths. Each body is bounded, and all bodies share one memory budget,
 * returned when the request ends or is answered early. If it is exhausted, requests fail with 429 and Retry-After. A
 * share is reserved for administrators (system:masters). A body is charged the size of its buffer: chunks are copied
 * into one growing buffer, because many tiny chunks would use a hundred times their size.
 * @see interface, 'Generic request shapes' 3
 */
import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { served, type ServedRequest } from '../answers/request-context.js'
import { isChunked } from '../clients/outgoing.js'
import { MAX_BODY_BYTES as MAX_BYTES } from '../schemas/limits.js'
import { badRequest, StatusError, tooLarge, tooManyRequests, unsupportedMediaType } from '../schemas/status.js'
import { isAdministrator, isConnection } from './shared/request-kinds.js'
import { quote } from '../schemas/quote.js'
import { plugin } from './shared/plugin.js'

export interface RequestBodiesOptions {
  /** Bytes of all concurrent bodies; several times the largest body. Default 256 MiB. */
  budget?: number | undefined
}

/** Below this path only resources accept bodies. */
const API_PATH = /^\/apis?\//

const DEFAULT_BUDGET = 256 * 1024 * 1024
/** Fraction of the budget reserved for administrators. */
const RESERVED = 1 / 8
/** Initial buffer size, unless the body is known to be smaller. */
const FIRST_BYTES = 8 * 1024
const RETRY_AFTER_SECONDS = 1

/** Bytes still available, in total and to administrators. */
export class Budget {
  readonly #reserved: number
  #left: number

  constructor (bytes: number) {
    this.#left = bytes
    this.#reserved = Math.floor(bytes * RESERVED)
  }

  get left (): number { return this.#left }

  fits (bytes: number, administrator: boolean): boolean {
    return this.#left - bytes >= (administrator ? 0 : this.#reserved)
  }

  take (bytes: number, administrator: boolean): boolean {
    if (!this.fits(bytes, administrator)) return false
    this.#left -= bytes
    return true
  }

  give (bytes: number): void { this.#left += bytes }
}

type Done = (error: StatusError | null, body?: Buffer) => void

/** Receives one body. */
class Receiving {
  readonly #request: ServedRequest
  readonly #payload: IncomingMessage
  readonly #budget: Budget
  readonly #administrator: boolean
  readonly #done: Done
  /** Content-Length, or NaN if unknown. */
  readonly #declared: number
  #bytes = NOTHING
  #length = 0

  constructor (
    request: ServedRequest, payload: IncomingMessage,
    { budget, declared }: { readonly budget: Budget, readonly declared: number }, done: Done
  ) {
    this.#request = request
    this.#payload = payload
    this.#budget = budget
    this.#administrator = isAdministrator(request.orch.user)
    this.#declared = declared
    this.#done = done
    request.orch.onClosed(() => { this.#release() })
    request.orch.onEnd = this.#stop
    payload.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError)
  }

  readonly #onData = (chunk: Buffer): void => {
    const length = this.#length + chunk.length
    if (length > MAX_BYTES) return this.#finish(largerThanAllowed())
    if (length > this.#bytes.length && !this.#grow(length)) return this.#finish(noRoom())
    chunk.copy(this.#bytes, this.#length)
    this.#length = length
  }

  readonly #onEnd = (): void => {
    if (!Number.isNaN(this.#declared) && this.#declared !== this.#length) {
      return this.#finish(
        badRequest(`the request body has ${this.#length} bytes where its Content-Length says ${this.#declared}`)
      )
    }
    this.#finish(null)
  }

  readonly #onError = (error: Error): void => {
    this.#finish(badRequest(`the request can't be read: ${error.message}`))
  }

  #grow (length: number): boolean {
    const max = this.#declared >= length ? this.#declared : MAX_BYTES
    const size = Math.min(max, Math.max(length, this.#bytes.length * 2, FIRST_BYTES))
    if (!this.#budget.take(size - this.#bytes.length, this.#administrator)) return false
    const grown = Buffer.allocUnsafe(size)
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
    return true
  }

  /** The request ended without its body; discard late data. */
  readonly #stop = (): void => {
    this.#leave()
    this.#release()
  }

  /** Discards the rest of the body as it arrives. */
  #leave (): void {
    this.#request.orch.onEnd = undefined
    this.#payload.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError)
  }

  #finish (error: StatusError | null): void {
    this.#leave()
    const body = this.#bytes.subarray(0, this.#length)
    if (error !== null) this.#release()
    this.#done(error, error === null ? body : undefined)
  }

  #release (): void {
    this.#budget.give(this.#bytes.length)
    this.#bytes = NOTHING
    this.#length = 0
  }
}

const NOTHING = Buffer.alloc(0)

const notDecoded = (coding: string) =>
  new StatusError(undefined, `Transfer-Encoding ${quote(coding)} is not supported; send chunks alone`, {
    code: 501, unlogged: true
  })
const largerThanAllowed = () => tooLarge(`limit is ${MAX_BYTES}`)
const noRoom = () => tooManyRequests(
  'the bodies of other requests take all the memory there is for them, please try again later', RETRY_AFTER_SECONDS
)

/**
 * Detects an HTTP/2 body without Content-Type and Content-Length, as `kubectl create --raw` sends it. Fastify assumes
 * no body unless the transfer encoding is chunked, which HTTP/2 does not have.
 */
function hidesItsBody (raw: IncomingMessage): boolean {
  if (raw.httpVersionMajor !== 2 || raw.method === 'GET') return false
  const { 'content-type': type, 'content-length': length } = raw.headers
  return type === undefined && length === undefined &&
    (raw as unknown as Partial<Http2ServerRequest>).stream?.endAfterHeaders === false
}

export default plugin<RequestBodiesOptions>()(async (fastify, { budget: bytes = DEFAULT_BUDGET }) => {
  const budget = new Budget(bytes)
  const { orchMetrics: metrics, orchResources: resources } = fastify
  const refused = metrics.counter(
    'apiserver_dropped_requests_total', 'Requests refused because too many were under way.', ['request_kind']
  )
    .with('body')

  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    const { 'transfer-encoding': coding = 'chunked' } = raw.headers
    if (!isChunked(coding)) return done(notDecoded(coding))
    if (raw.headers['content-type']?.trim() === '') delete raw.headers['content-type'] // not declared, as upstream
    if (hidesItsBody(raw)) raw.headers['transfer-encoding'] = 'chunked'
    done()
  })
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', (arrived, payload, done: Done) => {
    const request = served(arrived)
    const { info, user } = request.orch
    // The response does not depend on the body, or the path belongs to an extension server, to which the body is
    // streamed.
    if (request.is404 || (info.isResourceRequest ? !resources.serves(info) : API_PATH.test(info.path))) {
      return done(null)
    }
    if (isConnection(info)) return done(null) // proxied bodies are streamed
    const { 'content-encoding': encoding, 'content-length': length } = request.headers
    if (encoding !== undefined && encoding !== 'identity') {
      return done(
        unsupportedMediaType(`Content-Encoding ${quote(encoding)} is not supported on requests; send the body as it is`)
      )
    }
    const declared = Number(length ?? NaN)
    if (declared > MAX_BYTES) return done(largerThanAllowed())
    const report: Done = (error, body) => {
      if (error?.status.reason === 'TooManyRequests') refused.add()
      done(error, body)
    }
    if (!budget.fits(declared > 0 ? declared : 1, isAdministrator(user))) return report(noRoom())
    // eslint-disable-next-line no-new -- kept alive by its listeners
    new Receiving(request, payload, { budget, declared }, report)
  })
}, {
  name: 'orch/request-bodies',
  fastify: '5.x',
  dependencies: ['orch/authorization'],
  decorators: { fastify: ['orchMetrics', 'orchResources'], request: ['orch'] }
})

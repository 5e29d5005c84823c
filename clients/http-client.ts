/**
 * Calls one endpoint over kept-alive connections. A call ends within its deadline, uses memory bounded by its response
 * limit, and fails with a ClientError. Redirects are not followed, so that credentials reach only the endpoint. Calls
 * are repeated only if the caller permits it.
 */
import { STATUS_CODES } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { countValues, OF_BODIES } from '../schemas/codec/json/parse.js'
import { isDecodeError, saidOf } from '../schemas/language/decode-error.js'
import { ClientError, classify } from './errors.js'
import { Cancellation, exchange, Unanswered, type Headers } from './exchange.js'
import type { Endpoint } from './kubeconfig.js'
import type { Tunnel } from './egress/tunnel.js'
import { Transport, type Dial } from './transport.js'

export interface HttpClientOptions {
  /** The caller's name, for errors and as a metric label; few distinct values. */
  readonly caller: string
  readonly endpoint: Endpoint
  /** Milliseconds to connect, including TLS and tunnel. Default 5,000. */
  readonly connectTimeout?: number
  /** Milliseconds from the request to the response's first byte. Default 10,000. */
  readonly headersTimeout?: number
  /** Milliseconds between two chunks of the response. Default 10,000. */
  readonly bodyTimeout?: number
  /** Milliseconds for a call with all attempts and pauses. Default 30,000. */
  readonly deadline?: number
  /** Maximum bytes of a response. Default 3 MiB. */
  readonly maxResponseBytes?: number
  /** Maximum concurrent connections; further calls wait. Default 64. */
  readonly connections?: number
  /** Resolves the address to connect to; the certificate must still match the endpoint's host. */
  readonly dial?: Dial
  /** Makes each connection; takes precedence over the endpoint's proxy. Default direct, or through that proxy. */
  readonly tunnel?: Tunnel | undefined
  readonly userAgent?: string
  /** Called after each attempt. */
  readonly observe?: (attempt: Attempt) => void
  /** Called if the peer's certificate has no subject alternative name. */
  readonly missingName?: () => void
  /** Called if the peer's certificate chain is signed with SHA-1. */
  readonly weakSignature?: () => void
  /** Monotonic clock, milliseconds. */
  readonly now?: () => number
  /** Waits between two attempts. */
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>
}

export interface Attempt {
  readonly caller: string
  readonly method: Call['method']
  /** With a non-default port. */
  readonly host: string
  /** A known status, 'other', or a ClientErrorCode: a bounded set. */
  readonly code: string
  readonly milliseconds: number
}

export interface Retry {
  /** Maximum number of attempts. */
  readonly attempts: number
  /**
   * Milliseconds before the second attempt; multiplied by `factor` for each further one, plus up to 20% jitter. Default
   * 500.
   */
  readonly first?: number
  /** Default 1.5. */
  readonly factor?: number
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Appended to the server's path; may have a query. */
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Milliseconds; overrides the client's deadline. */
  readonly deadline?: number
  /** Cancels the call with its reason. */
  readonly signal?: AbortSignal
  /** For idempotent calls: retries when the peer is unreachable, slow or overloaded. */
  readonly retry?: Retry
  /** The original request's traceparent, forwarded if valid. */
  readonly traceparent?: string | undefined
}

export interface Answer {
  /** 2xx. */
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/
/** Maximum bytes of an error response. */
const MAX_ERROR_BYTES = 16 * 1024
const OVERLOADED: ReadonlySet<number> = new Set([429, 500, 502, 503, 504])
const MAX_RETRY_AFTER_SECONDS = 3600

export class HttpClient {
  readonly #options: HttpClientOptions
  readonly #transport: Transport
  readonly #call: string
  readonly #base: string
  readonly #now: () => number
  #calls = 0
  #retired = false

  constructor (options: HttpClientOptions) {
    const {
      caller, endpoint, connectTimeout = 5000, headersTimeout = 10_000, bodyTimeout = 10_000, connections = 64, dial,
      tunnel, missingName, weakSignature, now = () => performance.now()
    } = options
    this.#options = options
    this.#now = now
    this.#call = `${caller}: ${endpoint.server.origin}`
    this.#base = endpoint.server.pathname.replace(/\/$/, '')
    this.#transport = new Transport({
      endpoint, call: this.#call, connectTimeout, headersTimeout, bodyTimeout, connections, dial, tunnel, missingName,
      weakSignature, now
    })
  }

  /** Reads the endpoint's files, so that errors fail the start; does not connect. @throws ClientError 'Config' */
  async load (): Promise<void> { await this.#transport.load() }

  /** Aborts active calls. */
  async close (): Promise<void> { await this.#transport.close() }

  /** Closes when active calls have ended; no new call may start. */
  async retire (): Promise<void> {
    this.#retired = true
    if (this.#calls === 0) await this.close()
  }

  /** @throws ClientError; the reason of the call's signal if it aborts */
  async call (call: Call): Promise<Answer> {
    const { deadline = this.#options.deadline ?? 30_000, retry, signal } = call
    signal?.throwIfAborted()
    const until = this.#now() + deadline
    this.#calls++
    const ending = new Cancellation()
    const timer = setTimeout(
      () => { ending.end(new ClientError('Timeout', `${this.#call}: no whole answer within ${deadline} ms`)) }, deadline
    )
    const cancel = (): void => { ending.end(signal?.reason) }
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      for (let attempt = 1, wait = retry?.first ?? 500; ; attempt++, wait *= retry?.factor ?? 1.5) {
        try {
          return await this.#attempt(call, ending)
        } catch (error) {
          if (ending.ended) throw ending.reason
          if (retry === undefined || attempt >= retry.attempts || !isTransient(error)) throw error
          const pause = Math.max(wait * (1 + Math.random() / 5), error.retryAfter ?? 0)
          // The last error says more than a timeout.
          if (this.#now() + pause >= until) throw error
          await this.#pause(pause, ending)
          if (ending.ended) throw ending.reason
        }
      }
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
      if (--this.#calls === 0 && this.#retired) void this.close()
    }
  }

  /**
   * A call with a JSON response.
   * @throws as `call`; ClientError 'BadAnswer' unless it is JSON within the bounds of bodies
   */
  async json (call: Call): Promise<unknown> {
    const { body } = await this.call({
      ...call, headers: {
        accept: 'application/json', ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers
      }
    })
    try {
      countValues(body, OF_BODIES) // what these calls answer is no larger, and JSON.parse cannot be interrupted
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
    } catch (cause) {
      const why = isDecodeError(cause) ? saidOf(cause, 'the answer') : 'the answer is not JSON'
      throw new ClientError('BadAnswer', `${this.#call}: ${why}`, { cause })
    }
  }

  async #pause (milliseconds: number, ending: Cancellation): Promise<void> {
    const waiting = new AbortController()
    ending.onEnd = () => { waiting.abort() }
    await (this.#options.pause ?? paused)(milliseconds, waiting.signal)
    ending.onEnd = undefined
  }

  async #attempt (call: Call, ending: Cancellation): Promise<Answer> {
    const since = this.#now()
    let code = 'Canceled'
    try {
      const answer = await this.#send(call, ending)
      code = knownStatus(answer.status)
      return answer
    } catch (error) {
      const failure = failureOf(
        ending.ended && ending.reason instanceof ClientError ? ending.reason : error, this.#call
      )
      if (!ending.ended || ending.reason === failure) {
        code = failure.code === 'BadStatus' ? knownStatus(failure.status ?? 0) : failure.code
      }
      throw failure
    } finally {
      const { observe, caller, endpoint } = this.#options
      observe?.({ caller, method: call.method, host: endpoint.server.host, code, milliseconds: this.#now() - since })
    }
  }

  async #send (call: Call, ending: Cancellation): Promise<Answer> {
    const { maxResponseBytes = 3 * 1024 * 1024, userAgent = 'orch-apiserver' } = this.#options
    const { pool, authorization } = await this.#transport.connected()
    const { status, headers, body } = await exchange(pool, {
      method: call.method,
      path: `${this.#base}${call.path ?? ''}` || '/',
      headers: {
        'user-agent': userAgent,
        ...call.headers,
        ...(authorization === undefined ? {} : { authorization }),
        ...(call.traceparent !== undefined && TRACEPARENT.test(call.traceparent)
          ? { traceparent: call.traceparent }
          : {})
      },
      body: call.body ?? null
    }, status => isSuccess(status) ? maxResponseBytes : MAX_ERROR_BYTES, ending)
    if (!isSuccess(status)) throw this.#badStatus(status, headers, body)
    const encoding = headers['content-encoding'] ?? 'identity'
    if (encoding !== 'identity') {
      throw new ClientError(
        'BadAnswer', `${this.#call}: the answer is encoded as ${JSON.stringify(encoding)}, which was not requested`
      )
    }
    if (body === undefined) {
      throw new ClientError('TooLarge', `${this.#call}: the answer has more than ${maxResponseBytes} bytes`)
    }
    return { status, headers, body }
  }

  #badStatus (status: number, headers: Headers, body: Buffer | undefined): ClientError {
    const seconds = Number(headers['retry-after'] ?? NaN)
    const what = status >= 300 && status < 400
      ? `redirects (${status}), which is not followed`
      : `answered ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()
    return new ClientError('BadStatus', `${this.#call}: ${what}`, {
      status,
      ...(body === undefined ? {} : { body }),
      ...(seconds >= 0 ? { retryAfter: Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000 } : {})
    })
  }
}

function failureOf (error: unknown, call: string): ClientError {
  if (!(error instanceof Unanswered)) return classify(error, call)
  const { code, message } = classify(error.cause, call)
  return new ClientError(code, message, { cause: error.cause, unanswered: true })
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300

const paused: NonNullable<HttpClientOptions['pause']> = async (milliseconds, signal) => {
  await sleep(milliseconds, undefined, { signal }).catch(() => {})
}

const knownStatus = (status: number): string => STATUS_CODES[status] === undefined ? 'other' : String(status)

const isTransient = (error: unknown): error is ClientError =>
  error instanceof ClientError && (error.code === 'Unreachable' || error.code === 'Timeout' ||
    (error.code === 'BadStatus' && OVERLOADED.has(error.status ?? 0)))

/**
 * One request and its whole response over a pool, limited in bytes and cancellable. Uses undici's dispatch API instead
 * of its streams and abort signals. Benchmark: `npm run bench -- hooks`, 'one webhook over TLS, added to a create,
 * beside a bare call'.
 */
import type * as Undici from 'undici'

export type Headers = Readonly<Record<string, string | string[] | undefined>>

export interface Response {
  readonly status: number
  readonly headers: Headers
  /** Undefined if it exceeds the limit. */
  readonly body: Buffer | undefined
}

/** Cancellation of a call, with its reason. */
export class Cancellation {
  ended = false
  reason: unknown
  /** Cancels the pending step. */
  onEnd: (() => void) | undefined

  end (reason: unknown): void {
    if (this.ended) return
    this.ended = true
    this.reason = reason
    this.onEnd?.()
  }
}

/** Rejects with the cancellation reason or undici's error. @param maxBytes maximum bytes of a body, by status */
export function exchange (
  pool: Undici.Pool, request: Omit<Undici.Dispatcher.DispatchOptions, 'origin'>, maxBytes: (status: number) => number,
  ending: Cancellation
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const handler = new Exchange(maxBytes, ending, resolve, reject)
    if (ending.ended) reject(ending.reason)
    else pool.dispatch(request as Undici.Dispatcher.DispatchOptions, handler) // a pool has its own origin
  })
}

class Exchange implements Undici.Dispatcher.DispatchHandlers {
  readonly #maxBytes: (status: number) => number
  readonly #ending: Cancellation
  readonly #resolve: (whole: Response) => void
  readonly #reject: (error: unknown) => void
  #abort: ((error?: Error) => void) | undefined
  #settled = false
  #status = 0
  #headers: Headers = {}
  #limit = 0
  #bytes = 0
  readonly #chunks: Buffer[] = []

  constructor (
    maxBytes: (status: number) => number, ending: Cancellation, resolve: (whole: Response) => void,
    reject: (error: unknown) => void
  ) {
    this.#maxBytes = maxBytes
    this.#ending = ending
    this.#resolve = resolve
    this.#reject = reject
    ending.onEnd = () => {
      this.#settle()
      this.#reject(ending.reason) // even before a connection exists
      this.#abort?.()
    }
  }

  onConnect (abort: (error?: Error) => void): void {
    if (this.#settled) abort()
    else this.#abort = abort
  }

  onHeaders (status: number, raw: Buffer[]): boolean {
    if (status < 200) return true
    this.#status = status
    this.#headers = headersOf(raw)
    this.#limit = this.#maxBytes(status)
    if (Number(this.#headers['content-length'] ?? 0) > this.#limit) this.#tooLarge()
    return true
  }

  onData (chunk: Buffer): boolean {
    if (this.#settled) return false
    this.#bytes += chunk.length
    if (this.#bytes > this.#limit) this.#tooLarge()
    else this.#chunks.push(chunk)
    return true
  }

  onComplete (): void {
    if (this.#settled) return
    this.#settle()
    const [first] = this.#chunks
    this.#resolve({
      status: this.#status, headers: this.#headers,
      body: this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks, this.#bytes)
    })
  }

  onError (error: Error): void {
    if (this.#settled) return
    this.#settle()
    this.#reject(this.#abort !== undefined && this.#status === 0 && isLost(error) ? new Unanswered(error) : error)
  }

  #tooLarge (): void {
    this.#settle()
    this.#resolve({ status: this.#status, headers: this.#headers, body: undefined })
    this.#abort?.() // discards the rest
  }

  #settle (): void {
    this.#settled = true
    this.#ending.onEnd = undefined
  }
}

/** The connection ended between request and response. */
export class Unanswered extends Error {
  constructor (cause: Error) { super(cause.message, { cause }) }
}

const CONNECTION_ERRORS: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
const isLost = (error: Error): boolean => 'code' in error && CONNECTION_ERRORS.has(error.code)

/** By lower-case name; repeated headers are arrays. */
function headersOf (raw: readonly Buffer[]): Headers {
  const headers: Record<string, string | string[] | undefined> = Object.create(null) as Record<string, undefined>
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name, value] = [String(raw[at]).toLowerCase(), (raw[at + 1] as Buffer).toString('latin1')] // within bounds
    const known = headers[name]
    headers[name] = known === undefined ? value : [known, value].flat()
  }
  return headers
}

/**
 * One request and its whole response over a pool, limited in bytes and cancellable. Uses undici's dispatch API: its streams and abort
 * signals cost more than the rest of a small call.
 */
import type * as Undici from 'undici'

export type Headers = Readonly<Record<string, string | string[] | undefined>>

export interface Whole {
  readonly status: number
  readonly headers: Headers
  /** Undefined if it exceeds the limit. */
  readonly body: Buffer | undefined
}

/** Cancellation of a call, with its reason. */
export class Ending {
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

/** @param most maximum body bytes by status. Rejects with the cancellation reason or undici's error */
export function exchange (pool: Undici.Pool, question: Omit<Undici.Dispatcher.DispatchOptions, 'origin'>, most: (status: number) => number, ending: Ending): Promise<Whole> {
  return new Promise((resolve, reject) => {
    const handler = new Exchange(most, ending, resolve, reject)
    if (ending.ended) reject(ending.reason)
    else pool.dispatch(question as Undici.Dispatcher.DispatchOptions, handler) // a pool has its own origin
  })
}

class Exchange implements Undici.Dispatcher.DispatchHandlers {
  readonly #most: (status: number) => number
  readonly #ending: Ending
  readonly #resolve: (whole: Whole) => void
  readonly #reject: (error: unknown) => void
  #abort: ((error?: Error) => void) | undefined
  #settled = false
  #status = 0
  #headers: Headers = {}
  #bound = 0
  #bytes = 0
  readonly #chunks: Buffer[] = []

  constructor (most: (status: number) => number, ending: Ending, resolve: (whole: Whole) => void, reject: (error: unknown) => void) {
    this.#most = most
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
    this.#bound = this.#most(status)
    if (Number(this.#headers['content-length'] ?? 0) > this.#bound) this.#tooLarge()
    return true
  }

  onData (chunk: Buffer): boolean {
    if (this.#settled) return false
    this.#bytes += chunk.length
    if (this.#bytes > this.#bound) this.#tooLarge()
    else this.#chunks.push(chunk)
    return true
  }

  onComplete (): void {
    if (this.#settled) return
    this.#settle()
    const [first] = this.#chunks
    this.#resolve({ status: this.#status, headers: this.#headers, body: this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks, this.#bytes) })
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

const LOST: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
const isLost = (error: Error): boolean => 'code' in error && LOST.has(error.code)

/** By lower-case name; repeated headers are arrays. */
function headersOf (raw: readonly Buffer[]): Headers {
  const found: Record<string, string | string[] | undefined> = Object.create(null) as Record<string, undefined>
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name, value] = [String(raw[at]).toLowerCase(), (raw[at + 1] as Buffer).toString('latin1')] // within bounds
    const known = found[name]
    found[name] = known === undefined ? value : [known, value].flat()
  }
  return found
}

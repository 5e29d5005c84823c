/**
 * One question over a pool and its whole answer, bounded in bytes and ended when nobody waits for it any more. Past the streams and
 * signals of the HTTP library, which cost more than all the rest of a small call.
 */
import type * as Undici from 'undici'

export type Headers = Readonly<Record<string, string | string[] | undefined>>

export interface Whole {
  readonly status: number
  readonly headers: Headers
  /** Undefined where it is larger than it may be. */
  readonly body: Buffer | undefined
}

/** When nobody waits any more, and why. */
export class Ending {
  ended = false
  reason: unknown
  /** Of whatever is under way now. */
  onEnd: (() => void) | undefined

  end (reason: unknown): void {
    if (this.ended) return
    this.ended = true
    this.reason = reason
    this.onEnd?.()
  }
}

/** @param most bytes of the body of an answer with that status. Rejects with the reason of the ending or the error of the library */
export function exchange (pool: Undici.Pool, question: Omit<Undici.Dispatcher.DispatchOptions, 'origin'>, most: (status: number) => number, ending: Ending): Promise<Whole> {
  return new Promise((resolve, reject) => {
    const handler = new Exchange(most, ending, resolve, reject)
    if (ending.ended) reject(ending.reason)
    else pool.dispatch(question as Undici.Dispatcher.DispatchOptions, handler) // a pool has an origin of its own
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
      this.#reject(ending.reason) // whether or not there is a connection yet
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
    this.#abort?.() // the rest of it is not read
  }

  #settle (): void {
    this.#settled = true
    this.#ending.onEnd = undefined
  }
}

/** The connection ended between the question and the answer. */
export class Unanswered extends Error {
  constructor (cause: Error) { super(cause.message, { cause }) }
}

const LOST: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
const isLost = (error: Error): boolean => 'code' in error && LOST.has(error.code)

/** By name in lower case; several of a name are a list. */
function headersOf (raw: readonly Buffer[]): Headers {
  const found: Record<string, string | string[] | undefined> = Object.create(null) as Record<string, undefined>
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name, value] = [String(raw[at]).toLowerCase(), (raw[at + 1] as Buffer).toString('latin1')] // within the list
    const known = found[name]
    found[name] = known === undefined ? value : [known, value].flat()
  }
  return found
}

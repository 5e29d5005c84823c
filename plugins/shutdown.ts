/**
 * The server's graceful end: serving → delaying → draining → closed.
 *
 * While *delaying* (`--shutdown-delay-duration`) every request is served as before and only readyz fails,
 * so that balancers turn away. When *draining* starts, `signal` aborts: watches end cleanly, idle
 * connections may be closed, and requests under way finish. With `sendRetryAfter` the listener stays open
 * meanwhile and new requests are answered 429 with Retry-After and Connection: close; otherwise whoever
 * owns the listener closes it on `signal`. Draining ends when no request is left or after `drainTimeout`.
 *
 * It stands early in the chain, so that a refused request costs nothing, but behind request info: probes of
 * health are answered to the very end.
 *
 * @see interface, 'Health endpoints' 5 and 'Errors' 429
 */
import { setMaxListeners } from 'node:events'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { StatusError } from '../schemas/status.js'
import { isProbe } from './request-kinds.js'

export type ShutdownState = 'serving' | 'delaying' | 'draining' | 'closed'

export interface ShutdownOptions {
  /** Milliseconds between the begin and draining. Default 0. */
  delay?: number
  /** Answer 429 while draining. Default false. */
  sendRetryAfter?: boolean
  /** Milliseconds that requests under way may take to finish. Default 60,000. */
  drainTimeout?: number | undefined
}

export interface Shutdown {
  readonly state: ShutdownState
  /** Aborts when the end has begun: whoever is sent here should go elsewhere. */
  readonly leaving: AbortSignal
  /** Aborts when draining starts. Watches and other long answers end on it. */
  readonly signal: AbortSignal
  /** Requests whose answers have not gone out yet, long-running ones included. */
  readonly inFlight: number
  /** True when the listener has to stay open while draining, to answer 429. */
  readonly sendRetryAfter: boolean
  /**
   * Runs the delay and the drain. Resolves to the number of requests that did not finish in time (0: all
   * did). The second call gets the promise of the first. Closing the server is the caller's next step.
   */
  begin: () => Promise<number>
}

/** Seconds after which a refused client may try again: by then a balancer has another server for it. */
const RETRY_AFTER_SECONDS = 5

/** What a new request meets in each state: served, served on a connection that then closes, or refused. */
export function verdict (state: ShutdownState, sendRetryAfter: boolean, path: string): 'serve' | 'serve-and-close' | 'refuse' {
  if (state === 'serving' || state === 'delaying') return 'serve'
  return sendRetryAfter && !isProbe(path) ? 'refuse' : 'serve-and-close'
}

/** Every watch listens to it: thousands of listeners are no leak. */
function unlimited (controller: AbortController): AbortController {
  setMaxListeners(0, controller.signal)
  return controller
}

class Drain implements Shutdown {
  state: ShutdownState = 'serving'
  inFlight = 0
  readonly #controller = unlimited(new AbortController())
  readonly #leaving = new AbortController()
  readonly #options: { readonly [Option in keyof ShutdownOptions]-?: NonNullable<ShutdownOptions[Option]> }
  #begun: Promise<number> | undefined
  #idle: (() => void) | undefined
  #hurry: (() => void) | undefined

  constructor (options: ShutdownOptions) {
    const { delay = 0, sendRetryAfter = false, drainTimeout = 60_000 } = options
    this.#options = { delay, sendRetryAfter, drainTimeout }
  }

  get signal (): AbortSignal { return this.#controller.signal }
  get leaving (): AbortSignal { return this.#leaving.signal }
  get sendRetryAfter (): boolean { return this.#options.sendRetryAfter }

  readonly begin = (): Promise<number> => {
    this.#begun ??= this.#run()
    return this.#begun
  }

  readonly finished = (): void => {
    if (--this.inFlight === 0) this.#idle?.()
  }

  /** The server is being closed now, whether or not anybody began: no delay, no waiting. */
  drainNow (): void {
    this.#hurry?.()
    this.#leaving.abort()
    if (this.state === 'serving' || this.state === 'delaying') this.state = 'draining'
    if (!this.signal.aborted) this.#controller.abort()
  }

  async #run (): Promise<number> {
    if (this.state === 'serving') this.state = 'delaying'
    this.#leaving.abort()
    await this.#wait(this.#options.delay, hurry => { this.#hurry = hurry })
    this.drainNow()
    // Ending the watches gives their answers a turn of the loop to go out before anything is counted.
    await new Promise<void>(resolve => setImmediate(resolve))
    if (this.inFlight > 0) await this.#wait(this.#options.drainTimeout, idle => { this.#idle = idle })
    return this.inFlight
  }

  async #wait (milliseconds: number, cut: (end: () => void) => void): Promise<void> {
    if (milliseconds <= 0) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, milliseconds)
      cut(() => { clearTimeout(timer); resolve() })
    })
  }
}

async function shutdown (fastify: FastifyInstance, options: ShutdownOptions): Promise<void> {
  const drain = new Drain(options)
  fastify.orch.shutdown = drain

  fastify.addHook('onRequest', (request, reply, done) => {
    drain.inFlight++
    request.orch.onClosed(drain.finished)
    if (drain.state === 'serving') { done(); return }
    const decision = verdict(drain.state, drain.sendRetryAfter, request.orch.info.path)
    if (decision !== 'serve' && request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
    done(decision === 'refuse'
      ? new StatusError('TooManyRequests', 'the server is shutting down, try another one or again later', { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } })
      : undefined)
  })
  fastify.addHook('preClose', done => {
    drain.drainNow()
    done()
  })
  fastify.addHook('onClose', (_instance, done) => {
    drain.state = 'closed'
    done()
  })
}

export default fp(shutdown, { name: 'orch/shutdown', fastify: '5.x', dependencies: ['orch/request-info'] })

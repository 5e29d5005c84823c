/**
 * Graceful shutdown: serving → delaying → draining → closed.
 * While *delaying* (`--shutdown-delay-duration`) only readyz fails, so that load balancers remove the server. When
 * *draining* starts, `signal` aborts: watches end (over `watchGrace`), idle connections may be closed, active requests
 * finish. With `sendRetryAfter` the listener stays open and new requests get 429 with Retry-After and Connection:
 * close; otherwise the listener's owner closes it on `signal`. Draining ends when no request is left, or after
 * `drainTimeout`. Registered right after request info, so that refused requests are cheap and health probes are still
 * answered.
 * @see interface, 'Health endpoints' 5 and 'Errors' 429
 */
import { setMaxListeners } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { served } from '../answers/request-context.js'
import { StatusError } from '../schemas/status.js'
import { isProbe } from './shared/request-kinds.js'
import { plugin } from './shared/plugin.js'

export type ShutdownState = 'serving' | 'delaying' | 'draining' | 'closed'

export interface ShutdownOptions {
  /** Milliseconds between begin and draining. Default 0. */
  delay?: number
  /** Respond 429 while draining. Default false. */
  sendRetryAfter?: boolean
  /** Milliseconds for active requests to finish. Default 60,000. */
  drainTimeout?: number | undefined
  /** Milliseconds over which watches end evenly; with 0 they end at once. Default 1,000. */
  watchGrace?: number | undefined
}

export interface Shutdown {
  readonly state: ShutdownState
  /** Aborts when shutdown begins: clients should use another server. */
  readonly leaving: AbortSignal
  /** Aborts when draining starts. Watches and other long-running responses end on it. */
  readonly signal: AbortSignal
  /** Milliseconds over which watches end; 0 unless the shutdown was begun. */
  readonly watchGrace: number
  /** Requests without a complete response, including long-running ones. */
  readonly inFlight: number
  /** True if the listener must stay open while draining, to respond 429. */
  readonly sendRetryAfter: boolean
  /**
   * Runs delay and drain. Resolves to the number of unfinished requests (0 if all finished). Further calls return the
   * same promise. The caller then closes the server.
   */
  begin: () => Promise<number>
}

/** Seconds after which refused clients may retry: by then the load balancer has removed this server. */
const RETRY_AFTER_SECONDS = 5

/** How a new request is handled: served, served with Connection: close, or refused. */
export function handlingDuringShutdown (
  state: ShutdownState, sendRetryAfter: boolean, path: string
): 'serve' | 'serve-and-close' | 'refuse' {
  if (state === 'serving' || state === 'delaying') return 'serve'
  return sendRetryAfter && !isProbe(path) ? 'refuse' : 'serve-and-close'
}

/** Every watch adds a listener; thousands are not a leak. */
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
    const { delay = 0, sendRetryAfter = false, drainTimeout = 60_000, watchGrace = 1000 } = options
    this.#options = { delay, sendRetryAfter, drainTimeout, watchGrace }
  }

  get signal (): AbortSignal { return this.#controller.signal }
  get leaving (): AbortSignal { return this.#leaving.signal }
  get watchGrace (): number { return this.#begun === undefined ? 0 : this.#options.watchGrace }
  get sendRetryAfter (): boolean { return this.#options.sendRetryAfter }

  readonly begin = (): Promise<number> => {
    this.#begun ??= this.#run()
    return this.#begun
  }

  readonly finished = (): void => {
    if (--this.inFlight === 0) this.#idle?.()
  }

  /** Skips the delay and the wait: the server is being closed. */
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
    // Ended watches need a turn of the event loop to send their last bytes.
    await new Promise<void>(resolve => setImmediate(resolve))
    const longest = Math.max(this.#options.drainTimeout, this.#options.watchGrace)
    if (this.inFlight > 0) await this.#wait(longest, idle => { this.#idle = idle })
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
  fastify.decorate('orchShutdown', drain)

  fastify.addHook('onRequest', (request, reply, done) => {
    const { orch } = served(request)
    drain.inFlight++
    orch.onClosed(drain.finished)
    if (drain.state === 'serving') { done(); return }
    const decision = handlingDuringShutdown(drain.state, drain.sendRetryAfter, orch.info.path)
    if (decision !== 'serve' && request.raw.httpVersionMajor === 1) reply.header('connection', 'close')
    done(decision === 'refuse'
      ? new StatusError('TooManyRequests', 'the server is shutting down, try another one or again later', {
          details: { retryAfterSeconds: RETRY_AFTER_SECONDS }
        })
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

export default plugin<ShutdownOptions>()(shutdown, {
  name: 'orch/shutdown', fastify: '5.x', decorators: { request: ['orch'] }
})

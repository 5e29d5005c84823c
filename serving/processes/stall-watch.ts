/**
 * Watches the event loop of a serving process from a thread, which tells the supervisor for which request it has
 * stalled, as the process itself cannot. Holds what the supervisor has refused because of that.
 */
import { Worker } from 'node:worker_threads'
import type { RequestLike, StallGuard } from '../../plugins/stalled-requests.js'
import { shareWorkedFor } from '../../event-loop/worked-for.js'
import { BEATS, type ToThread } from './messages.js'

/** Milliseconds between two beats of the event loop. */
const BEAT = 500
/** Milliseconds without a beat after which the event loop counts as stalled. */
const SILENCE = 5_000
/** Numbers that are kept; older ones are those of requests that have ended. */
const MAX_NUMBERS = 10_000

const keyOf = ({ user, verb, what, namespace }: RequestLike): string => JSON.stringify([user, verb, what, namespace])

export class StallWatch implements StallGuard {
  readonly #worker: Worker
  readonly #numbers = new Map<string, number>()
  #last = 0
  /** By key, when such requests are served again, in milliseconds since the epoch. */
  readonly #refused = new Map<string, number>()

  constructor (silence = SILENCE) {
    const cell = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
    shareWorkedFor(cell)
    this.#worker = new Worker(new URL('./stall-worker.js', import.meta.url), {
      workerData: { cell, silence },
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 }
    })
    this.#worker.on('error', () => {}) // without the thread the supervisor still notices that the process hangs
    this.#worker.unref()
    setInterval(() => { Atomics.add(cell, BEATS, 1) }, BEAT).unref()
  }

  readonly numberOf = (like: RequestLike): number => {
    const key = keyOf(like)
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    if (this.#numbers.size === MAX_NUMBERS) this.#numbers.clear()
    this.#numbers.set(key, ++this.#last)
    const message: ToThread = { number: this.#last, like, forget: this.#last - MAX_NUMBERS }
    this.#worker.postMessage(message)
    return this.#last
  }

  readonly refusedUntil = (like: RequestLike): number | undefined => {
    if (this.#refused.size === 0) return undefined
    const key = keyOf(like)
    const until = this.#refused.get(key)
    if (until === undefined || until > Date.now()) return until
    this.#refused.delete(key)
    return undefined
  }

  /** @param until milliseconds since the epoch */
  refuse (like: RequestLike, until: number): void { this.#refused.set(keyOf(like), until) }
}

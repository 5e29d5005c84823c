/**
 * Keeps the objects of one type in the graph: lists them, follows their changes, and lists them again when that ends.
 * Works in short turns, however many objects there are.
 */
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { isStorageError } from '../../storage/errors.js'
import type { Change, CollectedType, Progress, Step } from './collected-type.js'
import type { Difference, Graph, GraphNode } from './graph.js'

export interface MonitorOptions {
  readonly graph: Graph
  readonly changed: (difference: Difference) => void
  readonly removed: (node: GraphNode) => void
  /** Called when all objects are known for the first time. */
  readonly listed: () => void
  readonly log: (message: string, error: unknown) => void
  /** Milliseconds before the objects are listed again, at first; doubled while that fails. Default 1000. */
  readonly retry?: number
}

const RETRY_MS = 1000
const MAX_RETRY_MS = 30_000
const REACH_MS = 3000

export class Monitor {
  readonly #closing = new AbortController()
  readonly #waiting = new Set<() => void>()
  readonly #progress: Progress = {
    reach: revision => {
      this.#reached = revision
      for (const check of [...this.#waiting]) check()
    },
    ask: () => {}
  }

  #reached = 0
  #running: Promise<void> | undefined
  isListed = false

  /** @param inherits whether the graph has objects of the type that an earlier monitor has left */
  constructor (
    readonly type: CollectedType, private readonly options: MonitorOptions, private readonly inherits: boolean
  ) {}

  start (): void { this.#running = this.#run() }

  async close (): Promise<void> {
    this.#closing.abort()
    for (const check of [...this.#waiting]) check()
    await this.#running
  }

  /** Closes it as its type is gone. Objects that went with it are reported, others forgotten: they may come back. */
  async retire (): Promise<void> {
    await this.close()
    try {
      if (this.type.keys !== undefined) {
        const left = new Set<string>()
        for await (const keys of this.type.keys()) for (const key of keys) left.add(key)
        await this.#removeOthers(left)
      }
    } catch (error) {
      this.options.log(`the last objects of ${this.type.label} are unknown`, error)
    }
    for (const key of [...this.options.graph.keys(this.type)]) {
      this.options.graph.delete(this.type, key)
      if (turnIsOver()) await nextTurn()
    }
  }

  /**
   * Resolves when everything that was acknowledged before the call is in the graph.
   * @throws Error if that takes too long
   */
  async catchUp (): Promise<void> {
    const revision = await this.type.newest()
    if (revision === undefined) return
    const until = performance.now() + REACH_MS
    for (;;) {
      if (this.#closing.signal.aborted || (this.isListed && this.#reached >= revision)) return
      const left = until - performance.now()
      if (left <= 0) throw new Error(`the changes of ${this.type.label} did not arrive in time`)
      await new Promise<void>(resolve => {
        const done = (): void => {
          clearTimeout(timer)
          this.#waiting.delete(done)
          resolve()
        }
        const timer = setTimeout(done, left)
        this.#waiting.add(done)
        this.#progress.ask()
      })
    }
  }

  async #run (): Promise<void> {
    const { signal } = this.#closing
    const { retry: first = RETRY_MS } = this.options
    let retry = first
    while (!signal.aborted) {
      try {
        let seen = this.isListed || this.inherits ? new Set<string>() : undefined
        for await (const step of this.type.follow(signal, this.#progress)) {
          await this.#take(step, seen)
          if (signal.aborted) return
          if (step !== 'listed') continue
          retry = first
          seen = undefined
        }
      } catch (error) {
        if (signal.aborted || isStorageError(error, 'Closed')) return
        if (!isStorageError(error, 'Compacted')) {
          this.options.log(`garbage collection cannot follow ${this.type.label}, retrying`, error)
        }
      }
      this.#reached = 0
      await pause(retry, signal)
      retry = Math.min(retry * 2, MAX_RETRY_MS)
    }
  }

  /** @param seen the keys of this list, if it is not the first one */
  async #take (step: Step, seen: Set<string> | undefined): Promise<void> {
    if (step === 'listed') {
      if (seen !== undefined) await this.#removeOthers(seen)
      const isFirst = !this.isListed
      this.isListed = true
      if (isFirst) this.options.listed()
      return
    }
    for (const change of step) {
      seen?.add(change.key)
      this.#put(change)
      if (turnIsOver()) await nextTurn()
      if (this.#closing.signal.aborted) return
    }
  }

  #put ({ key, state }: Change): void {
    const { graph, changed, log } = this.options
    if (state === undefined) return this.#remove(key)
    let read
    try {
      read = state()
    } catch (error) {
      // Its owners may be others by now: it stays as it was until it can be read.
      log(`garbage collection cannot read an object of ${this.type.label}`, error)
      return
    }
    const difference = graph.put(this.type, key, read)
    if (difference.replaced !== undefined) this.options.removed(difference.replaced)
    changed(difference)
  }

  #remove (key: string): void {
    const node = this.options.graph.delete(this.type, key)
    if (node !== undefined) this.options.removed(node)
  }

  async #removeOthers (seen: ReadonlySet<string>): Promise<void> {
    for (const key of [...this.options.graph.keys(this.type)]) {
      if (!seen.has(key)) this.#remove(key)
      if (turnIsOver()) await nextTurn()
    }
  }
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> => new Promise(resolve => {
  if (signal.aborted) return resolve()
  const timer = setTimeout(done, milliseconds)
  timer.unref()
  function done (): void {
    clearTimeout(timer)
    signal.removeEventListener('abort', done)
    resolve()
  }
  signal.addEventListener('abort', done)
})

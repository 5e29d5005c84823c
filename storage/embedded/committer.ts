/**
 * Group commit: operations queue up in the order of their revisions while the medium is busy with the
 * batch before, and then share the next one. One batch is under way at a time, so what is durable is
 * always a prefix of what was assigned.
 */
import type { StorageError } from '../errors.js'
import type { Change, Medium } from './medium.js'
import type { Version } from './history.js'

export interface Operation {
  /** Nothing to store: an answer that must wait for everything queued before it. */
  readonly changes: readonly Change[]
  /** The version that becomes visible when this is durable. */
  readonly version: Version | undefined
  /** Called after the batch is durable and published. */
  readonly done: () => void
  readonly failed: (error: StorageError) => void
}

/** Bounds of one batch, so that neither a commit nor its publication holds anything up for long. */
const BATCH_OPERATIONS = 1024
const BATCH_BYTES = 16 * 1024 * 1024

export class Committer {
  readonly #medium: Medium
  readonly #published: (batch: readonly Operation[]) => void
  readonly #undone: (operations: readonly Operation[], error: StorageError) => void
  #queue: Operation[] = []
  #running = false
  #idle: Array<() => void> = []

  /**
   * @param published called when a batch is durable, before its operations are answered
   * @param undone called with a failed batch and everything queued behind it, before they are answered
   */
  constructor (
    medium: Medium,
    published: (batch: readonly Operation[]) => void,
    undone: (operations: readonly Operation[], error: StorageError) => void
  ) {
    this.#medium = medium
    this.#published = published
    this.#undone = undone
  }

  push (operation: Operation): void {
    this.#queue.push(operation)
    if (this.#running) return
    this.#running = true
    this.#medium.gather(() => this.#run())
  }

  /** Resolves when nothing is queued or under way. */
  async settled (): Promise<void> {
    if (this.#running) await new Promise<void>(resolve => this.#idle.push(resolve))
  }

  async #run (): Promise<void> {
    const batch = this.#take()
    const changes = batch.flatMap(operation => operation.changes)
    try {
      if (changes.length > 0) await this.#medium.commit(changes)
    } catch (error) {
      // What is queued may build on what was lost, so it goes with it.
      const lost = [...batch, ...this.#queue]
      this.#queue = []
      // The medium's contract: it rejects with nothing else.
      this.#undone(lost, error as StorageError)
      for (const operation of lost) operation.failed(error as StorageError)
      return this.#next()
    }
    this.#published(batch)
    for (const operation of batch) operation.done()
    this.#next()
  }

  #next (): void {
    if (this.#queue.length > 0) {
      this.#medium.gather(() => this.#run())
      return
    }
    this.#running = false
    const idle = this.#idle
    this.#idle = []
    for (const resolve of idle) resolve()
  }

  #take (): Operation[] {
    let bytes = 0
    let count = 0
    while (count < this.#queue.length && count < BATCH_OPERATIONS && bytes < BATCH_BYTES) {
      bytes += this.#queue[count]?.version?.value?.byteLength ?? 0
      count++
    }
    if (count === this.#queue.length) {
      const all = this.#queue
      this.#queue = []
      return all
    }
    return this.#queue.splice(0, count)
  }
}

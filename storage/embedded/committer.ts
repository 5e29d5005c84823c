/**
 * Group commit: operations queue up in revision order while the medium writes the previous batch, and form the next
 * one. Only one batch is written at a time, so the durable state is always a prefix of the assigned revisions.
 */
import type { StorageError } from '../errors.js'
import type { Change, Medium } from './medium.js'
import type { Version } from './history.js'

export interface Operation {
  /** Empty for a response that must wait for all earlier operations. */
  readonly changes: readonly Change[]
  /** The version that becomes visible when this is durable. */
  readonly version: Version | undefined
  /** Called after the batch is durable and published. */
  readonly done: () => void
  readonly failed: (error: StorageError) => void
}

/** Limits of a batch, so that neither its commit nor its publication takes long. */
const BATCH_OPERATIONS = 1024
const BATCH_BYTES = 16 * 1024 * 1024

export class Committer {
  readonly #medium: Medium
  readonly #onPublished: (batch: readonly Operation[]) => void
  readonly #onFailed: (operations: readonly Operation[], error: StorageError) => void
  #queue: Operation[] = []
  #running = false
  #idle: Array<() => void> = []

  /**
   * @param onPublished called when a batch is durable, before its operations complete
   * @param onFailed called with a failed batch and all queued operations, before they complete
   */
  constructor (
    medium: Medium,
    onPublished: (batch: readonly Operation[]) => void,
    onFailed: (operations: readonly Operation[], error: StorageError) => void
  ) {
    this.#medium = medium
    this.#onPublished = onPublished
    this.#onFailed = onFailed
  }

  push (operation: Operation): void {
    this.#queue.push(operation)
    if (this.#running) return
    this.#running = true
    this.#medium.gather(() => this.#run())
  }

  /** Resolves when no operations are pending. */
  async settled (): Promise<void> {
    if (this.#running) await new Promise<void>(resolve => this.#idle.push(resolve))
  }

  async #run (): Promise<void> {
    const batch = this.#take()
    const changes = batch.flatMap(operation => operation.changes)
    try {
      if (changes.length > 0) await this.#medium.commit(changes)
    } catch (error) {
      // Queued operations may depend on lost ones, so they fail as well.
      const lost = [...batch, ...this.#queue]
      this.#queue = []
      // The medium rejects only with StorageErrors.
      this.#onFailed(lost, error as StorageError)
      for (const operation of lost) operation.failed(error as StorageError)
      return this.#next()
    }
    this.#onPublished(batch)
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

/**
 * Writes of this process that have yet to arrive as events. The results of reading these events are known, so they need
 * not be decoded or decrypted. Benchmark: `npm run bench -- writes`, 'create, 64 writers, embedded, the operation,
 * CPU': 29 to 46 % more without it.
 */
import type { KeyValue, Revision } from '../backend.js'
import type { Entry } from './entry.js'

export interface PendingWrite<Read = Entry> {
  readonly value: Uint8Array
  /** What the value is read as at its revision; created once. */
  readonly entry: (revision: Revision) => Read
}

const MAX_PENDING = 1000

export class PendingWrites<Read = Entry> {
  /** Each write has a holder that is emptied on use, because a map with much churn retains deleted values for long. */
  readonly #byKey = new Map<string, { write: PendingWrite<Read> | undefined }>()

  /** Called before the write. The last writer of a key wins. */
  add (key: string, write: PendingWrite<Read>): void {
    if (this.#byKey.size > MAX_PENDING) this.#byKey.clear()
    this.#byKey.set(key, { write })
  }

  /** What a stored value is read as, if it equals the pending write's. */
  take ({ key, value }: KeyValue, revision: Revision): Read | undefined {
    const holder = this.#byKey.get(key)
    const write = holder?.write
    if (holder === undefined || write === undefined) return undefined
    holder.write = undefined
    this.#byKey.delete(key)
    return write.value === value || Buffer.compare(write.value, value) === 0 ? write.entry(revision) : undefined
  }
}

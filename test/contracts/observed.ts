/** A watch that records what it receives, checks what holds for any watch, and can be waited for. */
import type { Backend, BackendEvent, BackendWatch, Revision } from '../../storage/backend.js'
import type { StorageError } from '../../storage/errors.js'

export class Observed {
  readonly events: BackendEvent[] = []
  readonly progress: Revision[] = []
  /** Faults of the deliveries themselves, whatever their content. */
  readonly faults: string[] = []
  end: StorageError | undefined
  /** The revision up to which the watch has delivered everything. */
  reached: Revision
  readonly watch: BackendWatch
  #waiting: Array<() => void> = []

  constructor (backend: Backend, start: string, end: string, after: Revision) {
    this.reached = after
    this.watch = backend.watch({
      start,
      end,
      after,
      onEvents: (events, revision) => {
        if (events.length === 0) this.faults.push('a delivery without events')
        for (const event of events) {
          const { key, modRevision } = event.kv
          if (key < start || key >= end) this.faults.push(`${key} is outside of the range`)
          if (modRevision <= this.last()) {
            this.faults.push(`${key} at ${modRevision} came after revision ${this.last()}`)
          }
          if (modRevision <= after) this.faults.push(`${key} at ${modRevision} was not asked for`)
          if (modRevision > revision) this.faults.push(`${key} at ${modRevision} is beyond the announced ${revision}`)
          // read now: it may only be read in the callback
          this.events.push({ type: event.type, kv: event.kv, previous: event.previous })
        }
        this.#advance(revision)
      },
      onProgress: revision => {
        this.progress.push(revision)
        this.#advance(revision)
      },
      onEnd: error => {
        if (this.end !== undefined) this.faults.push('ended twice')
        this.end = error
        this.#wake()
      }
    })
  }

  last (): Revision {
    return this.events.at(-1)?.kv.modRevision ?? 0
  }

  /** Resolves when the condition holds; fails if the watch ends before, or nothing happens for ten seconds. */
  async until (condition: () => boolean, what: string): Promise<void> {
    while (!condition()) {
      if (this.end !== undefined) throw new Error(`the watch ended before ${what}: ${this.end.message}`)
      await this.#change(what)
    }
  }

  async ended (): Promise<StorageError> {
    while (this.end === undefined) await this.#change('its end')
    return this.end
  }

  /** Resolves when the watch has delivered everything up to the revision. */
  async upTo (revision: Revision): Promise<void> {
    const deadline = performance.now() + 60_000
    let asked = -Infinity
    while (this.reached < revision) {
      if (this.end !== undefined) throw new Error(`the watch ended before revision ${revision}: ${this.end.message}`)
      const now = performance.now()
      if (now > deadline) throw new Error(`the watch stayed at ${this.reached} and did not come to ${revision}`)
      if (now > asked + 250) {
        asked = now
        this.watch.requestProgress()
      }
      await this.#change(`revision ${revision}`, 250).catch(() => {})
    }
  }

  #advance (revision: Revision): void {
    if (revision < this.reached) this.faults.push(`went back from ${this.reached} to ${revision}`)
    this.reached = Math.max(this.reached, revision)
    this.#wake()
  }

  #wake (): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }

  async #change (what: string, milliseconds = 60_000): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), milliseconds)
      this.#waiting.push(resolve)
    })
    clearTimeout(timer)
  }
}

/** An event in short, to compare and to read. */
export function shortly (event: BackendEvent): string {
  const value = (bytes: Uint8Array | undefined) => bytes === undefined ? '-' : Buffer.from(bytes).toString()
  return `${event.kv.modRevision} ${event.type} ${event.kv.key} ${value(event.kv.value)} < ` +
    `${value(event.previous?.value)}`
}

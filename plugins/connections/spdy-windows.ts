/**
 * Flow control of a SPDY connection: how many bytes an agent may send on a stream, and on all of them, before it needs
 * a WINDOW_UPDATE. Agents of the public project ignore flow control. One that closes its connection while such a frame
 * is unread loses what it has not sent yet, above all the outcome of the command. So a window is opened only for an
 * agent that seems to wait for it, and no longer at all for one that has sent more than it was allowed.
 */

/** Bytes of a window before it is opened further. */
export const WINDOW = 64 * 1024
/** Milliseconds without data after which an agent waits, with its window full; else with at least half of it full. */
const [FULL, HALF] = [5, 250]

export class Windows {
  readonly #open: (stream: number, bytes: number) => void
  /** Bytes received and allowed, by stream. */
  readonly #streams = new Map<number, { received: number, allowed: number }>()
  /** Bytes received on all streams since the connection's window was last opened. */
  #unopened = 0
  #isMinded = true
  #waiting: NodeJS.Timeout | undefined

  /** @param open sends permission for that many more bytes; 0 is the connection */
  constructor (open: (stream: number, bytes: number) => void) {
    this.#open = open
  }

  /** @param last whether the stream ends with that */
  received (stream: number, bytes: number, last: boolean): void {
    if (!this.#isMinded) return
    const own = this.#streams.get(stream) ?? { received: 0, allowed: WINDOW }
    this.#streams.set(stream, own)
    own.received += bytes
    this.#unopened += bytes
    if (own.received > own.allowed) {
      this.close()
      return
    }
    if (last) this.#streams.delete(stream)
    clearTimeout(this.#waiting)
    const isFull = own.received === own.allowed || this.#unopened === WINDOW
    if (this.#unopened >= WINDOW / 2) this.#waiting = setTimeout(() => { this.#openAll() }, isFull ? FULL : HALF)
  }

  close (): void {
    this.#isMinded = false
    clearTimeout(this.#waiting)
    this.#streams.clear()
  }

  #openAll (): void {
    for (const [stream, own] of this.#streams) {
      const bytes = own.received + WINDOW - own.allowed
      if (bytes === 0) continue
      own.allowed += bytes
      this.#open(stream, bytes)
    }
    this.#open(0, this.#unopened)
    this.#unopened = 0
  }
}

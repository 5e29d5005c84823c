/** A connection that is read unless something holds it: a slow reader of what it says, or a limited rate. */
import type { Socket } from 'node:net'
import { ByteRate } from './byte-rate.js'

export class HeldSource {
  readonly #socket: Socket
  readonly #heldFor = new Set<Socket>()
  #holds = 0

  constructor (socket: Socket) { this.#socket = socket }

  hold (): void {
    this.#holds++
    this.#socket.pause()
  }

  release (): void {
    this.#holds--
    if (this.#holds === 0) this.#socket.resume()
  }

  /** Holds until what was written to the other connection has been sent. */
  holdFor (to: Socket): void {
    if (this.#heldFor.has(to)) return
    this.#heldFor.add(to)
    this.hold()
    const release = (): void => {
      this.#heldFor.delete(to)
      to.off('drain', release).off('close', release)
      this.release()
    }
    to.on('drain', release).on('close', release)
  }
}

/** Holds the source of a stream that has got more than its rate. */
export class StreamRate {
  readonly #rate: ByteRate | undefined
  readonly #source: HeldSource
  #owed = 0
  #isHeld = false

  /** @param perSecond bytes; 0 means unlimited */
  constructor (source: HeldSource, perSecond: number) {
    this.#source = source
    this.#rate = perSecond === 0 ? undefined : new ByteRate(perSecond)
  }

  passed (bytes: number): void {
    if (this.#rate === undefined) return
    this.#owed += bytes
    if (!this.#isHeld) this.#pay(this.#rate)
  }

  #pay (rate: ByteRate): void {
    while (this.#owed > 0) {
      const { piece, wait } = rate.take(this.#owed)
      if (wait > 0) {
        if (!this.#isHeld) this.#source.hold()
        this.#isHeld = true
        setTimeout(() => { this.#pay(rate) }, wait).unref()
        return
      }
      this.#owed -= piece
    }
    if (this.#isHeld) this.#source.release()
    this.#isHeld = false
  }
}

/** Texts that grow piece by piece. */
import { CostExceeded } from './meter.js'

/** Maximum length of the strings that rules create: what a request can hold. */
const MAX_LENGTH = 3 * 1024 * 1024
/** @throws CostExceeded */
export function bounded (length: number): void {
  if (length > MAX_LENGTH) throw new CostExceeded()
}

const PIECES = 1000

/** Many pieces are not added one by one: the engine would keep each for itself. */
export class Text {
  #pieces: string[] = []
  #joined = ''
  #length = 0

  /** @throws CostExceeded */
  add (piece: string): void {
    bounded(this.#length += piece.length)
    if (this.#pieces.push(piece) < PIECES) return
    this.#joined += this.#pieces.join('')
    this.#pieces = []
  }

  toString (): string { return this.#joined + this.#pieces.join('') }
}

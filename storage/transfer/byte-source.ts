/** Takes exact numbers of bytes from chunks of any size. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>
  #waiting: Uint8Array[] = []
  #bytes = 0
  /** Bytes taken. */
  position = 0

  constructor (chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** A copy of the next bytes, fewer only at the end. */
  async take (count: number): Promise<Buffer> {
    while (this.#bytes < count) {
      const { done, value } = await this.#chunks.next()
      if (done === true) break
      this.#waiting.push(value)
      this.#bytes += value.byteLength
    }
    const taken = Buffer.allocUnsafe(Math.min(count, this.#bytes))
    let filled = 0
    while (filled < taken.length) {
      const first = this.#waiting[0]
      if (first === undefined) break
      const part = first.subarray(0, taken.length - filled)
      taken.set(part, filled)
      filled += part.byteLength
      if (part.byteLength === first.byteLength) this.#waiting.shift()
      else this.#waiting[0] = first.subarray(part.byteLength)
    }
    this.#bytes -= filled
    this.position += filled
    return taken
  }

  async close (): Promise<void> { await this.#chunks.return?.() }
}

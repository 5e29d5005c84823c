/**
 * Where an expression reads from, for its size. As upstream's, paths share the storage that they grow into, so a step
 * may replace that of an earlier path of the same variable: definitions are accepted or refused for it.
 */
export class Path {
  readonly #buffer: string[]
  readonly #capacity: number
  readonly #length: number

  private constructor (buffer: string[], capacity: number, length: number) {
    this.#buffer = buffer
    this.#capacity = capacity
    this.#length = length
  }

  static of (step: string): Path { return new Path([step], 1, 1) }

  step (name: string): Path {
    const length = this.#length + 1
    if (this.#capacity >= length) {
      this.#buffer[this.#length] = name
      return new Path(this.#buffer, this.#capacity, length)
    }
    return new Path([...this.steps(), name], this.#capacity * 2, length)
  }

  steps (): string[] { return this.#buffer.slice(0, this.#length) }
}

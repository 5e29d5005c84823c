/** The most recently used decrypted keys, by their encrypted form. */
export class RecentKeys {
  readonly #keys = new Map<string, Uint8Array>()

  /** @param size none if not positive */
  constructor (readonly size: number) {}

  get count (): number { return this.#keys.size }

  get (id: string): Uint8Array | undefined {
    const key = this.#keys.get(id)
    if (key !== undefined) {
      this.#keys.delete(id)
      this.#keys.set(id, key)
    }
    return key
  }

  add (id: string, key: Uint8Array): void {
    if (this.size <= 0) return
    this.#keys.delete(id)
    this.#keys.set(id, key)
    if (this.#keys.size <= this.size) return
    const [oldest] = this.#keys.keys()
    if (oldest !== undefined) this.#keys.delete(oldest)
  }
}

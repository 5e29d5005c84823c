/** Addresses of a network, each of which one object has. */
const PER_BLOCK = 254
const BLOCKS = 256

export class Addresses {
  readonly #network: string
  readonly #taken: () => ReadonlyArray<string | undefined>
  #next = 0
  /** Those of objects that were there first, such as in a fork; later ones differ anyway until all were given. */
  #known: Set<string | undefined> | undefined

  /** @param network the first two bytes */
  constructor (network: string, taken: () => ReadonlyArray<string | undefined>) {
    this.#network = network
    this.#taken = taken
  }

  next (): string {
    for (let tries = 0; tries < PER_BLOCK * BLOCKS; tries++) {
      if (this.#next === PER_BLOCK * BLOCKS) this.#next = 0
      if (this.#next === 0) this.#known = undefined
      this.#known ??= new Set(this.#taken())
      const at = this.#next++
      const address = `${this.#network}.${Math.floor(at / PER_BLOCK)}.${at % PER_BLOCK + 1}`
      if (!this.#known.has(address)) return address
    }
    throw new Error(`all addresses of ${this.#network}.0.0/16 are taken`)
  }
}

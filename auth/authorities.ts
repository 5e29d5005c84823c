/** Trusted CA certificates, replaceable while the server runs. */
export class Authorities {
  #pem: string
  readonly #listeners: Array<() => void> = []

  /** @param pem one certificate or more */
  constructor (pem: string) { this.#pem = pem }

  get pem (): string { return this.#pem }

  /** Calls `then` after each replacement with different certificates. */
  onChange (then: () => void): void { this.#listeners.push(then) }

  /** @param pem must be well formed */
  replace (pem: string): void {
    if (pem === this.#pem) return
    this.#pem = pem
    for (const then of this.#listeners) then()
  }
}

export const authoritiesOf = (trusted: string | Authorities): Authorities =>
  typeof trusted === 'string' ? new Authorities(trusted) : trusted

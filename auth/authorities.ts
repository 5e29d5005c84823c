/** Certificates of authorities that are trusted, which may be replaced while the server runs. */
export class Authorities {
  #pem: string
  readonly #listeners: Array<() => void> = []

  /** @param pem one certificate or more */
  constructor (pem: string) { this.#pem = pem }

  get pem (): string { return this.#pem }

  /** Called after each replacement by other ones. */
  onChange (then: () => void): void { this.#listeners.push(then) }

  /** @param pem known to be well formed */
  replace (pem: string): void {
    if (pem === this.#pem) return
    this.#pem = pem
    for (const then of this.#listeners) then()
  }
}

export const authoritiesOf = (trusted: string | Authorities): Authorities => typeof trusted === 'string' ? new Authorities(trusted) : trusted

/**
 * The keys of an issuer. They are fetched when first needed, looked at again in the background every ten minutes, and at once for
 * a token that none of them fits, as the issuer may have changed them; but never by two at a time nor twice in a few
 * seconds, whatever tokens say. Keys that are known stay in use while the issuer is down.
 */
import { createLocalJWKSet, errors, type CryptoKey, type FlattenedJWSInput, type JSONWebKeySet, type JWSHeaderParameters } from 'jose'

export interface KeySetOptions {
  readonly fetch: () => Promise<unknown>
  /** Milliseconds on a clock that never goes back. */
  readonly now?: () => number
}

/** Milliseconds between two fetches. */
const COOLDOWN = 10_000
const MOST_AGE = 600_000
/** Keys that are tried for a token that names none. */
const MOST_TRIED = 16

type Keys = ReturnType<typeof createLocalJWKSet>

export class KeySet {
  readonly #options: KeySetOptions
  #keys: Keys | undefined
  #fetchedAt = -Infinity
  #triedAt = -Infinity
  #failure: unknown
  #fetching: Promise<void> | undefined

  constructor (options: KeySetOptions) { this.#options = options }

  /**
   * Tries the keys that may fit a token, then once more with new ones.
   * @param verify throws for a key that does not fit
   * @throws what the fetch or the last key has failed with
   */
  async verify<T> (header: JWSHeaderParameters, token: FlattenedJWSInput, verify: (key: CryptoKey) => Promise<T>): Promise<T> {
    const keys = await this.#current()
    try {
      return await tryKeys(keys, header, token, verify)
    } catch (error) {
      const mayBeNew = error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed
      if (!mayBeNew || !this.#mayFetch()) throw error
      await this.#fetch()
      return await tryKeys(this.#keys ?? keys, header, token, verify)
    }
  }

  async #current (): Promise<Keys> {
    if (this.#keys === undefined) {
      if (this.#fetching === undefined && !this.#mayFetch()) throw this.#failure
      await this.#fetch()
    } else if (this.#now() - this.#fetchedAt > MOST_AGE && this.#mayFetch()) {
      this.#fetch().catch(() => {}) // those that are there go on
    }
    return this.#keys as Keys // fetched now or before
  }

  #mayFetch (): boolean { return this.#fetching !== undefined || this.#now() - this.#triedAt >= COOLDOWN }

  #fetch (): Promise<void> {
    this.#fetching ??= this.#read().finally(() => { this.#fetching = undefined })
    return this.#fetching
  }

  async #read (): Promise<void> {
    this.#triedAt = this.#now()
    try {
      this.#keys = createLocalJWKSet(await this.#options.fetch() as JSONWebKeySet) // it throws for anything else
      this.#fetchedAt = this.#now()
    } catch (error) {
      this.#failure = error
      throw error
    }
  }

  #now (): number { return (this.#options.now ?? (() => performance.now()))() }
}

async function tryKeys<T> (keys: Keys, header: JWSHeaderParameters, token: FlattenedJWSInput, verify: (key: CryptoKey) => Promise<T>): Promise<T> {
  let several: errors.JWKSMultipleMatchingKeys
  try {
    return await verify(await keys(header, token))
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    several = error
  }
  let failure: unknown = new errors.JWKSNoMatchingKey()
  let tried = 0
  for await (const key of several) {
    if (++tried > MOST_TRIED) break
    try {
      return await verify(key)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/**
 * An issuer's public keys: fetched on first use, refreshed in the background every ten minutes, and refetched when no
 * key matches a token, because the issuer may have rotated them. Fetches are shared and at least ten seconds apart, so
 * that tokens cannot trigger floods. Known keys stay in use while the issuer is down.
 */
import {
  createLocalJWKSet, errors, type CryptoKey, type FlattenedJWSInput, type JSONWebKeySet, type JWSHeaderParameters
} from 'jose'

export interface KeySetOptions {
  readonly fetch: () => Promise<unknown>
  /** Monotonic clock, milliseconds. */
  readonly now?: () => number
}

/** Minimum milliseconds between two fetches. */
const COOLDOWN = 10_000
const MAX_AGE_MS = 600_000
/** Maximum keys tried for a token that names none. */
const MAX_TRIED_KEYS = 16

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
   * Tries matching keys, then refetches and retries once.
   * @param verify throws if the key does not match
   * @throws the error of the fetch or of the last key
   */
  async verify<T> (
    header: JWSHeaderParameters, token: FlattenedJWSInput, verify: (key: CryptoKey) => Promise<T>
  ): Promise<T> {
    const keys = await this.#current()
    try {
      return await tryKeys(keys, header, token, verify)
    } catch (error) {
      const mayBeNew = error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWSSignatureVerificationFailed
      if (!mayBeNew || !this.#mayFetch()) throw error
      await this.#fetch()
      return await tryKeys(this.#keys ?? keys, header, token, verify)
    }
  }

  async #current (): Promise<Keys> {
    if (this.#keys === undefined) {
      if (this.#fetching === undefined && !this.#mayFetch()) throw this.#failure
      await this.#fetch()
    } else if (this.#now() - this.#fetchedAt > MAX_AGE_MS && this.#mayFetch()) {
      this.#fetch().catch(() => {}) // keep the current keys
    }
    return this.#keys as Keys // set by the fetch or before
  }

  #mayFetch (): boolean { return this.#fetching !== undefined || this.#now() - this.#triedAt >= COOLDOWN }

  #fetch (): Promise<void> {
    this.#fetching ??= this.#read().finally(() => { this.#fetching = undefined })
    return this.#fetching
  }

  async #read (): Promise<void> {
    this.#triedAt = this.#now()
    try {
      this.#keys = createLocalJWKSet(await this.#options.fetch() as JSONWebKeySet) // throws for other types
      this.#fetchedAt = this.#now()
    } catch (error) {
      this.#failure = error
      throw error
    }
  }

  #now (): number { return (this.#options.now ?? (() => performance.now()))() }
}

async function tryKeys<T> (
  keys: Keys, header: JWSHeaderParameters, token: FlattenedJWSInput, verify: (key: CryptoKey) => Promise<T>
): Promise<T> {
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
    if (++tried > MAX_TRIED_KEYS) break
    try {
      return await verify(key)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

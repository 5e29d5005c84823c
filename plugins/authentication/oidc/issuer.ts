/**
 * A token issuer. Its discovery document, which names its key set, is read at start-up and retried until the issuer is
 * reachable. Until then its tokens are rejected; other requests are served.
 */
import { decodeProtectedHeader, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose'
import { KeySet } from './key-set.js'
import { httpsUrl, type DocumentFetcher } from './document-fetcher.js'

export interface IssuerOptions {
  /** Must match the `iss` claim exactly. */
  readonly url: string
  readonly fetcher: DocumentFetcher
  /** Where its discovery document lies; by default below `url`. */
  readonly discoveryUrl?: string | undefined
  /** A token must be for one of them. */
  readonly audiences: readonly string[]
  readonly algorithms: readonly string[]
  /** Called each time the issuer cannot be reached. */
  readonly failed: (error: unknown) => void
  /** Milliseconds since 1970, for the times of tokens. */
  readonly wall: () => number
  /** Monotonic clock, milliseconds, for calls to the issuer. */
  readonly now?: () => number
}

/** Minimum milliseconds between two discovery attempts. */
const COOLDOWN = 10_000
/** Seconds that a token may be early. */
const SKEW = 60
/** Google's tokens may name it without a scheme. @see OpenID Connect Core, section 15.6.2 */
const GOOGLE = 'https://accounts.google.com'
const BARE_GOOGLE = 'accounts.google.com'

/** The issuer that the `iss` claim of a token stands for. */
export const issuerNamed = (claim: unknown): unknown => claim === BARE_GOOGLE ? GOOGLE : claim

export class Issuer {
  readonly #options: IssuerOptions
  #keys: KeySet | undefined
  #failure: unknown
  #triedAt = -Infinity
  #discovering: Promise<KeySet> | undefined
  #closed = false
  #timer: NodeJS.Timeout | undefined

  constructor (options: IssuerOptions) {
    httpsUrl(options.url, 'the issuer')
    this.#options = options
  }

  /** Begins discovery, which is repeated until it succeeds. @returns a promise that then resolves */
  async begin (): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#discover()
        return
      } catch {
        await new Promise<void>(resolve => {
          this.#timer = setTimeout(resolve, COOLDOWN)
          this.#timer.unref()
        })
      }
    }
  }

  close (): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  /** Verifies a token and returns its claims. @throws Error if it is invalid or the issuer is unreachable */
  async verify (token: string): Promise<JWTPayload> {
    const keys = this.#keys ?? await this.#discovered()
    const { url, audiences, algorithms, wall } = this.#options
    const options: JWTVerifyOptions = {
      issuer: url === GOOGLE ? [GOOGLE, BARE_GOOGLE] : url, audience: [...audiences], algorithms: [...algorithms],
      clockTolerance: SKEW, requiredClaims: ['exp'], currentDate: new Date(wall())
    }
    const header = decodeProtectedHeader(token)
    if (header.alg === undefined || !algorithms.includes(header.alg)) {
      throw new Error('the algorithm of the token is not one of those allowed')
    }
    const [protectedHeader = '', payload = '', signature = ''] = token.split('.')
    const { payload: claims } = await keys.verify(
      { ...header, alg: header.alg }, { protected: protectedHeader, payload, signature },
      key => jwtVerify(token, key, options)
    )
    if ((claims.exp ?? 0) * 1000 <= wall()) throw new Error('the token has expired') // the tolerance is for `nbf`
    return claims
  }

  async #discovered (): Promise<KeySet> {
    const { now = () => performance.now() } = this.#options
    if (this.#discovering === undefined && now() - this.#triedAt < COOLDOWN) {
      throw new Error('the issuer could not be reached', { cause: this.#failure })
    }
    return await this.#discover()
  }

  #discover (): Promise<KeySet> {
    this.#discovering ??= this.#read().finally(() => { this.#discovering = undefined })
    return this.#discovering
  }

  async #read (): Promise<KeySet> {
    const { url, discoveryUrl, fetcher, failed, now = () => performance.now() } = this.#options
    this.#triedAt = now()
    const fetch = async (from: URL): Promise<unknown> => await fetcher.json(from).catch((error: unknown) => {
      failed(error)
      throw error
    })
    try {
      const document = await fetch(
        new URL(discoveryUrl ?? `${url.replace(/\/$/, '')}/.well-known/openid-configuration`)
      )
      const { issuer, jwks_uri: uri } = (document ?? {}) as Record<string, unknown> // other types have neither member
      if (issuer !== url) throw new Error(`${url} says that it is another issuer`)
      const from = httpsUrl(uri, `jwks_uri of ${url}`)
      this.#keys = new KeySet({ fetch: () => fetch(from), now })
      return this.#keys
    } catch (error) {
      this.#failure = error
      failed(error)
      throw error
    }
  }
}

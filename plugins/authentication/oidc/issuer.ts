/**
 * An issuer of tokens: where its keys are is in a document below its URL, read when the server starts or as soon as the issuer
 * can be reached. Until then its tokens are nobody's, and everybody else is served.
 */
import { decodeProtectedHeader, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose'
import { KeySet } from './key-set.js'
import { httpsUrl, type Outside } from './outside.js'

export interface IssuerOptions {
  /** As it stands in tokens, to the letter. */
  readonly url: string
  readonly outside: Outside
  /** Who tokens must be for. */
  readonly audience: string
  readonly algorithms: readonly string[]
  /** Told of each time it could not be reached. */
  readonly failed: (error: unknown) => void
  /** Milliseconds on a clock that never goes back. */
  readonly now?: () => number
}

/** Milliseconds between two attempts to read the document. */
const COOLDOWN = 10_000
/** Seconds that clocks may differ. */
const SKEW = 10

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

  /** Tries until it is there, and waits for nothing. */
  begin (): void {
    this.#discover().catch(() => {
      if (this.#closed) return
      this.#timer = setTimeout(() => { this.begin() }, COOLDOWN)
      this.#timer.unref()
    })
  }

  close (): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  /** The claims of a token. @throws Error for one that is not good, or that nobody can tell of now */
  async verify (token: string): Promise<JWTPayload> {
    const keys = this.#keys ?? await this.#discovered()
    const { url, audience, algorithms } = this.#options
    const options: JWTVerifyOptions = { issuer: url, audience, algorithms: [...algorithms], clockTolerance: SKEW, requiredClaims: ['exp'] }
    const header = decodeProtectedHeader(token)
    if (header.alg === undefined || !algorithms.includes(header.alg)) throw new Error('the algorithm of the token is not one of those allowed')
    const [protectedHeader = '', payload = '', signature = ''] = token.split('.')
    const { payload: claims } = await keys.verify({ ...header, alg: header.alg }, { protected: protectedHeader, payload, signature }, key => jwtVerify(token, key, options))
    return claims
  }

  async #discovered (): Promise<KeySet> {
    const { now = () => performance.now() } = this.#options
    if (this.#discovering === undefined && now() - this.#triedAt < COOLDOWN) throw new Error('the issuer could not be reached', { cause: this.#failure })
    return await this.#discover()
  }

  #discover (): Promise<KeySet> {
    this.#discovering ??= this.#read().finally(() => { this.#discovering = undefined })
    return this.#discovering
  }

  async #read (): Promise<KeySet> {
    const { url, outside, failed, now = () => performance.now() } = this.#options
    this.#triedAt = now()
    const fetch = async (from: URL): Promise<unknown> => await outside.json(from).catch((error: unknown) => {
      failed(error)
      throw error
    })
    try {
      const document = await fetch(new URL(`${url.replace(/\/$/, '')}/.well-known/openid-configuration`))
      const { issuer, jwks_uri: uri } = (document ?? {}) as Record<string, unknown> // anything else has neither
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

/**
 * Authenticates service account tokens: signed by a known key and issuer, for an accepted audience, within their
 * validity, for an existing account. Verified signatures are cached; the rest is checked on every request,
 * synchronously if the watch cache is current. (Interface: Service account tokens.)
 */
import type { Authenticated, Authenticator, Credentials } from '../../../auth/authenticator.js'
import type { UserInfo } from '../../../schemas/meta/user-info.js'
import type { Outside } from '../../shared/outside.js'
import { bearerToken } from '../token-file.js'
import { SECRET_ISSUER } from './claims.js'
import type { KeptTokens } from './kept-tokens.js'
import { mayBeCompact, parseCompact } from './compact.js'
import { digestOf, passAll } from './binding-checks.js'
import { checkTime, type Issued, type VerificationOptions, type Verified, verifyToken } from './verification.js'
import { VerifiedTokens } from './verified-tokens.js'
import { quote } from '../../../schemas/quote.js'

export interface AuthenticatorOptions extends VerificationOptions {
  readonly issuers: ReadonlySet<string>
  /** Audiences of the server, the default for credentials that name none. */
  readonly audiences: readonly string[]
  /** What a token says, under own names. */
  readonly ownClaims: Outside['tokens']['read']
  readonly kept?: KeptTokens | undefined
  /** Called on each use of a token. */
  readonly counted: (kind: 'legacy' | 'stale' | 'valid') => void
}

/** The user of a token and the requested audiences it is valid for. */
export interface Identified { readonly user: UserInfo, readonly audiences: readonly string[] }

/** Maximum characters of a header besides its token. */
const MAX_HEADER_OVERHEAD = 16

const userAlone = (identified: Identified | undefined): Authenticated | undefined => identified?.user
const asAuthenticated = (identified: Identified | undefined): Authenticated | undefined =>
  identified === undefined ? undefined : { ...identified.user, audiences: identified.audiences }

type Requested = { [Member in 'audiences' | 'annotate' | 'warn']?: Credentials[Member] | undefined }

export class ServiceAccountAuthenticator implements Authenticator {
  readonly name = 'service-account'
  readonly knowsAudiences = true
  readonly #options: AuthenticatorOptions
  readonly #known = new VerifiedTokens<Verified>()
  /** Caches results by the whole header, to skip the digest, the most expensive step. Short headers only. */
  readonly #headers = new VerifiedTokens<Verified>(1024)
  /** Pending verifications by digest, shared by concurrent requests. */
  readonly #pending = new Map<string, Promise<Verified>>()

  constructor (options: AuthenticatorOptions) { this.#options = options }

  authenticate (credentials: Credentials): Authenticated | undefined | Promise<Authenticated | undefined> {
    const header = credentials.headers['authorization']
    const seen = typeof header === 'string' ? this.#headers.get(header, this.#options.now()) : undefined
    const token = seen === undefined ? bearerToken(header) : ''
    if (token === undefined) return undefined
    const identified = seen === undefined
      ? this.identify(
          token, credentials,
          typeof header === 'string' && header.length < token.length + MAX_HEADER_OVERHEAD ? header : undefined
        )
      : this.#admit(seen, credentials)
    // Callers without audiences rely on getting the same user object each time.
    const answer = credentials.audiences === undefined ? userAlone : asAuthenticated
    return identified instanceof Promise ? identified.then(answer) : answer(identified)
  }

  /**
   * Undefined if the token is not from an accepted issuer.
   * @param header also used as a cache key
   * @throws Error or rejects if the token is invalid
   */
  identify (
    token: string, requested: Requested = {}, header?: string
  ): Identified | undefined | Promise<Identified> {
    if (!mayBeCompact(token)) return undefined
    const digest = digestOf(token)
    const known = this.#known.get(digest, this.#options.now())
    if (known !== undefined) {
      if (header !== undefined) this.#headers.set(header, known, this.#options.now())
      return this.#admit(known, requested)
    }
    const sent = parseCompact(token)
    const parts = sent === undefined ? sent : { ...sent, claims: this.#options.ownClaims(sent.claims) }
    const issuer = parts?.claims['iss']
    if (parts === undefined || typeof issuer !== 'string' ||
      !(issuer === SECRET_ISSUER || this.#options.issuers.has(issuer))) return undefined
    let pending = this.#pending.get(digest)
    if (pending === undefined) {
      pending = this.#verify(token, digest, { ...parts, issuer }).finally(() => { this.#pending.delete(digest) })
      this.#pending.set(digest, pending)
    }
    return pending.then(verified => this.#admit(verified, requested))
  }

  async #verify (token: string, digest: string, parts: Issued): Promise<Verified> {
    const verified = await verifyToken(token, digest, parts, this.#options)
    this.#known.set(digest, verified, this.#options.now())
    return verified
  }

  #admit (
    verified: Verified, { audiences: requested, annotate, warn }: Requested
  ): Identified | Promise<Identified> {
    const { audiences: own, counted, now } = this.#options
    checkTime(verified, now())
    const { user } = verified
    const target = requested ?? own
    const audiences = target.filter(audience => (verified.audiences ?? own).includes(audience))
    if (audiences.length === 0) {
      throw new Error(`token audiences ${audiencesText(verified.audiences ?? own)} is invalid for the target ` +
        `audiences ${audiencesText(target)}`)
    }
    if (verified.audiences === undefined) {
      annotate?.('authentication.orch.io/legacy-token', user.username)
      counted('legacy')
    }
    const refused = (error: unknown): never => {
      if (verified.kept !== undefined) this.#options.kept?.refused(verified.kept, annotate)
      throw error
    }
    let pending
    try {
      pending = passAll(verified.checks)
    } catch (error) {
      refused(error)
    }
    if (pending !== undefined) return pending.then(() => this.#used(verified, audiences, { annotate, warn }), refused)
    return this.#used(verified, audiences, { annotate, warn })
  }

  #used (
    { user, warnAfter, kept }: Verified, audiences: readonly string[],
    { annotate, warn }: Pick<Requested, 'annotate' | 'warn'>
  ): Identified {
    if (kept !== undefined) this.#options.kept?.used(kept, { annotate, warn })
    if (warnAfter !== undefined && warnAfter !== 0) {
      const late = Math.floor(this.#options.now() / 1000) - warnAfter
      if (late > 0) {
        annotate?.(
          'authentication.orch.io/stale-token', `subject: ${user.username}, seconds after warning threshold: ${late}`
        )
      }
      this.#options.counted(late > 0 ? 'stale' : 'valid')
    }
    return { user, audiences }
  }
}

/** Clients see this message, so list the audiences to help fix misconfigurations. */
const audiencesText = (audiences: readonly string[]): string => `[${audiences.slice(0, 10).map(quote).join(' ')}]`

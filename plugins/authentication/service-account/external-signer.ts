/**
 * Tokens of service accounts that a service at a local socket signs: keys never come into this process, and change
 * without a restart. @see `--service-account-signing-endpoint`
 */
import { createPublicKey } from 'node:crypto'
import { socketCalls, type Call, type SocketCalls } from '../../../clients/socket-calls.js'
import { quote } from '../../../schemas/quote.js'
import { parseCompact } from './compact.js'
import {
  FetchKeysRequest, FetchKeysResponse, MetadataRequest, MetadataResponse, SignRequest, SignResponse, type Key
} from './external-signer.proto.js'
import { tokenKey, type TokenKey } from './keys.js'

/** A key of the service; one that is not published verifies tokens and signs none. */
export interface ExternalKey extends TokenKey { readonly published: boolean }

export interface ExternalSigner {
  /** Rejects with an Error if the service fails, or answers what no server would accept. */
  readonly sign: (payload: object) => Promise<string>
  /** What the service named last. */
  readonly keys: () => readonly ExternalKey[]
  /** Seconds after which `keys` may be others. */
  readonly keysMaxAge: () => number
  /** Asks for the keys, once at a time and not more than once a second. Never rejects. */
  readonly refresh: () => Promise<void>
  /** Longest lifetime of its tokens. */
  readonly maxExpirationSeconds: number
  readonly close: () => void
}

export interface ExternalSignerOptions {
  /** Of the socket. */
  readonly path: string
  /** Milliseconds of a call. Default 5,000. */
  readonly timeout?: number
  readonly log: (message: string, error: unknown) => void
}

const FLAG = '--service-account-signing-endpoint'
const TIMEOUT = 5000
const SECOND = 1000
const MAX_ID = 1024
/** Reading a key takes 0.1 ms. */
const MAX_KEYS = 100
/** Of a lifetime that a service may state. */
const LEAST_SECONDS = 600
/** Timers hold no longer times. */
const MAX_REFRESH_SECONDS = 24 * 3600
const ALGORITHMS = ['RS256', 'ES256', 'ES384', 'ES512']
const MEMBERS = ['alg', 'kid', 'typ']

/** Rejects with an Error if the service does not answer, or has no usable key. */
export async function externalSigner (
  { path, timeout = TIMEOUT, log }: ExternalSignerOptions
): Promise<ExternalSigner> {
  const calls = socketCalls(path, 'v1.ExternalJWTSigner')
  try {
    return await connected(calls, timeout, log)
  } catch (error) {
    calls.close()
    throw new Error(`${FLAG}=${path}: the service there cannot be used: ${String(error)}`, { cause: error })
  }
}

async function connected (
  { call, close }: SocketCalls, timeout: number, log: ExternalSignerOptions['log']
): Promise<ExternalSigner> {
  const ask = async <T>(request: Omit<Call<T>, 'deadline'>): Promise<T> =>
    await call({ ...request, deadline: Date.now() + timeout })
  const { maxTokenExpirationSeconds } = await ask({
    method: 'Metadata', request: MetadataRequest.encode({}).finish(), decode: MetadataResponse.decode
  })
  if (maxTokenExpirationSeconds < LEAST_SECONDS) {
    throw new Error(`its tokens live for ${maxTokenExpirationSeconds} seconds at most; ${LEAST_SECONDS} are needed`)
  }
  const fetchKeys = async (): Promise<{ keys: readonly ExternalKey[], seconds: number }> => {
    const { keys, refreshHintSeconds: seconds } = await ask({
      method: 'FetchKeys', request: FetchKeysRequest.encode({}).finish(), decode: FetchKeysResponse.decode
    })
    if (keys.length === 0) throw new Error('it named no keys')
    if (keys.length > MAX_KEYS) throw new Error(`it named ${keys.length} keys; at most ${MAX_KEYS} are allowed`)
    if (seconds <= 0) throw new Error(`it asks for its keys every ${seconds} seconds`)
    return { keys: keys.map(keyOf), seconds: Math.min(seconds, MAX_REFRESH_SECONDS) }
  }
  let known = await fetchKeys()
  let askedAt = performance.now()
  let asking: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  const follow = (): void => {
    clearTimeout(timer)
    if (!closed) timer = setTimeout(() => { void refresh() }, known.seconds * SECOND).unref()
  }
  const fetchAgain = async (): Promise<void> => {
    askedAt = performance.now()
    try {
      known = await fetchKeys()
    } catch (error) {
      if (!closed) log(`${FLAG}: keys could not be fetched; those from before are used`, error)
    }
    follow()
  }
  const refresh = (): Promise<void> => {
    if (asking === undefined && performance.now() - askedAt < SECOND) return Promise.resolve()
    return asking ??= fetchAgain().finally(() => { asking = undefined })
  }
  follow()
  return {
    sign: async payload => {
      const claims = Buffer.from(JSON.stringify(payload)).toString('base64url')
      const { header, signature } = await ask({
        method: 'Sign', request: SignRequest.encode({ claims }).finish(), decode: SignResponse.decode
      })
      const token = `${header}.${claims}.${signature}`
      const id = idIn(token)
      if (!known.keys.some(key => key.id === id)) await refresh()
      if (known.keys.some(key => key.id === id && !key.published)) {
        throw new Error(`the service that signs tokens used its key ${quote(id)}, which it does not publish`)
      }
      return token
    },
    keys: () => known.keys,
    keysMaxAge: () => known.seconds,
    refresh,
    maxExpirationSeconds: maxTokenExpirationSeconds,
    close: () => {
      closed = true
      clearTimeout(timer)
      close()
    }
  }
}

/** @throws Error for a key that cannot verify tokens */
function keyOf ({ keyId, key, excludeFromOidcDiscovery }: Key): ExternalKey {
  if (keyId === '' || keyId.length > MAX_ID) throw new Error(`a key of it has a name of ${keyId.length} characters`)
  const publicKey = createPublicKey({ key: Buffer.from(key), format: 'der', type: 'spki' })
  return { ...tokenKey(publicKey), id: keyId, published: !excludeFromOidcDiscovery }
}

/** The name of the key that signed a token. @throws Error for a header that no server accepts */
function idIn (token: string): string {
  const { header } = parseCompact(token) ?? {}
  const problem = header === undefined
    ? 'is no token'
    : Object.keys(header).some(name => !MEMBERS.includes(name))
      ? `has a header with other members than ${MEMBERS.join(', ')}`
      : header['typ'] !== 'JWT'
        ? 'is of another type than JWT'
        : !ALGORITHMS.includes(String(header['alg'])) ? `is signed by none of ${ALGORITHMS.join(', ')}` : undefined
  const id = header?.['kid']
  if (problem !== undefined) throw new Error(`what the service that signs tokens answered ${problem}`)
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID) {
    throw new Error('the service that signs tokens names no key')
  }
  return id
}

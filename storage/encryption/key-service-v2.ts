/**
 * A client of a key service (`kms` of an EncryptionConfiguration, version 2) at a local socket. The service says which
 * key it uses; when that changes, a new seed is made and encrypted.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { SocketCalls } from '../../clients/socket-calls.js'
import { newKey } from './data-keys.js'
import { keyServiceCalls } from './key-service-calls.js'
import { KeyServiceError } from './key-service-error.js'
import {
  DecryptRequest, DecryptResponse, EncryptRequest, EncryptResponse, StatusRequest, StatusResponse, type EncryptedKey
} from './key-service-v2.proto.js'
import { UNOBSERVED_SERVICE, type KeyServiceObserver, type TransformationObserver } from './observer.js'

/** What keys of values are derived from. */
export interface Seed {
  readonly plain: Uint8Array
  readonly encrypted: EncryptedKey
}

/** All methods reject with a KeyServiceError, after the timeout of a call at the latest. */
export interface SeedService {
  /** The seed that encrypts now; a promise where the service has to be asked first. */
  readonly current: () => Seed | Promise<Seed>
  readonly decrypt: (key: EncryptedKey) => Promise<Uint8Array>
  /** The key that the service used when it was asked last. */
  readonly keyId: () => string | undefined
  /** Asks for the state of the service, and follows its key. */
  readonly check: () => Promise<void>
  /** Rejects unless the service decrypts the seed that it encrypted. */
  readonly checkDecryption: () => Promise<void>
  readonly close: () => void
}

export interface SeedServiceOptions {
  readonly name: string
  /** Of the socket. */
  readonly path: string
  /** Milliseconds of a call. */
  readonly timeout: number
  readonly generated: TransformationObserver['generated']
  readonly observer?: KeyServiceObserver
  /** Milliseconds between questions for the key. Default a minute, as upstream. */
  readonly interval?: number
}

const MINUTE = 60_000
/** For how long a seed may be used after the service was asked last. */
const VALIDITY = 3 * MINUTE
const VERSIONS = ['v2', 'v2beta1']
const MAX_NAME_BYTES = 1024
const MAX_KEY_BYTES = 1024
const MAX_ANNOTATION_BYTES = 32 * 1024
const DOMAIN = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/

export const seedService = (options: SeedServiceOptions): SeedService => new KeyServiceClient(options)

class KeyServiceClient implements SeedService {
  readonly #name: string
  readonly #timeout: number
  readonly #generated: TransformationObserver['generated']
  readonly #observer: KeyServiceObserver
  readonly #calls: SocketCalls
  readonly #following: NodeJS.Timeout
  #seed: Seed | undefined
  #validUntil = -Infinity
  #asking: Promise<Seed> | undefined
  #checking: Promise<void> | undefined

  constructor (
    { name, path, timeout, generated, observer = UNOBSERVED_SERVICE, interval = MINUTE }: SeedServiceOptions
  ) {
    this.#name = name
    this.#timeout = timeout
    this.#generated = generated
    this.#observer = observer
    this.#calls = observedCalls(keyServiceCalls(name, path, 'v2'), observer)
    this.#following = setInterval(() => { this.#ask().catch(() => {}) }, interval).unref() // health checks report it
  }

  current (): Seed | Promise<Seed> {
    return this.#seed !== undefined && Date.now() < this.#validUntil ? this.#seed : this.#ask()
  }

  async decrypt (key: EncryptedKey): Promise<Uint8Array> {
    const request = DecryptRequest.encode({ ...key, uid: randomUUID() }).finish()
    return (await this.#call('Decrypt', request, DecryptResponse.decode)).plaintext
  }

  keyId (): string | undefined {
    return this.#seed?.encrypted.keyId
  }

  async check (): Promise<void> {
    await this.#ask()
  }

  checkDecryption (): Promise<void> {
    return this.#checking ??= this.#decryptSeed().finally(() => { this.#checking = undefined })
  }

  close (): void {
    clearInterval(this.#following)
    this.#calls.close()
  }

  async #decryptSeed (): Promise<void> {
    const { plain, encrypted } = await this.#ask()
    if (Buffer.compare(plain, await this.decrypt(encrypted)) === 0) return
    throw new KeyServiceError('DataLoss', `the key service ${this.#name} decrypts to another key than it encrypted`)
  }

  #ask (): Promise<Seed> {
    return this.#asking ??= this.#refresh().finally(() => { this.#asking = undefined })
  }

  async #refresh (): Promise<Seed> {
    const keyId = await this.#currentKeyId()
    const kept = this.#seed
    if (kept?.encrypted.keyId !== keyId) {
      const fresh = await this.#newSeed()
      // While its key changes, a service may encrypt with the other one than it says: what there is serves until then.
      this.#seed = kept === undefined || fresh.encrypted.keyId === keyId ? fresh : kept
    }
    this.#validUntil = Date.now() + VALIDITY
    return this.#seed as Seed // just set, or the one whose key was compared
  }

  async #currentKeyId (): Promise<string> {
    const { version, healthz, keyId } =
      await this.#call('Status', StatusRequest.encode({}).finish(), StatusResponse.decode)
    if (!VERSIONS.includes(version)) {
      throw new KeyServiceError(
        'Unimplemented', `the key service ${this.#name} has another version than ${VERSIONS[0]}`
      )
    }
    if (healthz !== 'ok') throw this.#invalid('says that it does not work')
    try {
      this.#checkKeyId(keyId)
    } catch (error) {
      this.#observer.misnamed(keyId === '' ? 'empty' : 'too_long')
      throw error
    }
    this.#observer.named(keyId)
    return keyId
  }

  async #newSeed (): Promise<Seed> {
    const plain = newKey(this.#generated, randomBytes)
    const request = EncryptRequest.encode({ plaintext: plain, uid: randomUUID() }).finish()
    const { ciphertext, keyId, annotations } = await this.#call('Encrypt', request, EncryptResponse.decode)
    this.#checkKeyId(keyId)
    if (ciphertext.length === 0 || ciphertext.length > MAX_KEY_BYTES) {
      throw this.#invalid(`returned an encrypted key of ${ciphertext.length} bytes; 1 to ${MAX_KEY_BYTES} are allowed`)
    }
    if (annotations.some(({ key }) => !DOMAIN.test(key))) {
      throw this.#invalid('returned annotations not named by domains')
    }
    const size = annotations.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + value.length, 0)
    if (size > MAX_ANNOTATION_BYTES) throw this.#invalid(`returned annotations of ${size} bytes`)
    return { plain, encrypted: { ciphertext: Buffer.from(ciphertext), keyId, annotations: annotations.map(copied) } }
  }

  #checkKeyId (id: string): void {
    const bytes = Buffer.byteLength(id)
    if (bytes > 0 && bytes <= MAX_NAME_BYTES) return
    throw this.#invalid(`named its key with ${bytes} bytes; 1 to ${MAX_NAME_BYTES} are allowed`)
  }

  #call<T> (method: string, request: Uint8Array, decode: (bytes: Buffer) => T): Promise<T> {
    return this.#calls.call({ method, request, decode, deadline: Date.now() + this.#timeout })
  }

  #invalid (what: string): KeyServiceError {
    return new KeyServiceError('unknown-non-grpc', `the key service ${this.#name} ${what}`)
  }
}

function observedCalls ({ call, close }: SocketCalls, { called }: KeyServiceObserver): SocketCalls {
  return {
    close,
    call: async request => {
      const since = performance.now()
      const ended = (status: string): void => { called(request.method, status, (performance.now() - since) / 1000) }
      try {
        const answer = await call(request)
        ended('OK')
        return answer
      } catch (error) {
        ended(error instanceof KeyServiceError ? error.status : 'unknown-non-grpc')
        throw error
      }
    }
  }
}

/** Read messages are views of the bytes that arrived. */
const copied = <T extends { readonly value: Uint8Array }>(annotation: T): T =>
  ({ ...annotation, value: Buffer.from(annotation.value) })

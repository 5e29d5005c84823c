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

export function seedService (
  { name, path, timeout, generated, observer = UNOBSERVED_SERVICE, interval = MINUTE }: SeedServiceOptions
): SeedService {
  const { call, close } = observedCalls(keyServiceCalls(name, path, 'v2'), observer)
  const invalid = (what: string): KeyServiceError =>
    new KeyServiceError('unknown-non-grpc', `the key service ${name} ${what}`)
  const until = (): number => Date.now() + timeout
  let seed: Seed | undefined
  let validUntil = -Infinity
  let asking: Promise<Seed> | undefined

  const checkKeyId = (id: string): void => {
    if (id === '' || Buffer.byteLength(id) > MAX_NAME_BYTES) {
      throw invalid(`named its key with ${Buffer.byteLength(id)} bytes; 1 to ${MAX_NAME_BYTES} are allowed`)
    }
  }
  const keyOf = async (): Promise<string> => {
    const { version, healthz, keyId } = await call({
      method: 'Status', request: StatusRequest.encode({}).finish(), decode: StatusResponse.decode, deadline: until()
    })
    if (!VERSIONS.includes(version)) {
      throw new KeyServiceError('Unimplemented', `the key service ${name} has another version than ${VERSIONS[0]}`)
    }
    if (healthz !== 'ok') throw invalid('says that it does not work')
    try {
      checkKeyId(keyId)
    } catch (error) {
      observer.misnamed(keyId === '' ? 'empty' : 'too_long')
      throw error
    }
    observer.named(keyId)
    return keyId
  }
  const newSeed = async (): Promise<Seed> => {
    const plain = newKey(generated, randomBytes)
    const { ciphertext, keyId, annotations } = await call({
      method: 'Encrypt', request: EncryptRequest.encode({ plaintext: plain, uid: randomUUID() }).finish(),
      decode: EncryptResponse.decode, deadline: until()
    })
    checkKeyId(keyId)
    if (ciphertext.length === 0 || ciphertext.length > MAX_KEY_BYTES) {
      throw invalid(`returned an encrypted key of ${ciphertext.length} bytes; 1 to ${MAX_KEY_BYTES} are allowed`)
    }
    if (annotations.some(({ key }) => !DOMAIN.test(key))) throw invalid('returned annotations not named by domains')
    const size = annotations.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + value.length, 0)
    if (size > MAX_ANNOTATION_BYTES) throw invalid(`returned annotations of ${size} bytes`)
    return { plain, encrypted: { ciphertext: Buffer.from(ciphertext), keyId, annotations: annotations.map(copied) } }
  }
  const refresh = async (): Promise<Seed> => {
    const keyId = await keyOf()
    const kept = seed
    if (kept?.encrypted.keyId !== keyId) {
      const made = await newSeed()
      // While its key changes, a service may encrypt with the other one than it says: what there is serves until then.
      seed = kept === undefined || made.encrypted.keyId === keyId ? made : kept
    }
    validUntil = Date.now() + VALIDITY
    return seed as Seed // just set, or the one whose key was compared
  }
  const ask = (): Promise<Seed> => asking ??= refresh().finally(() => { asking = undefined })
  const decrypt = async (key: EncryptedKey): Promise<Uint8Array> => (await call({
    method: 'Decrypt', request: DecryptRequest.encode({ ...key, uid: randomUUID() }).finish(),
    decode: DecryptResponse.decode, deadline: until()
  })).plaintext
  const checkDecryption = async (): Promise<void> => {
    const { plain, encrypted } = await ask()
    if (Buffer.compare(plain, await decrypt(encrypted)) === 0) return
    throw new KeyServiceError('DataLoss', `the key service ${name} decrypts to another key than it encrypted`)
  }
  let checking: Promise<void> | undefined
  const following = setInterval(() => { ask().catch(() => {}) }, interval).unref() // health checks report it

  return {
    current: () => seed !== undefined && Date.now() < validUntil ? seed : ask(),
    decrypt,
    keyId: () => seed?.encrypted.keyId,
    check: async () => { await ask() },
    checkDecryption: () => checking ??= checkDecryption().finally(() => { checking = undefined }),
    close: () => {
      clearInterval(following)
      close()
    }
  }
}

function observedCalls ({ call, close }: SocketCalls, { called }: KeyServiceObserver): SocketCalls {
  return {
    close,
    call: async one => {
      const since = performance.now()
      const ended = (status: string): void => { called(one.method, status, (performance.now() - since) / 1000) }
      try {
        const answer = await call(one)
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

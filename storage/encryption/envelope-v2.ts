/**
 * Envelope encryption, version 2: a key service encrypts a seed, which serves until the service has another key. The
 * key of each value is derived from the seed and 32 random bytes. A stored value is a message `EncryptedObject`, whose
 * data is those bytes, then nonce, text and tag of AES-GCM. As upstream.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { aesGcm, type Cipher, type Decrypted } from './cipher.js'
import { DataKeys } from './data-keys.js'
import { EncryptedObject, type StoredObject } from './key-service-v2.proto.js'
import type { Seed, SeedService } from './key-service-v2.js'
import type { KeyServiceObserver, TransformationObserver } from './observer.js'

const INFO_BYTES = 32
/** Seeds of this many servers, restarts and keys stay in memory. */
const SEEDS = 1000

/** Values of `sourceType`. */
const [KEY, SEED] = [0, 1]
const NOTHING = new Uint8Array(0)

export function envelopeV2 (
  service: SeedService, observer: TransformationObserver, { used, kept }: KeyServiceObserver
): Cipher {
  const sources = new DataKeys(SEEDS, observer, kept)
  const seal = (seed: Seed, value: Uint8Array, at: string): Uint8Array => {
    const { keyId, ciphertext: encryptedSource, annotations } = seed.encrypted
    const object = { keyId, encryptedSource, annotations, sourceType: SEED }
    sources.add(idOf(object), seed.plain)
    const info = randomBytes(INFO_BYTES)
    const encryptedData = Buffer.concat([info, aesGcm(derived(seed.plain, info)).encrypt(value, at)])
    used('to_storage', keyId)
    return EncryptedObject.encode({ encryptedData, ...object }).finish()
  }
  return {
    encrypt: (value, at) => {
      const seed = service.current()
      return seed instanceof Promise ? seed.then(ready => seal(ready, value, at)) : seal(seed, value, at)
    },
    decrypt: (stored, at) => {
      const object = read(stored)
      const { keyId, encryptedSource: ciphertext, annotations } = object
      const reader = {
        decrypt: () => service.decrypt({ keyId, ciphertext, annotations }), check: () => service.checkDecryption()
      }
      return sources.open(idOf(object), reader, plain => {
        const outdated = object.sourceType !== SEED || (service.keyId() ?? keyId) !== keyId
        const decrypted = decrypt(plain, object, at)
        used('from_storage', keyId)
        return { ...decrypted, outdated }
      })
    }
  }
}

function read (stored: Uint8Array): StoredObject {
  let object: StoredObject
  try {
    object = EncryptedObject.decode(stored)
  } catch (error) {
    throw new Error('the value is no message of version 2 of the protocol', { cause: error })
  }
  const { encryptedData, encryptedSource, keyId, sourceType } = object
  if (encryptedData.length === 0 || encryptedSource.length === 0 || keyId === '' || sourceType > SEED) {
    throw new Error('the value has no encrypted key')
  }
  return object
}

function decrypt (plain: Uint8Array, { encryptedData: data, sourceType }: StoredObject, at: string): Decrypted {
  if (sourceType === KEY) return aesGcm(plain).decrypt(data, at)
  if (data.length < INFO_BYTES) throw new Error('the value is too short')
  return aesGcm(derived(plain, data.subarray(0, INFO_BYTES))).decrypt(data.subarray(INFO_BYTES), at)
}

/** HKDF's expansion with SHA-256, of which a key is the first block. */
const derived = (seed: Uint8Array, info: Uint8Array): Buffer =>
  createHmac('sha256', seed).update(info).update(FIRST_BLOCK).digest()

const FIRST_BLOCK = Buffer.from([1])

/** What a source is known by: all that the service gets to decrypt it. */
const idOf = (object: Omit<StoredObject, 'encryptedData'>): string =>
  Buffer.from(EncryptedObject.encode({ ...object, encryptedData: NOTHING }).finish()).toString('latin1')

/**
 * Envelope encryption: each value has its own key, which a key service encrypts. A stored value is: length of the
 * encrypted key (2 bytes), encrypted key, encrypted value. Written with AES-CBC; AES-GCM is also read. As upstream.
 */
import { randomBytes } from 'node:crypto'
import { aesCbc, aesGcm, BLOCK, type Cipher, type Decrypted } from './cipher.js'
import { KeyServiceError } from './key-service-error.js'
import type { KeyService } from './key-service.js'
import type { TransformationObserver } from './observer.js'
import { RecentKeys } from './recent-keys.js'

const KEY_BYTES = 32
const MAX_ENCRYPTED = 0xffff

/** @param cacheSize number of decrypted keys in memory; none if negative */
export function envelope (
  service: KeyService, cacheSize: number, { missed, generated }: TransformationObserver
): Cipher {
  const keys = new RecentKeys(cacheSize)
  const pending = new Map<string, Promise<Uint8Array>>()
  const decryptKey = async (encrypted: Uint8Array, id: string): Promise<Uint8Array> => {
    if (cacheSize > 0) missed()
    const key = await dataKey(service, encrypted)
    keys.add(id, key)
    return key
  }
  return {
    encrypt: async value => {
      const key = newKey(generated)
      const encrypted = await service.encrypt(key)
      if (encrypted.length === 0 || encrypted.length > MAX_ENCRYPTED) {
        throw new KeyServiceError(
          'unknown-non-grpc', `the key service returned an encrypted key of ${encrypted.length} bytes`
        )
      }
      keys.add(idOf(encrypted), key)
      const length = Buffer.alloc(2)
      length.writeUInt16BE(encrypted.length)
      return Buffer.concat([length, encrypted, aesCbc(key).encrypt(value, '')])
    },
    decrypt: (stored, at) => {
      const length = stored.length < 2 ? Infinity : (stored[0] as number) * 256 + (stored[1] as number)
      if (stored.length < 2 + length) throw new Error('the value has no encrypted key')
      const encrypted = stored.subarray(2, 2 + length)
      const value = stored.subarray(2 + length)
      const id = idOf(encrypted)
      const known = keys.get(id)
      if (known !== undefined) return decrypt(known, value, at)
      let calling = pending.get(id)
      if (calling === undefined) {
        calling = decryptKey(encrypted, id).finally(() => { pending.delete(id) })
        pending.set(id, calling)
      }
      return calling.then(key => decrypt(key, value, at))
    }
  }
}

function newKey (generated: TransformationObserver['generated']): Buffer {
  const since = performance.now()
  try {
    const key = randomBytes(KEY_BYTES)
    generated((performance.now() - since) / 1000)
    return key
  } catch (error) {
    generated(undefined)
    throw error
  }
}

/**
 * Decrypts the key of a value. If the service fails for this key only, so does every later attempt.
 * @throws KeyServiceError if the service fails, Error if it does not decrypt this key
 */
async function dataKey (service: KeyService, encrypted: Uint8Array): Promise<Uint8Array> {
  const attempt = async (): Promise<Uint8Array> => {
    const key = await service.decrypt(encrypted)
    if (key.length !== KEY_BYTES) {
      throw new KeyServiceError('unknown-non-grpc', `the key service decrypted a key to ${key.length} bytes`)
    }
    return key
  }
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof KeyServiceError) || error.isOutage) throw error
  }
  await service.check()
  return await attempt().catch((error: unknown) => {
    if (error instanceof KeyServiceError && error.isOutage) throw error
    throw new Error('the key service does not decrypt the key of this value', { cause: error })
  })
}

const idOf = (encrypted: Uint8Array): string =>
  Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.length).toString('latin1')

/** Tries AES-GCM first, as AES-CBC decrypts one in some hundred foreign values to garbage. */
function decrypt (key: Uint8Array, value: Uint8Array, at: string): Decrypted {
  try {
    return { ...aesGcm(key).decrypt(value, at), outdated: true }
  } catch (error) {
    if (value.length % BLOCK !== 0) throw error
    return aesCbc(key).decrypt(value, at)
  }
}

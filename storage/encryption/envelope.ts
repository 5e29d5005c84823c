/**
 * Envelope encryption, version 1: each value has its own key, which a key service encrypts. A stored value is: length
 * of the encrypted key (2 bytes), encrypted key, encrypted value. Written with AES-CBC; AES-GCM is also read. As
 * upstream.
 */
import { randomBytes } from 'node:crypto'
import { aesCbc, aesGcm, BLOCK, type Cipher, type Decrypted } from './cipher.js'
import { DataKeys, newKey } from './data-keys.js'
import { KeyServiceError } from './key-service-error.js'
import type { KeyService } from './key-service.js'
import type { TransformationObserver } from './observer.js'

const MAX_ENCRYPTED = 0xffff

/** @param cacheSize number of decrypted keys in memory; none if negative */
export function envelope (service: KeyService, cacheSize: number, observer: TransformationObserver): Cipher {
  const keys = new DataKeys(cacheSize, observer)
  return {
    encrypt: async value => {
      const key = newKey(observer.generated, randomBytes)
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
      const reader = { decrypt: () => service.decrypt(encrypted), check: service.check }
      return keys.open(idOf(encrypted), reader, key => decrypt(key, value, at))
    }
  }
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

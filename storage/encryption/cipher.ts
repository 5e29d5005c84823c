/**
 * Ciphers of values, in upstream's stored forms. All throw an Error, without the value, for what they cannot decrypt.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

export interface Cipher {
  /** @param key of the value in the store */
  readonly encrypt: (value: Uint8Array, key: string) => Uint8Array | Promise<Uint8Array>
  readonly decrypt: (stored: Uint8Array, key: string) => Decrypted | Promise<Decrypted>
}

export interface Decrypted {
  readonly value: Uint8Array
  /** True if `encrypt` writes another form. */
  readonly outdated?: boolean
  /** True if the cipher authenticates the key of the store as well. */
  readonly bound?: boolean
}

/** A cipher that needs no service. */
export interface LocalCipher extends Cipher {
  readonly encrypt: (value: Uint8Array, key: string) => Uint8Array
  readonly decrypt: (stored: Uint8Array, key: string) => Decrypted
}

const NONCE = 12
const TAG = 16
export const BLOCK = 16
const BOX_NONCE = 24

/** AES-GCM: nonce, encrypted value, tag. The tag authenticates the value's key too. */
export function aesGcm (secret: Uint8Array): LocalCipher {
  const algorithm = `aes-${secret.length * 8}-gcm` as 'aes-256-gcm' // the types have one of three lengths
  return {
    encrypt: (value, key) => {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv(algorithm, secret, nonce).setAAD(Buffer.from(key))
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()])
    },
    decrypt: (stored, key) => {
      const end = stored.length - TAG
      if (end < NONCE) throw new Error('the value is too short')
      const cipher = createDecipheriv(algorithm, secret, stored.subarray(0, NONCE), { authTagLength: TAG })
        .setAAD(Buffer.from(key))
        .setAuthTag(stored.subarray(end))
      return { value: Buffer.concat([cipher.update(stored.subarray(NONCE, end)), cipher.final()]), bound: true }
    }
  }
}

/** AES-CBC: initialization vector, encrypted value with PKCS#7 padding. Nothing is authenticated. */
export function aesCbc (secret: Uint8Array): LocalCipher {
  const algorithm = `aes-${secret.length * 8}-cbc`
  return {
    encrypt: value => {
      const vector = randomBytes(BLOCK)
      const cipher = createCipheriv(algorithm, secret, vector)
      return Buffer.concat([vector, cipher.update(value), cipher.final()])
    },
    decrypt: stored => {
      if (stored.length < 2 * BLOCK || stored.length % BLOCK !== 0) {
        throw new Error('the value does not consist of whole blocks')
      }
      const cipher = createDecipheriv(algorithm, secret, stored.subarray(0, BLOCK))
      return { value: Buffer.concat([cipher.update(stored.subarray(BLOCK)), cipher.final()]) }
    }
  }
}

/** NaCl's secretbox: nonce, then tag and encrypted value. */
export async function secretbox (secret: Uint8Array): Promise<LocalCipher> {
  const { xsalsa20poly1305 } = await import('@noble/ciphers/salsa.js')
  return {
    encrypt: value => {
      const nonce = randomBytes(BOX_NONCE)
      return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(value)])
    },
    decrypt: stored => {
      if (stored.length < BOX_NONCE + TAG) throw new Error('the value is too short')
      return { value: xsalsa20poly1305(secret, stored.subarray(0, BOX_NONCE)).decrypt(stored.subarray(BOX_NONCE)) }
    }
  }
}

/**
 * The providers of a resource, in order of configuration: the first encrypts, and each value is decrypted by the key
 * that its prefix names.
 */
import { StorageError } from '../errors.js'
import type { Decrypted } from './cipher.js'
import { isEncrypted, isOf, keyOf, type StoredForm } from './forms.js'
import { KeyServiceError } from './key-service-error.js'
import type { Direction, TransformationObserver } from './observer.js'

/** A value as readers see it. */
export interface Plain {
  readonly value: Uint8Array
  /** True if a write of the same value would store another form. */
  readonly outdated: boolean
  /** As `KeyValue.unbound`. */
  readonly unbound?: boolean
  /** 'Undecryptable' or 'Corrupt'; `value` is then empty. */
  readonly damage?: StorageError
}

export interface Providers {
  /** Rejects with a KeyServiceError. */
  readonly toStorage: (key: string, value: Uint8Array) => Uint8Array | Promise<Uint8Array>
  /** Never throws; rejects with a KeyServiceError if the service may decrypt the value later. */
  readonly fromStorage: (key: string, stored: Uint8Array) => Plain | Promise<Plain>
}

/** @param forms at least one */
export function providers (forms: readonly StoredForm[], { transformed }: TransformationObserver): Providers {
  const [first] = forms as readonly [StoredForm]
  // A key named `a` has the prefix of values of a key named `a:b`.
  const longestFirst = [...forms].sort((one, other) => other.prefix.length - one.prefix.length)
  const observe = (direction: Direction, labels: readonly string[], since: number, error?: unknown): void => {
    const status = error === undefined ? 'OK' : statusOf(error)
    const seconds = (performance.now() - since) / 1000
    for (const label of labels) transformed(direction, label, status, seconds)
  }
  return {
    toStorage: (key, value) => {
      const since = performance.now()
      const store = (encrypted: Uint8Array): Uint8Array => {
        observe('to_storage', first.writeLabels, since)
        return encrypted
      }
      if (first.cipher === undefined) return store(value)
      const encrypted = first.cipher.encrypt(value, key)
      if (!(encrypted instanceof Promise)) return store(Buffer.concat([first.prefix, encrypted]))
      return encrypted.then(bytes => store(Buffer.concat([first.prefix, bytes])), (error: unknown) => {
        observe('to_storage', first.writeLabels, since, error)
        throw error
      })
    },
    fromStorage: (key, stored) => {
      const since = performance.now()
      const unreadable = (damage: StorageError): Plain => ({ value: NOTHING, outdated: false, damage })
      const read = (from: number, cause?: unknown): Plain | Promise<Plain> => {
        const index = longestFirst.findIndex((form, at) => at >= from && isOf(form, stored))
        const form = longestFirst[index]
        if (form === undefined) {
          if (cause !== undefined) return unreadable(undecryptable(key, stored, cause))
          observe('from_storage', ['unknown'], since, 'no form')
          return unreadable(isEncrypted(stored) ? undecryptable(key, stored) : unencrypted(key))
        }
        const plainOf = ({ value, outdated = false, bound = false }: Decrypted): Plain => {
          observe('from_storage', form.readLabels, since)
          return { value, outdated: outdated || form !== first, unbound: form.cipher !== undefined && !bound }
        }
        const failed = (error: unknown): Plain | Promise<Plain> => {
          observe('from_storage', form.readLabels, since, error)
          return read(index + 1, error) // another key may have the same name
        }
        if (form.cipher === undefined) return plainOf({ value: stored })
        let decrypted
        try {
          decrypted = form.cipher.decrypt(stored.subarray(form.prefix.length), key)
        } catch (error) {
          return failed(error)
        }
        return decrypted instanceof Promise
          ? decrypted.then(plainOf, (error: unknown) => {
              if (!(error instanceof KeyServiceError)) return failed(error)
              observe('from_storage', form.readLabels, since, error)
              throw error
            })
          : plainOf(decrypted)
      }
      return read(0)
    }
  }
}

const statusOf = (error: unknown): string => error instanceof KeyServiceError
  ? error.status
  : error instanceof Error && error.cause !== undefined
    ? statusOf(error.cause)
    : 'unknown-non-grpc'

/**
 * The error of a value that was encrypted.
 * @param cause why the configured key of that name fails; undefined without such a key
 */
export function undecryptable (key: string, stored: Uint8Array, cause?: unknown): StorageError {
  const why = cause === undefined
    ? 'which no provider of its resource has: add that key to the encryption configuration'
    : 'and the configured key of that name does not decrypt it: configure the key that encrypted it, or restore the ' +
      'store if the value was changed'
  const message = `the stored value of ${key} is encrypted by ${keyOf(stored)}, ${why}`
  return new StorageError('Undecryptable', message, { key, cause })
}

function unencrypted (key: string): StorageError {
  const problem = `the stored value of ${key} is not encrypted, and its resource has no provider identity`
  return new StorageError('Undecryptable', `${problem}: add it to the encryption configuration`, { key })
}

const NOTHING = new Uint8Array(0)

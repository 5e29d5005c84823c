/** Keys of values, which a key service decrypts: recent ones are in memory, and each is asked for once at a time. */
import { KeyServiceError } from './key-service-error.js'
import type { TransformationObserver } from './observer.js'
import { RecentKeys } from './recent-keys.js'

export const KEY_BYTES = 32

/** What a key service answers about one key. Both reject with a KeyServiceError. */
export interface KeyReader {
  readonly decrypt: () => Promise<Uint8Array>
  /** Succeeds while the service decrypts other keys, so that a failure concerns one key alone. */
  readonly check: () => Promise<void>
}

export class DataKeys {
  readonly #recent: RecentKeys
  readonly #pending = new Map<string, Promise<Uint8Array>>()
  readonly #missed: () => void

  /** @param size number of keys in memory; none if negative */
  constructor (readonly size: number, { missed }: Pick<TransformationObserver, 'missed'>) {
    this.#recent = new RecentKeys(size)
    this.#missed = missed
  }

  add (id: string, key: Uint8Array): void { this.#recent.add(id, key) }

  /** @param id of the encrypted key. Rejects with a KeyServiceError, or an Error where only this key is refused. */
  get (id: string, reader: KeyReader): Uint8Array | Promise<Uint8Array> {
    const known = this.#recent.get(id) ?? this.#pending.get(id)
    if (known !== undefined) return known
    if (this.size > 0) this.#missed()
    const calling = decrypted(reader).then(key => {
      this.add(id, key)
      return key
    }).finally(() => { this.#pending.delete(id) })
    this.#pending.set(id, calling)
    return calling
  }
}

/** If the service fails for this key only, so does every later attempt. */
async function decrypted ({ decrypt, check }: KeyReader): Promise<Uint8Array> {
  const attempt = async (): Promise<Uint8Array> => {
    const key = await decrypt()
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
  await check()
  return await attempt().catch((error: unknown) => {
    if (error instanceof KeyServiceError && error.isOutage) throw error
    throw new Error('the key service does not decrypt the key of this value', { cause: error })
  })
}

/** @throws what the source of random bytes throws */
export function newKey (generated: TransformationObserver['generated'], random: (bytes: number) => Buffer): Buffer {
  const since = performance.now()
  try {
    const key = random(KEY_BYTES)
    generated((performance.now() - since) / 1000)
    return key
  } catch (error) {
    generated(undefined)
    throw error
  }
}

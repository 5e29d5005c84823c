/** Keys of values, which a key service decrypts: recent ones are in memory, and each is asked for once at a time. */
import { KeyServiceError } from './key-service-error.js'
import type { KeyServiceObserver, TransformationObserver } from './observer.js'
import { RecentKeys } from './recent-keys.js'

export const KEY_BYTES = 32

/** What a key service answers about one key. Both reject with a KeyServiceError. */
export interface KeyReader {
  readonly decrypt: () => Promise<Uint8Array>
  /** Succeeds while the service decrypts other keys correctly, so that a failure concerns one key or value alone. */
  readonly check: () => Promise<void>
}

export class DataKeys {
  readonly #recent: RecentKeys
  readonly #pending = new Map<string, Promise<Uint8Array>>()
  readonly #missed: () => void
  readonly #kept: KeyServiceObserver['kept'] | undefined

  /** @param size number of keys in memory; none if negative */
  constructor (
    readonly size: number, { missed }: Pick<TransformationObserver, 'missed'>, kept?: KeyServiceObserver['kept']
  ) {
    this.#recent = new RecentKeys(size)
    this.#missed = missed
    this.#kept = kept
  }

  add (id: string, key: Uint8Array): void {
    this.#recent.add(id, key)
    this.#kept?.(this.#recent.count)
  }

  /**
   * Opens a value with its key. Only a key that opened one stays in memory, as a service may answer a wrong one.
   * @param id of the encrypted key
   * @returns what `open` does. Rejects with a KeyServiceError, or an Error where only this key or value is wrong.
   */
  open<T> (id: string, reader: KeyReader, open: (key: Uint8Array) => T): T | Promise<T> {
    const recentKey = this.#recent.get(id)
    return recentKey === undefined ? this.#openAnew(id, reader, open) : open(recentKey)
  }

  async #openAnew<T> (id: string, reader: KeyReader, open: (key: Uint8Array) => T): Promise<T> {
    const opened = (key: Uint8Array): T => {
      const opening = open(key)
      this.add(id, key)
      return opening
    }
    const key = await this.#asked(id, reader)
    try {
      return opened(key)
    } catch {
      await reader.check()
    }
    return opened(await this.#asked(id, reader))
  }

  #asked (id: string, reader: KeyReader): Promise<Uint8Array> {
    const pending = this.#pending.get(id)
    if (pending !== undefined) return pending
    if (this.size > 0) this.#missed()
    const calling = decrypted(reader).finally(() => { this.#pending.delete(id) })
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

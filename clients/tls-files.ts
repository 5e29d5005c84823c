/**
 * CA bundle and client certificate files. A call reloads them unless they were checked recently. Unreadable or
 * mismatched files leave the current ones in use.
 */
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContext } from 'node:tls'
import { ClientError, reasonOf } from './errors.js'

/** Milliseconds between checks of the files. */
const CHECK_INTERVAL = 10_000

export interface TlsFilePaths {
  /** CA bundle to verify servers; undefined disables verification. */
  readonly authority?: string | undefined
  /** Client certificate and key; both or none. */
  readonly certificate?: string | undefined
  readonly key?: string | undefined
  /** Without a CA bundle, verifies with the system's. Default false. */
  readonly system?: boolean | undefined
}

export class TlsFiles {
  readonly #paths: TlsFilePaths
  readonly #now: () => number
  #texts = ''
  #context: SecureContext | undefined
  #readAt = -Infinity
  #reloading: Promise<SecureContext> | undefined

  /** @param now monotonic clock, milliseconds */
  constructor (paths: TlsFilePaths, now: () => number = () => performance.now()) {
    this.#paths = paths
    this.#now = now
  }

  get verifies (): boolean { return this.#paths.authority !== undefined }

  /** @throws ClientError 'Config' if a file cannot be read */
  async load (): Promise<void> {
    if (Object.values(this.#paths).some(path => typeof path === 'string')) await this.current()
  }

  /** @throws ClientError 'Config' if the files could never be read */
  async current (): Promise<SecureContext> {
    if (this.#context !== undefined && this.#now() - this.#readAt < CHECK_INTERVAL) return this.#context
    this.#reloading ??= this.#reload().finally(() => { this.#reloading = undefined })
    return await this.#reloading
  }

  async #reload (): Promise<SecureContext> {
    let context = this.#context
    try {
      // Sequentially, so that the first error is reported consistently.
      const ca = await read(this.#paths.authority)
      const cert = await read(this.#paths.certificate)
      const key = await read(this.#paths.key)
      const texts = JSON.stringify([ca, cert, key])
      // an empty list skips loading the system roots, which is slow
      if (context === undefined || texts !== this.#texts) {
        context = createSecureContext({ ca: ca ?? (this.#paths.system === true ? undefined : []), cert, key })
      }
      this.#texts = texts
    } catch (cause) {
      if (context === undefined) {
        throw cause instanceof ClientError
          ? cause
          : new ClientError('Config', `the CA bundle, certificate and key do not fit: ${reasonOf(cause)}`, { cause })
      }
    }
    this.#context = context
    this.#readAt = this.#now()
    return context
  }
}

async function read (path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  return await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new ClientError('Config', `${path} cannot be read: ${reasonOf(cause)}`, { cause })
  })
}

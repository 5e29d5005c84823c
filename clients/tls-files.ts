/**
 * The files a server is verified with and those we show it, as they are now: they are replaced while we run, so they are
 * looked at again when a call finds the last look too old. Files that cannot be read any more, or do not fit together,
 * change nothing.
 */
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContext } from 'node:tls'
import { ClientError, reasonOf } from './errors.js'

/** How old a look at the files may be, in milliseconds. */
const LOOK_MS = 10_000

export interface TlsFilePaths {
  /** CA bundle that servers are verified by. Undefined verifies nobody. */
  readonly authority?: string | undefined
  /** Certificate and key we show; both or none. */
  readonly certificate?: string | undefined
  readonly key?: string | undefined
}

export class TlsFiles {
  readonly #paths: TlsFilePaths
  readonly #now: () => number
  #texts = ''
  #context: SecureContext | undefined
  #lookedAt = -Infinity
  #looking: Promise<SecureContext> | undefined

  /** @param now milliseconds on a clock that never goes back */
  constructor (paths: TlsFilePaths, now: () => number = () => performance.now()) {
    this.#paths = paths
    this.#now = now
  }

  get verifies (): boolean { return this.#paths.authority !== undefined }

  /** @throws ClientError 'Config' when they cannot be read */
  async load (): Promise<void> {
    if (Object.values(this.#paths).some(path => path !== undefined)) await this.current()
  }

  /** @throws ClientError 'Config' when they could never be read */
  async current (): Promise<SecureContext> {
    if (this.#context !== undefined && this.#now() - this.#lookedAt < LOOK_MS) return this.#context
    this.#looking ??= this.#look().finally(() => { this.#looking = undefined })
    return await this.#looking
  }

  async #look (): Promise<SecureContext> {
    let context = this.#context
    try {
      // one after the other, so that of several faults the first is named
      const ca = await read(this.#paths.authority)
      const cert = await read(this.#paths.certificate)
      const key = await read(this.#paths.key)
      const texts = JSON.stringify([ca, cert, key])
      if (context === undefined || texts !== this.#texts) context = createSecureContext({ ca: ca ?? [], cert, key }) // without any the platform's are loaded, which takes long
      this.#texts = texts
    } catch (cause) {
      if (context === undefined) throw cause instanceof ClientError ? cause : new ClientError('Config', `the CA bundle, certificate and key do not fit: ${reasonOf(cause)}`, { cause })
    }
    this.#context = context
    this.#lookedAt = this.#now()
    return context
  }
}

async function read (path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  return await readFile(path, 'utf8').catch((cause: unknown) => { throw new ClientError('Config', `${path} cannot be read: ${reasonOf(cause)}`, { cause }) })
}

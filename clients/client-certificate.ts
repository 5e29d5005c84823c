/**
 * A client certificate with its key. Files are read again when they have changed; unreadable or mismatched ones leave
 * the current pair in use.
 */
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { ClientError, reasonOf } from './errors.js'
import type { Material } from './kubeconfig.js'

/** Milliseconds between checks of the files. */
const CHECK_INTERVAL = 10_000

/** PEM. The same object until a file changes. */
export interface CertificatePair { readonly cert: string | undefined, readonly key: string | undefined }

export class ClientCertificate {
  readonly #materials: { readonly certificate: Material, readonly key: Material } | undefined
  readonly #now: () => number
  #pair: CertificatePair | undefined
  #readAt = -Infinity
  #reloading: Promise<CertificatePair> | undefined

  /** @param materials undefined for no certificate; @param now monotonic clock, milliseconds */
  constructor (
    materials?: { readonly certificate: Material, readonly key: Material }, now: () => number = () => performance.now()
  ) {
    this.#materials = materials
    this.#now = now
    if (materials === undefined) this.#pair = { cert: undefined, key: undefined }
  }

  /** Synchronous unless the files are due for a check. @throws ClientError 'Config' if they could never be read */
  current (): CertificatePair | Promise<CertificatePair> {
    if (this.#pair !== undefined && (this.#materials === undefined || this.#now() - this.#readAt < CHECK_INTERVAL)) {
      return this.#pair
    }
    return this.#reloading ??= this.#reload().finally(() => { this.#reloading = undefined })
  }

  async #reload (): Promise<CertificatePair> {
    let pair = this.#pair
    try {
      const cert = await textOf(this.#materials?.certificate)
      const key = await textOf(this.#materials?.key)
      if (pair === undefined || pair.cert !== cert || pair.key !== key) {
        createSecureContext({ ca: [], cert, key })
        pair = { cert, key }
      }
    } catch (cause) {
      if (pair === undefined) {
        throw cause instanceof ClientError
          ? cause
          : new ClientError('Config', `the client certificate and its key do not fit: ${reasonOf(cause)}`, { cause })
      }
    }
    this.#pair = pair
    this.#readAt = this.#now()
    return pair
  }
}

async function textOf (material: Material | undefined): Promise<string | undefined> {
  if (material === undefined || 'data' in material) return material?.data
  return await readFile(material.path, 'utf8').catch((cause: unknown) => {
    throw new ClientError('Config', `${material.path} cannot be read: ${reasonOf(cause)}`, { cause })
  })
}

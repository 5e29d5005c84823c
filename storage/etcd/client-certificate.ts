/**
 * The client certificate of connections to etcd. A source is asked again for each connection, as upstream, so that a
 * certificate can be renewed while the server runs. When it fails, as between the replacement of a certificate and of
 * its key, the last certificate stays.
 */

/** A certificate and its key in PEM. */
export interface ClientPair {
  readonly certificate: string | Uint8Array
  readonly key: string | Uint8Array
}

export interface ClientCertificateOptions {
  readonly certificate?: string | Uint8Array
  readonly key?: string | Uint8Array
  /** Resolves to the current certificate and key, in place of the two above. A rejection keeps the last ones. */
  readonly renewedPair?: () => Promise<ClientPair>
  /** Receives the reason when the source starts to fail. Default ignored. */
  readonly note?: (text: string, level?: 'info' | 'warn') => void
}

/** In the form that TLS takes. The same object means the same certificate. */
export interface TlsPair {
  readonly cert: Buffer | undefined
  readonly key: Buffer | undefined
}

/** Milliseconds until a source that does not answer has failed: files may be on a network. */
const PATIENCE_MS = 1_000

export class ClientCertificate {
  readonly #options: ClientCertificateOptions
  #pair: TlsPair
  #failing = false

  constructor (options: ClientCertificateOptions) {
    this.#options = options
    this.#pair = { cert: bytes(options.certificate), key: bytes(options.key) }
  }

  /** The pair of a new connection. The same object as before, unless it was renewed. Never rejects. */
  async current (): Promise<TlsPair> {
    const { renewedPair, note } = this.#options
    if (renewedPair === undefined) return this.#pair
    try {
      const { certificate, key } = await inTime(renewedPair())
      const pair = { cert: bytes(certificate), key: bytes(key) }
      if (!isSame(pair, this.#pair)) this.#pair = pair
      this.#failing = false
    } catch (error) {
      if (!this.#failing) {
        note?.(
          `the client certificate for etcd is not renewed: ${error instanceof Error ? error.message : String(error)}`,
          'warn'
        )
      }
      this.#failing = true
    }
    return this.#pair
  }
}

async function inTime<T> (promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => { reject(new Error('it cannot be read in time')) }, PATIENCE_MS)
  })
  return await Promise.race([promise, late]).finally(() => { clearTimeout(timer) })
}

const bytes = (text: string | Uint8Array | undefined): Buffer | undefined =>
  text === undefined ? undefined : Buffer.from(text)

const isSame = (one: TlsPair, other: TlsPair): boolean => isSameText(one.cert, other.cert) &&
  isSameText(one.key, other.key)

const isSameText = (one: Buffer | undefined, other: Buffer | undefined): boolean =>
  one === undefined || other === undefined ? one === other : one.equals(other)

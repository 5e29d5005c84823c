/** Fetches documents from issuers and claim sources: https only, with limits on time and size, without redirects. */
import { HttpClient, type HttpClientOptions } from '../../../clients/http-client.js'
import { NO_CREDENTIALS, type Material } from '../../../clients/kubeconfig.js'

export interface DocumentFetcherOptions {
  /** CA bundle of the peers; undefined for the system roots. */
  readonly authority: Material | undefined
  /** Overrides for the HTTP client. */
  readonly client?: Partial<HttpClientOptions>
}

/** Maximum bytes of a response; documents and key sets have a few thousand. */
const MAX_RESPONSE_BYTES = 1024 * 1024
const DEADLINE = 10_000
/** Maximum peers with open connections. */
const MAX_SERVERS = 16

/** @param what names the URL in errors. @throws Error for an invalid URL */
export function httpsUrl (text: unknown, what: string): URL {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw new Error(`${what} is no https URL`)
  }
  return url
}

export class DocumentFetcher {
  readonly #options: DocumentFetcherOptions
  readonly #clients = new Map<string, HttpClient>()

  constructor (options: DocumentFetcherOptions) { this.#options = options }

  /** @throws ClientError */
  async json (url: URL): Promise<unknown> {
    return await this.#client(url)
      .json({ method: 'GET', path: pathOf(url), headers: { accept: 'application/json, application/jwk-set+json' } })
  }

  /** @param token sent as a bearer token. @throws ClientError */
  async text (url: URL, token: string | undefined): Promise<string> {
    const { body } = await this.#client(url).call({
      method: 'GET', path: pathOf(url),
      headers: { accept: 'application/jwt, */*', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
    })
    return body.toString()
  }

  async close (): Promise<void> {
    await Promise.all([...this.#clients.values()].map(client => client.close()))
  }

  #client ({ origin }: URL): HttpClient {
    let client = this.#clients.get(origin)
    if (client === undefined) {
      const [oldest] = this.#clients
      if (oldest !== undefined && this.#clients.size >= MAX_SERVERS) {
        this.#clients.delete(oldest[0])
        void oldest[1].close()
      }
      const endpoint = {
        server: new URL(origin), authority: this.#options.authority, insecure: false, serverName: undefined,
        proxy: undefined, credentials: NO_CREDENTIALS
      }
      client = new HttpClient({
        caller: 'oidc', endpoint, maxResponseBytes: MAX_RESPONSE_BYTES, deadline: DEADLINE, connections: 4,
        ...this.#options.client
      })
      this.#clients.set(origin, client)
    }
    return client
  }
}

const pathOf = ({ pathname, search }: URL): string => `${pathname}${search}`

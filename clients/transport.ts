/**
 * Connections to one endpoint with its current certificates and tokens. A call reloads the files unless they were
 * checked recently. After a change, old connections finish their calls and close. Unreadable files leave the current
 * ones in use.
 */
import { readFile, stat } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createSecureContext } from 'node:tls'
import type * as Undici from 'undici'
import { onDemand } from '../schemas/on-demand.js'
import { ClientError, reasonOf } from './errors.js'
import type { Endpoint, Material } from './kubeconfig.js'
import { identityCheck, isWeaklySigned } from './peer-identity.js'
import { underTls, type Tunnel } from './egress/tunnel.js'
import { authorityOf, withoutBrackets, openTunnel, proxyAt } from './tunnel.js'

const undici = onDemand<typeof Undici>('undici')

/** Milliseconds between checks of the files. */
const CHECK_INTERVAL = 10_000
const MAX_FILE_BYTES = 1024 * 1024

export interface TransportOptions {
  readonly endpoint: Endpoint
  /** Names caller and peer in errors. */
  readonly call: string
  readonly connectTimeout: number
  readonly headersTimeout: number
  readonly bodyTimeout: number
  readonly connections: number
  /** Resolves the address for each connection. */
  readonly dial?: Dial | undefined
  /** Makes each connection. Default direct. */
  readonly tunnel?: Tunnel | undefined
  /** Called if the peer's certificate has no subject alternative name. */
  readonly missingName?: (() => void) | undefined
  /** Called if the peer's certificate chain is signed with SHA-1. */
  readonly weakSignature?: (() => void) | undefined
  /** Monotonic clock, milliseconds. */
  readonly now: () => number
}

/** Resolves to an address and a port. A rejection becomes the `cause` of the call's error. */
export type Dial = () => Promise<{ readonly host: string, readonly port: number }>

/** Contents of the files at the last check. */
interface FileContents {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  readonly token: string | undefined
}

export interface Connected { readonly pool: Undici.Pool, readonly authorization: string | undefined }

export class Transport {
  readonly #options: TransportOptions
  #known: FileContents | undefined
  #readAt = -Infinity
  #reloading: Promise<FileContents> | undefined
  #pool: Undici.Pool | undefined
  #closed = false

  constructor (options: TransportOptions) { this.#options = options }

  /** Reads the endpoint's files. @throws ClientError 'Config' */
  async load (): Promise<void> { await this.#fresh() }

  /** @throws ClientError 'Config' if the files could never be read */
  async connected (): Promise<Connected> {
    const known = await this.#fresh()
    if (this.#closed) throw new ClientError('Unreachable', `${this.#options.call}: the client was closed`)
    return { pool: this.#pool ??= this.#connect(known), authorization: this.#authorization(known) }
  }

  async close (): Promise<void> {
    this.#closed = true
    await this.#pool?.destroy()
  }

  async #fresh (): Promise<FileContents> {
    const known = this.#known
    if (known !== undefined && this.#options.now() - this.#readAt < CHECK_INTERVAL) return known
    this.#reloading ??= this.#reload().finally(() => { this.#reloading = undefined })
    return await this.#reloading
  }

  async #reload (): Promise<FileContents> {
    const before = this.#known
    try {
      const known = await this.#read()
      if (before === undefined || before.ca !== known.ca || before.cert !== known.cert || before.key !== known.key) {
        this.#check(known)
        const pool = this.#pool
        this.#pool = undefined
        void pool?.close().catch(() => {}) // errors reach its pending calls
      }
      this.#known = known
    } catch (error) {
      if (before === undefined) throw error
    }
    this.#readAt = this.#options.now()
    return this.#known as FileContents // set above or before
  }

  async #read (): Promise<FileContents> {
    const { authority, credentials } = this.#options.endpoint
    // Sequentially, so that the first error is reported consistently.
    return {
      ca: await this.#textOf(authority, 'certificate-authority'),
      cert: await this.#textOf(credentials.certificate, 'client-certificate'),
      key: await this.#textOf(credentials.key, 'client-key'),
      token: await this.#tokenOf()
    }
  }

  async #tokenOf (): Promise<string | undefined> {
    const { token, tokenFile } = this.#options.endpoint.credentials
    if (tokenFile === undefined) return token
    try {
      const read = (await this.#textOf({ path: tokenFile }, 'tokenFile'))?.trim() ?? ''
      if (!/^[!-~]+$/.test(read)) {
        throw new ClientError('Config', `${this.#options.call}: tokenFile ${tokenFile} holds no token`)
      }
      return read
    } catch (error) {
      const last = this.#known?.token ?? token
      if (last === undefined) throw error
      return last
    }
  }

  async #textOf (material: Material | undefined, field: string): Promise<string | undefined> {
    if (material === undefined) return undefined
    if ('data' in material) return material.data
    try {
      if ((await stat(material.path)).size > MAX_FILE_BYTES) {
        throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`)
      }
      return await readFile(material.path, 'utf8')
    } catch (cause) {
      throw new ClientError(
        'Config', `${this.#options.call}: ${field} ${material.path} cannot be read: ${reasonOf(cause)}`, { cause }
      )
    }
  }

  /** @throws ClientError 'Config' for material that TLS would reject */
  #check ({ ca, cert, key }: FileContents): void {
    try {
      createSecureContext({ ca, cert, key })
    } catch (cause) {
      throw new ClientError(
        'Config',
        `${this.#options.call}: its certificate-authority, client-certificate and client-key do not fit: ` +
          `${reasonOf(cause)}`,
        { cause }
      )
    }
    if (ca !== undefined && !ca.includes('-----BEGIN CERTIFICATE-----')) {
      throw new ClientError('Config', `${this.#options.call}: its certificate-authority holds no certificate`)
    }
  }

  #authorization ({ token }: FileContents): string | undefined {
    const { basic } = this.#options.endpoint.credentials
    if (token !== undefined) return `Bearer ${token}`
    return basic === undefined
      ? undefined
      : `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`
  }

  #connect ({ ca, cert, key }: FileContents): Undici.Pool {
    const {
      endpoint, call, connectTimeout, headersTimeout, bodyTimeout, connections, dial, tunnel, missingName, weakSignature
    } = this.#options
    const { server, proxy, insecure, serverName } = endpoint
    const { Pool, buildConnector } = undici()
    const connecting = buildConnector({
      timeout: connectTimeout,
      rejectUnauthorized: !insecure,
      ...(insecure ? {} : { checkServerIdentity: identityCheck(missingName) }),
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(serverName === undefined ? {} : { servername: serverName })
    })
    const connect: Undici.buildConnector.connector = (options, callback) => {
      connecting(options, (...[error, socket]) => {
        if (isWeaklySigned(error)) weakSignature?.()
        if (error === null) callback(null, socket)
        else callback(error, null)
      })
    }
    const over = (connection: Promise<Duplex>): Undici.buildConnector.connector => (options, callback) => {
      connection.then(
        stream => {
          const socket = stream as Socket // has the methods that undici calls
          if (server.protocol !== 'https:') return callback(null, socket)
          const servername = serverName ?? options.hostname
          connect({ ...options, servername, httpSocket: underTls(socket) }, callback)
        },
        (error: Error) => { callback(error, null) })
    }
    const proxied: Undici.buildConnector.connector = (options, callback) => {
      // only used with a proxy
      over(openTunnel(proxyAt(proxy as URL), {
        target: authorityOf(server), call, timeout: connectTimeout
      }))(options, callback)
    }
    const tunnelled: Undici.buildConnector.connector = (options, callback) => {
      const address = dial?.() ?? Promise
        .resolve({ host: withoutBrackets(options.hostname), port: Number(authorityOf(server).replace(/^.*:/, '')) })
      // only used with a tunnel
      over(address.then(target => (tunnel as Tunnel)({ ...target, timeout: connectTimeout, call })))(options, callback)
    }
    const dialled: Undici.buildConnector.connector = (options, callback) => {
      (dial as Dial)().then( // only used with dial
        ({ host, port }) => {
          connect({
            ...options, servername: serverName ??
            options.hostname, hostname: host, host: `${host}:${port}`, port: String(port)
          }, callback)
        },
        (error: Error) => { callback(error, null) })
    }
    return new Pool(server.origin, {
      connect: tunnel !== undefined
        ? tunnelled
        : dial !== undefined
          ? dialled
          : proxy === undefined
            ? connect
            : proxied,
      connections, headersTimeout, bodyTimeout, pipelining: 1
    })
  }
}

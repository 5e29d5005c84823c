/**
 * Rare calls that may be retried (leases and compaction), through the `etcd3` package, which is loaded on first use.
 * Calls go directly to its gRPC clients, bypassing its retries and circuit breakers.
 */
import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import type * as Grpc from '@grpc/grpc-js'
import type * as Etcd3Pool from 'etcd3/lib/connection-pool.js'
import { onDemand } from '../../schemas/on-demand.js'
import type { TlsPair } from './client-certificate.js'
import { CallError, closedError } from './failures.js'
import { type Credentials, hostOf } from './transport.js'

export type Service = 'KV' | 'Lease' | 'Maintenance'

type Callback = (error: Error | null, answer: unknown) => void
type UnaryCall = (payload: unknown, metadata: unknown, options: unknown, callback: Callback) => void

const CHANNEL = {
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.min_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1
}

/** Server name for servers known by IP address: gRPC always sends a name, and Node refuses addresses. */
const PLACEHOLDER_NAME = 'etcd'

const etcd3 = onDemand<typeof Etcd3Pool>('etcd3/lib/connection-pool.js')
const grpc = onDemand<typeof Grpc>('@grpc/grpc-js')

export class Etcd3Channel {
  readonly #server: string
  readonly #credentials: Credentials | undefined
  readonly #socketPath: string | undefined
  #pool: Etcd3Pool.ConnectionPool | undefined
  /** The client certificate of the pool. */
  #pair: TlsPair | undefined
  #closed = false

  /** @param credentials undefined for unencrypted connections @param socketPath of a socket that leads to the server */
  constructor (server: string, credentials: Credentials | undefined, socketPath?: string) {
    this.#server = server
    this.#credentials = credentials
    this.#socketPath = socketPath
  }

  /**
   * One call, sent at most once.
   * @param milliseconds timeout
   * @throws CallError
   */
  async call (service: Service, method: string, payload: unknown, milliseconds: number): Promise<unknown> {
    const { client, metadata } = await (await this.#current()).withConnection(service, both => both)
    return await new Promise((resolve, reject) => {
      // The protocol defines these generated methods.
      const calls = client as unknown as Record<string, UnaryCall>
      calls[method]?.call(client, payload, metadata, { deadline: Date.now() + milliseconds }, (error, answer) => {
        if (error === null) resolve(answer)
        else reject(new CallError(error, this.#server))
      })
    })
  }

  close (): void {
    this.#closed = true
    this.#pool?.close()
  }

  /**
   * A pool keeps its certificate, so a renewed certificate needs a new pool. Calls that wait in the old pool fail as
   * not sent and are retried.
   */
  async #current (): Promise<Etcd3Pool.ConnectionPool> {
    const pair = await this.#credentials?.client.current()
    if (this.#closed) throw closedError()
    if (this.#pool === undefined || pair !== this.#pair) {
      this.#pool?.close()
      this.#pair = pair
      this.#pool = this.#open(pair)
    }
    return this.#pool
  }

  #open ({ cert, key }: Partial<TlsPair> = {}): Etcd3Pool.ConnectionPool {
    const { ConnectionPool } = etcd3()
    const ca = this.#credentials?.ca
    // The type requires a CA, but gRPC accepts null for the system's own.
    const credentials =
      { rootCertificate: ca ?? null, privateKey: key ?? null, certChain: cert ?? null } as { rootCertificate: Buffer }
    return new ConnectionPool({
      hosts: this.#server,
      grpcOptions: this.#credentials === undefined && this.#socketPath === undefined
        ? CHANNEL
        : { ...CHANNEL, channelFactoryOverride: this.#createChannel },
      ...(this.#credentials === undefined ? {} : { credentials })
    })
  }

  /**
   * As etcd3 creates it, except that certificates of servers known by IP address are checked against the address, and
   * for the socket.
   */
  readonly #createChannel = (
    target: string, channelCredentials: Grpc.ChannelCredentials, options: Grpc.ChannelOptions
  ): Grpc.Channel => {
    const { Channel, credentials } = grpc()
    const host = hostOf(this.#server)
    const place = this.#socketPath === undefined ? target : `unix:${this.#socketPath}`
    const placed = this.#socketPath === undefined
      ? options
      : { ...options, 'grpc.ssl_target_name_override': host, 'grpc.default_authority': host }
    if (isIP(host) === 0 || this.#credentials === undefined) return new Channel(place, channelCredentials, placed)
    const byAddress = credentials
      .createSsl(this.#credentials.ca ?? null, this.#pair?.key ?? null, this.#pair?.cert ?? null, {
        checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate)
      })
    return new Channel(place, byAddress, { ...placed, 'grpc.ssl_target_name_override': PLACEHOLDER_NAME })
  }
}

/**
 * The calls that are rare and may be repeated (leases and compaction) go through the
 * `etcd3` package, loaded when the first of them is made. Its retries and circuit breakers are passed by:
 * calls go straight to its gRPC clients.
 */
import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import type * as Grpc from '@grpc/grpc-js'
import type * as Etcd3Pool from 'etcd3/lib/connection-pool.js'
import { onDemand } from '../../schemas/on-demand.js'
import { CallError } from './failures.js'
import { type Credentials, hostOf } from './transport.js'

export type Service = 'KV' | 'Lease'

type Callback = (error: Error | null, answer: unknown) => void
type UnaryCall = (payload: unknown, metadata: unknown, options: unknown, callback: Callback) => void

const CHANNEL = {
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.min_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1
}

/** What servers that are known by their address are asked for: gRPC asks for a name always, and Node refuses addresses. */
const NO_NAME = 'etcd'

const etcd3 = onDemand<typeof Etcd3Pool>('etcd3/lib/connection-pool.js')
const grpc = onDemand<typeof Grpc>('@grpc/grpc-js')

export class Etcd3Line {
  readonly #server: string
  readonly #credentials: Credentials | undefined
  #pool: Etcd3Pool.ConnectionPool | undefined

  /** @param credentials undefined for lines that are not encrypted */
  constructor (server: string, credentials: Credentials | undefined) {
    this.#server = server
    this.#credentials = credentials
  }

  /**
   * One call, sent at most once.
   * @param milliseconds it may take
   * @throws CallError
   */
  async call (service: Service, method: string, payload: unknown, milliseconds: number): Promise<unknown> {
    this.#pool ??= this.#open()
    const { client, metadata } = await this.#pool.withConnection(service, both => both)
    return await new Promise((resolve, reject) => {
      // Generated methods are there because the protocol has them.
      const calls = client as unknown as Record<string, UnaryCall>
      calls[method]?.call(client, payload, metadata, { deadline: Date.now() + milliseconds }, (error, answer) => {
        if (error === null) resolve(answer)
        else reject(new CallError(error, this.#server))
      })
    })
  }

  close (): void {
    this.#pool?.close()
  }

  #open (): Etcd3Pool.ConnectionPool {
    const { ConnectionPool } = etcd3()
    const { ca, cert, key } = this.#credentials ?? {}
    // The type asks for a CA where gRPC takes none for the system's own, hence the cast.
    const credentials = { rootCertificate: ca ?? null, privateKey: key ?? null, certChain: cert ?? null } as { rootCertificate: Buffer }
    return new ConnectionPool({
      hosts: this.#server,
      grpcOptions: this.#credentials === undefined ? CHANNEL : { ...CHANNEL, channelFactoryOverride: this.#channel },
      ...(this.#credentials === undefined ? {} : { credentials })
    })
  }

  /** As the package would make it, but that the certificate of a server that is known by its address is checked by that. */
  readonly #channel = (target: string, made: Grpc.ChannelCredentials, options: Grpc.ChannelOptions): Grpc.Channel => {
    const { Channel, credentials } = grpc()
    const host = hostOf(this.#server)
    if (isIP(host) === 0) return new Channel(target, made, options)
    const { ca, cert, key } = this.#credentials ?? {}
    const byAddress = credentials.createSsl(ca ?? null, key ?? null, cert ?? null, {
      checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate)
    })
    return new Channel(target, byAddress, { ...options, 'grpc.ssl_target_name_override': NO_NAME })
  }
}

/**
 * The calls that are rare and may be repeated (leases and compaction) go through the
 * `etcd3` package, loaded when the first of them is made. Its retries and circuit breakers are passed by:
 * calls go straight to its gRPC clients.
 */
import type * as Etcd3Pool from 'etcd3/lib/connection-pool.js'
import { onDemand } from '../../schemas/on-demand.js'
import { CallError } from './failures.js'
import type { Credentials } from './transport.js'

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

const etcd3 = onDemand<typeof Etcd3Pool>('etcd3/lib/connection-pool.js')

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
    return new ConnectionPool({ hosts: this.#server, grpcOptions: CHANNEL, ...(this.#credentials === undefined ? {} : { credentials }) })
  }
}

/**
 * The lines to the servers of one etcd cluster. `etcd3` brings the protocol, the encryption and the
 * connections; its retries, circuit breakers and watcher stay out, because they repeat writes whose
 * outcome is unknown, lose events and hide reasons. Calls go straight to its gRPC clients.
 *
 * A call goes to one server; when that one fails, the next call goes to the next. Reads may be repeated
 * here, writes never: a write that failed says whether it can have left this process.
 */
import { ConnectionPool } from 'etcd3/lib/connection-pool.js'
import { CallError, closedError, failureOf } from './failures.js'

export interface ConnectionOptions {
  /** `scheme://host:port`, all of one cluster and all of one scheme. */
  readonly servers: readonly string[]
  /** PEM texts. */
  readonly ca?: string | Uint8Array
  readonly certificate?: string | Uint8Array
  readonly key?: string | Uint8Array
}

export type Service = 'KV' | 'Lease' | 'Maintenance' | 'Watch'

/** A stream in both directions, as far as it is used here. */
export interface Stream {
  write: (message: unknown) => void
  end: () => void
  cancel: () => void
  on: ((event: 'data', listener: (message: unknown) => void) => unknown) &
    ((event: 'error', listener: (error: Error) => void) => unknown) &
    ((event: 'end', listener: () => void) => unknown)
}

type Callback = (error: Error | null, answer: unknown) => void
type UnaryCall = (payload: unknown, metadata: unknown, options: unknown, callback: Callback) => void

/** What etcd3 makes of the protocol at run time for each service, as far as it is used here. */
interface Generated {
  getChannel: () => {
    getConnectivityState: (connect: boolean) => number
    watchConnectivityState: (from: number, deadline: number, callback: (error?: Error) => void) => void
  }
}

interface Client {
  readonly generated: Generated
  /** gRPC's Metadata; opaque but for these. */
  readonly metadata: { clone: () => { set: (key: string, value: string) => void } }
}

interface Line {
  readonly pool: ConnectionPool
  readonly clients: Map<Service, Client>
  readonly server: string
}

/** Milliseconds. */
const CALL_TIME = 10_000
const CONNECT_TIME = 3_000
const REASON_TIME = 100
const PAUSE = 50

/** States of a gRPC channel. */
const READY = 2
const FAILING = 3

const CHANNEL = {
  // A dead line is noticed by pings; etcd refuses clients that ping more often than every five seconds.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.min_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1
}

export class Connection {
  readonly #lines: Line[]
  #current = 0
  #closed = false

  /** @throws TypeError when the servers are missing or of mixed schemes */
  constructor (options: ConnectionOptions) {
    const { servers } = options
    const secure = servers.filter(server => server.startsWith('https://')).length
    if (servers.length === 0) throw new TypeError('etcd needs at least one server')
    if (secure !== 0 && secure !== servers.length) throw new TypeError(`etcd servers are either all https or all not: ${servers.join(', ')}`)
    for (const server of servers) if (!/^(https?:\/\/)?[^/\s]+$/.test(server)) throw new TypeError(`an etcd server is given as scheme://host:port, not '${server}'`)
    // One pool per server: which server to use is decided here. The type asks for a CA where gRPC takes
    // none for the system's own, hence the cast.
    const credentials = secure === 0
      ? {}
      : { credentials: { rootCertificate: pem(options.ca), privateKey: pem(options.key), certChain: pem(options.certificate) } as { rootCertificate: Buffer } }
    this.#lines = servers.map(server => ({
      server,
      clients: new Map(),
      pool: new ConnectionPool({ hosts: server, grpcOptions: CHANNEL, ...credentials })
    }))
    // So that many servers of ours do not all use the first.
    this.#current = Math.floor(Math.random() * servers.length)
  }

  get servers (): string {
    return this.#lines.map(line => line.server).join(', ')
  }

  /**
   * A call that may be repeated: it is, on all servers in turn, until the time is over.
   * @throws StorageError 'Compacted', 'FutureRevision', 'NotFound', 'Unavailable', 'Closed'
   */
  async read<Answer> (service: Service, method: string, payload: unknown, milliseconds = CALL_TIME): Promise<Answer> {
    const deadline = Date.now() + milliseconds
    while (true) {
      const line = this.#line()
      try {
        return await this.#call<Answer>(line, service, method, payload, deadline)
      } catch (error) {
        if (!(error instanceof CallError)) throw error
        if (this.#closed) throw closedError()
        const failure = failureOf(error)
        if (!error.transient) throw failure
        this.#leave(line)
        if (Date.now() + PAUSE >= deadline) throw failure
        await new Promise(resolve => setTimeout(resolve, PAUSE))
      }
    }
  }

  /**
   * A call that is sent at most once.
   * @throws CallError whose `sent` says whether it can have had an effect; StorageError 'Closed'
   */
  async once<Answer> (service: Service, method: string, payload: unknown, milliseconds = CALL_TIME): Promise<Answer> {
    const deadline = Date.now() + milliseconds
    const connected = Math.min(deadline, Date.now() + CONNECT_TIME)
    while (true) {
      const line = this.#line()
      try {
        return await this.#call<Answer>(line, service, method, payload, deadline)
      } catch (error) {
        if (!(error instanceof CallError)) throw error
        if (error.transient) this.#leave(line)
        if (this.#closed && !error.sent) throw closedError()
        // Only what has certainly not left may be tried once more.
        if (error.sent || !error.transient || Date.now() + PAUSE >= connected) throw error
        await new Promise(resolve => setTimeout(resolve, PAUSE))
      }
    }
  }

  /** A stream to the current server that the server ends when it has lost its cluster. */
  async watchStream (): Promise<{ stream: Stream, leave: () => void }> {
    const line = this.#line()
    const client = line.clients.get('Watch') ?? await this.#client(line, 'Watch')
    await this.#ready(line, client, Date.now() + CONNECT_TIME).catch((error: unknown) => {
      this.#leave(line)
      throw error
    })
    const metadata = client.metadata.clone()
    metadata.set('hasleader', 'true')
    // A generated method that is there because the protocol has it.
    const generated = client.generated as unknown as { watch: (metadata: unknown) => Stream }
    return { stream: generated.watch(metadata), leave: () => this.#leave(line) }
  }

  close (): void {
    this.#closed = true
    for (const { pool } of this.#lines) pool.close()
  }

  #line (): Line {
    if (this.#closed) throw closedError()
    const line = this.#lines[this.#current]
    if (line === undefined) throw new RangeError('no such server')
    return line
  }

  /** The next call goes to the next server, unless another call has moved on already. */
  #leave (line: Line): void {
    if (this.#lines[this.#current] === line) this.#current = (this.#current + 1) % this.#lines.length
  }

  async #call<Answer> (line: Line, service: Service, method: string, payload: unknown, deadline: number): Promise<Answer> {
    const client = line.clients.get(service) ?? await this.#client(line, service)
    const { generated, metadata } = client
    if (generated.getChannel().getConnectivityState(true) !== READY) await this.#ready(line, client, Math.min(deadline, Date.now() + CONNECT_TIME))
    return await new Promise<Answer>((resolve, reject) => {
      const callback: Callback = (error, answer) => {
        // The protocol decides the shape of the answer.
        if (error === null) resolve(answer as Answer)
        else reject(new CallError(error, line.server))
      }
      // Generated methods are there because the protocol has them.
      const calls = generated as unknown as Record<string, UnaryCall>
      calls[method]?.(payload, metadata, { deadline }, callback)
    })
  }

  async #client (line: Line, service: Service): Promise<Client> {
    const made = await line.pool.withConnection(service, ({ client, metadata }) => ({ generated: client, metadata }))
    line.clients.set(service, made)
    return made
  }

  /** Why there is no connection: gRPC tells only those who call, so a call is made that changes nothing. */
  async #reason (line: Line): Promise<Error> {
    const { generated, metadata } = line.clients.get('KV') ?? await this.#client(line, 'KV')
    const { range } = generated as unknown as Record<'range', UnaryCall>
    return await new Promise(resolve => {
      range.call(generated, { key: Buffer.from([0]), count_only: true }, metadata, { deadline: Date.now() + REASON_TIME }, error => resolve(error ?? new Error('no connection')))
    })
  }

  /** Waits for a connection; not for a failing server where there are others. Nothing is sent before. */
  async #ready (line: Line, { generated }: Client, deadline: number): Promise<void> {
    const channel = generated.getChannel()
    for (let state = channel.getConnectivityState(true); state !== READY; state = channel.getConnectivityState(true)) {
      if (this.#closed) throw closedError()
      const failing = state === FAILING && this.#lines.length > 1
      if (failing || Date.now() >= deadline) throw new CallError(await this.#reason(line), line.server, false)
      await new Promise<void>(resolve => channel.watchConnectivityState(state, deadline, () => resolve()))
    }
  }
}

function pem (text: string | Uint8Array | undefined): Buffer | null {
  return text === undefined ? null : Buffer.from(text)
}

/**
 * Connects through a network proxy that speaks gRPC at a Unix domain socket. Each connection has a stream of its own,
 * as upstream. The protocol can close a connection, but not one direction of it.
 */
import { randomInt } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type * as Grpc from '@grpc/grpc-js'
import { onDemand } from '../../schemas/on-demand.js'
import { ClientError, reasonOf } from '../errors.js'
import { Packet, type Received, type SentPacket } from './konnectivity.proto.js'
import { addressOf, TunnelStream, type StagedTarget } from './tunnel.js'

const grpc = onDemand<typeof Grpc>('@grpc/grpc-js')

const [DIAL, DIALLED, CLOSE, CLOSED, DATA, DIAL_ENDED] = [0, 1, 2, 3, 4, 5]
const MAX_ID = 2 ** 47
/** Bytes of data in a packet. */
const MAX_CHUNK = 1024 * 1024
const MAX_REASON = 300
/** Milliseconds to notify the proxy that a connection is closed. */
const CLOSING = 1000

type Stream = Grpc.ClientDuplexStream<SentPacket, Received>

/** @param socket its path @throws ClientError 'Unreachable', 'Timeout' */
export async function dialByGrpc (
  socket: string, { host, port, timeout, call, reached }: StagedTarget
): Promise<Duplex> {
  const { Client, credentials, setLogVerbosity, logVerbosity } = grpc()
  setLogVerbosity(logVerbosity.NONE) // gRPC would write the proxy's texts to standard error
  const through = `${call}: through the proxy ${socket}`
  const deadline = Date.now() + timeout
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), {
    'grpc.enable_retries': 0, 'grpc.use_local_subchannel_pool': 1, 'grpc.default_authority': 'localhost'
  })
  try {
    await connected(client.getChannel(), deadline)
  } catch (cause) {
    client.close()
    throw new ClientError('Unreachable', `${through}: ${reasonOf(cause)}`, { cause })
  }
  reached()
  const stream: Stream = client
    .makeBidiStreamRequest('/ProxyService/Proxy', packet => Buffer.from(Packet.encode(packet).finish()), Packet.decode)
  return await new Promise((resolve, reject) => {
    const random = randomInt(1, MAX_ID)
    const fail = (error: ClientError): void => {
      clearTimeout(timer)
      reject(error)
      stream.cancel()
      client.close()
    }
    const timer = setTimeout(() => {
      stream.write({ type: DIAL_ENDED, closeDial: { random } })
      fail(new ClientError('Timeout', `${through}: no connection in time`))
    }, deadline - Date.now())
    const answered = ({ type, dialResponse }: Received): void => {
      if (type === DIALLED && dialResponse?.random === random && dialResponse.error === '') {
        clearTimeout(timer)
        stream.off('data', answered).off('error', failed).off('end', ended)
        resolve(new GrpcTunnel(stream, dialResponse.connectID, through, () => { client.close() }))
      } else {
        fail(new ClientError(
          'Unreachable',
          `${through}: ${type === DIALLED
            ? `it cannot connect: ${(dialResponse?.error ?? '').slice(0, MAX_REASON)}`
            : 'it ended the connection'}`
        ))
      }
    }
    const failed = (cause: Error): void => {
      fail(new ClientError('Unreachable', `${through}: ${reasonOf(cause)}`, { cause }))
    }
    const ended = (): void => { fail(new ClientError('Unreachable', `${through}: it ended the connection`)) }
    stream.on('data', answered).on('error', failed).on('end', ended)
    stream.on('error', () => {}) // errors of a cancelled stream
    stream.write({ type: DIAL, dialRequest: { protocol: 'tcp', address: addressOf({ host, port }), random } })
  })
}

/** Unlike `waitForReady`, does not wait for a proxy that refuses connections. */
async function connected (channel: ReturnType<Grpc.Client['getChannel']>, deadline: number): Promise<void> {
  const { connectivityState: { READY, TRANSIENT_FAILURE, SHUTDOWN } } = grpc()
  for (;;) {
    const state = channel.getConnectivityState(true)
    if (state === READY) return
    if (state === TRANSIENT_FAILURE || state === SHUTDOWN) throw new Error('nobody accepts connections there')
    await new Promise<void>((resolve, reject) => {
      channel.watchConnectivityState(state, deadline, error => {
        if (error === undefined) resolve(); else reject(new Error('no connection in time'))
      })
    })
  }
}

class GrpcTunnel extends TunnelStream {
  readonly #stream: Stream
  readonly #id: number
  readonly #release: () => void
  #closed = false

  constructor (stream: Stream, id: number, through: string, release: () => void) {
    super({ allowHalfOpen: false })
    this.#stream = stream
    this.#id = id
    this.#release = release
    stream.on('data', ({ type, data, closeResponse }: Received) => {
      if (type === DATA && data?.connectID === id) {
        if (!this.push(data.data)) stream.pause()
      } else if (type === CLOSED && closeResponse?.connectID === id) {
        this.#closed = true
        if (closeResponse.error === '') this.push(null)
        else this.destroy(new ClientError('Unreachable', `${through}: ${closeResponse.error.slice(0, MAX_REASON)}`))
      }
    })
    stream.on('error', cause => {
      this.destroy(new ClientError('Unreachable', `${through}: ${reasonOf(cause)}`, { cause }))
    })
    stream.on('end', () => {
      this.#closed = true
      this.push(null)
    })
  }

  override _read (): void { this.#stream.resume() }

  override _write (bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const first = bytes.subarray(0, MAX_CHUNK)
    const rest = bytes.subarray(MAX_CHUNK)
    this.#stream.write({ type: DATA, data: { connectID: this.#id, data: first } }, (error?: Error | null) => {
      if (error != null || rest.length === 0) done(error)
      else this._write(rest, _encoding, done)
    })
  }

  override _destroy (error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#closed) this.#stream.write({ type: CLOSE, closeRequest: { connectID: this.#id } })
    const late = setTimeout(() => { this.#stream.cancel() }, CLOSING).unref()
    this.#stream.once('status', () => {
      clearTimeout(late)
      this.#release()
    })
    this.#stream.end()
    this.#stream.resume() // reads on until it ends
    done(error)
  }
}

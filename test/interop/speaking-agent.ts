/**
 * The protocols of node agents on upgraded connections, as far as clients need them for commands and for a port that
 * echoes: SPDY/3.1, of which only stream frames are parsed, and WebSockets with channels.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { createRequire } from 'node:module'
import { createDeflate, constants, inflateSync, type Deflate } from 'node:zlib'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

interface WebSocket { send: (bytes: Buffer) => void, close: (code: number) => void }
interface Handshakes {
  handleUpgrade: (request: IncomingMessage, socket: Socket, head: Buffer, made: (socket: WebSocket) => void) => void
}
/** The package has no types of its own. */
const { WebSocketServer } = createRequire(import.meta.url)('ws') as {
  WebSocketServer: new (
    options: { noServer: true, handleProtocols: (offered: Set<string>) => string | false }
  ) => Handshakes
}

const [SYN_STREAM, SYN_REPLY, PING, WINDOW_UPDATE] = [1, 2, 6, 9]
const FIN = 1
const SUCCESS = JSON.stringify({ metadata: {}, status: 'Success' })

interface Said {
  /** Called for each stream that opens, with its number among all, from 0. */
  readonly opened: (order: number, id: number) => void
  readonly data: (order: number, id: number, bytes: Buffer, last: boolean) => void
  /** The client has read so many bytes of a stream, or with 0 of the connection. */
  readonly read?: (id: number, bytes: number) => void
  readonly pinged?: () => void
}

export class Spdy {
  readonly #socket: Socket
  readonly #packer: Deflate = createDeflate()
  readonly #ids: number[] = []
  #bytes = Buffer.alloc(0)
  #packed = Buffer.alloc(0)

  constructor (socket: Socket) { this.#socket = socket }

  follow (said: Said): void {
    this.#socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk])
      while (this.#bytes.length >= 8) {
        const length = this.#bytes.readUIntBE(5, 3)
        if (this.#bytes.length < 8 + length) return
        this.#frame(this.#bytes.subarray(0, 8), this.#bytes.subarray(8, 8 + length), said)
        this.#bytes = this.#bytes.subarray(8 + length)
      }
    })
  }

  #frame (head: Buffer, body: Buffer, said: Said): void {
    const flags = head.readUInt8(4)
    if ((head.readUInt8(0) & 0x80) === 0) {
      const id = head.readUInt32BE(0)
      said.data(this.#ids.indexOf(id), id, body, (flags & FIN) !== 0)
      return
    }
    const type = head.readUInt16BE(2)
    if (type === PING) {
      this.#control(PING, body)
      said.pinged?.()
    }
    if (type === WINDOW_UPDATE) said.read?.(body.readUInt32BE(0), body.readUInt32BE(4))
    if (type !== SYN_STREAM) return
    const id = body.readUInt32BE(0)
    const order = this.#ids.push(id) - 1
    this.#packed = Buffer.concat([this.#packed, body.subarray(10)])
    // All frames share one compression context for headers; there are no headers.
    this.#packer.write(Buffer.alloc(4))
    this.#packer.flush(constants.Z_SYNC_FLUSH, () => {
      const packed = [] // arrives in pieces, from Node 26 on one per read
      for (let piece =
        this.#packer.read() as Buffer | null; piece !== null; piece = this.#packer.read() as Buffer | null) {
        packed.push(piece)
      }
      this.#control(SYN_REPLY, Buffer.concat([body.subarray(0, 4), ...packed]))
      said.opened(order, id)
    })
  }

  /** Headers of all streams, where the client does not use the dictionary: the packed blocks are one stream. */
  headers (): string { return inflateSync(this.#packed, { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1') }

  #control (type: number, body: Buffer): void {
    const head = Buffer.alloc(8)
    head.writeUInt16BE(0x8003, 0)
    head.writeUInt16BE(type, 2)
    head.writeUInt32BE(body.length, 4)
    this.#socket.write(Buffer.concat([head, body]))
  }

  data (id: number, bytes: Buffer | string, last = false): void {
    const body = Buffer.from(bytes as string)
    const head = Buffer.alloc(8)
    head.writeUInt32BE(id, 0)
    head.writeUInt32BE(body.length, 4)
    head.writeUInt8(last ? FIN : 0, 4)
    this.#socket.write(Buffer.concat([head, body]))
  }
}

const sockets = new WebSocketServer({
  noServer: true, handleProtocols: offered => [...offered].find(one => /^v[45]\.channel\./.test(one)) ?? false
})

/** The printed command with its arguments and input. */
const printed = ({ url = '' }: IncomingMessage): string =>
  `ran ${new URLSearchParams(url.split('?')[1]).getAll('command').join(' ')}\n`

function overWebSocket (request: IncomingMessage, socket: WebSocket): void {
  const say = (channel: number, text: string): void => {
    socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(text)]))
  }
  say(1, printed(request))
  say(3, SUCCESS)
  socket.close(1000)
}

/** Commands that are run as they are, on this machine; others print themselves. */
const RUN = new Set(['cat', 'sh', 'tar', 'test'])

/** Streams that the client opens for a command, in order. */
function streamsOf (query: URLSearchParams): string[] {
  const has = (name: string): boolean => query.get(name) === '1'
  const tty = has('tty')
  return [
    'error', ...has('input') ? ['stdin'] : [], ...has('output') ? ['stdout'] : [],
    ...has('error') && !tty ? ['stderr'] : [], ...tty ? ['resize'] : []
  ]
}

/** Runs a command, or prints it. */
function command (request: IncomingMessage, spdy: Spdy): Said {
  const query = new URLSearchParams(request.url?.split('?')[1])
  const streams = streamsOf(query)
  const ids: number[] = []
  const say = (stream: string, bytes: Buffer | string, last = false): void => {
    const id = ids[streams.indexOf(stream)]
    if (id !== undefined) spdy.data(id, bytes, last)
  }
  const ended = (code: number): void => {
    say('stdout', '', true)
    say('stderr', '', true)
    say('error', code === 0
      ? SUCCESS
      : JSON.stringify({
          metadata: {},
          status: 'Failure',
          reason: 'NonZeroExitCode',
          message: `command terminated with non-zero exit code: ${code}`,
          details: { causes: [{ reason: 'ExitCode', message: String(code) }] }
        }), true)
  }
  const [name = '', ...args] = query.getAll('command')
  let running: ChildProcessWithoutNullStreams | undefined
  const begin = (): void => {
    if (!RUN.has(name)) {
      say('stdout', printed(request))
      ended(0)
      return
    }
    running = spawn(name, args)
    running.stdin.on('error', () => {})
    running.stdout.on('data', (bytes: Buffer) => { say('stdout', bytes) })
    running.stderr.on('data', (bytes: Buffer) => { say('stderr', bytes) })
    running.on('close', code => { ended(code ?? 137) })
    if (!streams.includes('stdin')) running.stdin.end()
  }
  return {
    opened: (order, id) => {
      ids[order] = id
      if (order === streams.length - 1) begin()
    },
    data: (order, _id, bytes, last) => {
      if (streams[order] !== 'stdin' || running === undefined) return
      running.stdin.write(bytes)
      if (last) running.stdin.end()
    }
  }
}

/** For `upgrade` of a node agent: commands over both protocols, ports over SPDY only, as agents of this release do. */
export function speak (request: IncomingMessage, socket: Socket, head: Buffer): void {
  const { url = '', headers } = request
  const isCommand = /^\/(?:exec|attach)\//.test(url)
  if (headers.upgrade === 'websocket') {
    if (isCommand) sockets.handleUpgrade(request, socket, head, made => { overWebSocket(request, made) })
    else socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')
    return
  }
  const version = String(headers['x-stream-protocol-version']).split(',')[0] ?? ''
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ' +
    `${version.trim()}\r\n\r\n`
  )
  if (head.length > 0) socket.unshift(head)
  const spdy = new Spdy(socket)
  spdy.follow(isCommand
    ? command(request, spdy)
    : {
        // For each connection one stream for errors and one for data.
        opened: () => {},
        data: (order, id, bytes, last) => { if (order % 2 === 1) spdy.data(id, bytes, last) }
      })
}

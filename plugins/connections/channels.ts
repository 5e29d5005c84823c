/**
 * Commands over WebSockets with channels, `v5.channel.…`, whose streams can be closed one by one: each channel is a
 * stream of a SPDY connection to the node agent. The client's upgrade succeeds first, so failures of the agent arrive
 * on the channel for errors, as a Status like the outcome of the command.
 */
import type { Socket } from 'node:net'
import { isClientError } from '../../clients/errors.js'
import type { Incoming } from '../../clients/outgoing.js'
import { isStatusError, StatusError } from '../../schemas/status.js'
import { StreamRate, HeldSource } from '../../serving/wire/held-source.js'
import { WebSocketEnd } from '../../serving/wire/web-socket.js'
import { failureOf } from '../shared/forwarding/responses.js'
import { SpdyConnection } from './spdy.js'

const [STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE] = [0, 1, 2, 3, 4, 255]
const NAMES: ReadonlyMap<number, string> = new Map([
  [STDIN, 'stdin'], [STDOUT, 'stdout'], [STDERR, 'stderr'], [ERROR, 'error'], [RESIZE, 'resize']
])

/** Milliseconds without a byte in either direction. */
const IDLE = 4 * 60 * 60 * 1000
/** Milliseconds for the agent to accept the streams. As upstream. */
const REPLY_TIMEOUT = 30_000
/** Maximum bytes of the outcome. */
const MAX_OUTCOME = 64 * 1024

const NONE = Buffer.alloc(0)
const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }

export interface Command {
  readonly stdin?: boolean | undefined
  readonly stdout?: boolean | undefined
  readonly stderr?: boolean | undefined
  readonly tty?: boolean | undefined
}

export interface Translation {
  readonly command: Command
  /** Connects to the agent, asking for SPDY. @throws ClientError */
  readonly dial: () => Promise<Incoming>
  /** Aborts at shutdown. */
  readonly ending: AbortSignal
  /** Bytes a second of each stream; 0 means unlimited. */
  readonly perSecond: number
  /** Milliseconds for the agent to accept the streams. Default 30 seconds. */
  readonly replyTimeout?: number
  /** Receives the code of the outcome. */
  readonly ended: (code: number) => void
}

const failed = (message: string, cause?: unknown): StatusError =>
  new StatusError('InternalError', `Internal error occurred: ${message}`, { cause, details: { causes: [{ message }] } })

/** What the stream for errors has said: a Status from the fourth version on, before that text. */
function outcomeOf (text: string, version: string): object {
  if (text === '') return SUCCESS
  if (!version.startsWith('v4.')) return failed(text).status
  try {
    const { status, reason, message = '' } = JSON.parse(text) as Partial<StatusError['status'] & { reason: string }>
    if (status === 'Success') return SUCCESS
    return reason === ('NonZeroExitCode' as string) ? JSON.parse(text) as object : failed(String(message)).status
  } catch {
    return failed(`the node agent's outcome is no Status: ${text}`).status
  }
}

/** Begins where the client's connection has switched protocols. */
export class ChannelTranslator {
  readonly #translation: Translation
  readonly #webSocket: WebSocketEnd
  readonly #client: Socket
  #agent: Socket | undefined
  #spdy: SpdyConnection | undefined
  #version = ''
  /** Streams by channel, and channels by stream. */
  readonly #streams = new Map<number, number>()
  readonly #channels = new Map<number, number>()
  readonly #awaited = new Set<number>()
  /** Those the agent has not ended: without them there is an outcome. */
  readonly #open = new Set<number>()
  readonly #rates = new Map<number, StreamRate>()
  #channel = 0
  #outcome = ''
  #isOver = false
  #unanswered: NodeJS.Timeout | undefined

  constructor (client: Socket, translation: Translation) {
    this.#translation = translation
    this.#client = client
    client.setTimeout(IDLE, () => { client.destroy() })
    this.#webSocket = new WebSocketEnd(client, {
      piece: (bytes, begins) => { this.#fromClient(bytes, begins) },
      closed: () => { this.#over() }
    })
  }

  /** Connects to the agent. */
  begin (): void {
    const { command: { stdout, stderr }, ending, dial } = this.#translation
    const stop = (): void => { this.#client.destroy() }
    ending.addEventListener('abort', stop, { once: true })
    this.#client.once('close', () => { ending.removeEventListener('abort', stop) })
    if (ending.aborted) stop()
    // Clients wait for a first message, whichever.
    this.#webSocket.send(NONE, stdout === true ? STDOUT : stderr === true ? STDERR : ERROR)
    this.#webSocket.source.hold() // until the agent takes it
    dial().then(incoming => this.#connected(incoming)).catch((error: unknown) => {
      this.#finish((isStatusError(error)
        ? error
        : failed(isClientError(error) ? `error dialing backend: ${error.message}` : 'the stream failed', error)).status)
    })
  }

  async #connected ({ answer, upgraded }: Incoming): Promise<void> {
    if (upgraded === undefined) throw await failureOf(answer, 'pods', 'stream')
    const { socket, head } = upgraded
    if (this.#isOver) {
      socket.destroy()
      return
    }
    const { command: { stdin, stdout, stderr, tty }, perSecond, replyTimeout = REPLY_TIMEOUT } = this.#translation
    this.#agent = socket
    this.#version = String(answer.headers['x-stream-protocol-version'] ?? '')
    const source = new HeldSource(socket)
    const spdy = this.#spdy = new SpdyConnection(socket, head, {
      replied: id => { this.#replied(id) },
      data: (id, piece, last) => { this.#fromAgent(source, id, piece, last) },
      ended: () => {
        if (this.#outcome === '') this.#finish(failed('the node agent has closed the connection').status)
        else this.#conclude()
      }
    })
    const wanted = [
      [ERROR, true], [STDIN, stdin], [STDOUT, stdout], [STDERR, stderr === true && tty !== true],
      [RESIZE, tty === true && /^v[34]\./.test(this.#version)]
    ] as const
    for (const [channel, isWanted] of wanted) {
      if (isWanted !== true) continue
      const id = spdy.open({ streamtype: NAMES.get(channel) ?? '' })
      this.#streams.set(channel, id)
      this.#channels.set(id, channel)
      this.#awaited.add(id)
      if (channel === STDOUT || channel === STDERR || channel === ERROR) this.#open.add(channel)
      this.#rates.set(channel, new StreamRate(channel === STDIN ? this.#webSocket.source : source, perSecond))
    }
    this.#unanswered = setTimeout(() => {
      this.#finish(failed('the node agent has not accepted the streams of the command in time').status)
    }, replyTimeout)
  }

  #replied (id: number): void {
    if (!this.#awaited.delete(id) || this.#awaited.size > 0) return
    clearTimeout(this.#unanswered)
    this.#webSocket.source.release()
  }

  #fromClient (bytes: Buffer, begins: boolean): void {
    let rest = bytes
    if (begins) {
      this.#channel = bytes[0] ?? 0
      rest = bytes.subarray(1)
    }
    if (rest.length === 0 || this.#spdy === undefined) return
    if (this.#channel === CLOSE) {
      const closed = rest[0] === STDIN ? this.#streams.get(STDIN) : undefined
      if (closed === undefined) return
      this.#streams.delete(STDIN)
      this.#spdy.data(closed, NONE, true)
      return
    }
    const id = this.#channel === STDIN || this.#channel === RESIZE ? this.#streams.get(this.#channel) : undefined
    if (id === undefined) return
    if (!this.#spdy.data(id, rest) && this.#agent !== undefined) this.#webSocket.source.holdFor(this.#agent)
    this.#rates.get(this.#channel)?.passed(rest.length)
  }

  #fromAgent (source: HeldSource, id: number, piece: Buffer, last: boolean): void {
    const channel = this.#channels.get(id)
    if (channel === undefined) return
    if (channel === ERROR) {
      if (this.#outcome.length + piece.length > MAX_OUTCOME) throw new Error('the outcome is too long')
      this.#outcome += piece.toString('latin1')
    } else if (piece.length > 0 && (channel === STDOUT || channel === STDERR)) {
      if (!this.#webSocket.send(piece, channel)) source.holdFor(this.#client)
      this.#rates.get(channel)?.passed(piece.length)
    }
    if (last && this.#open.delete(channel) && this.#open.size === 0) this.#conclude()
  }

  #conclude (): void {
    this.#finish(outcomeOf(Buffer.from(this.#outcome, 'latin1').toString(), this.#version))
  }

  /** The exit code of a command is no failure of the translation. */
  #finish (outcome: object): void {
    if (this.#isOver) return
    this.#webSocket.send(Buffer.from(JSON.stringify(outcome)), ERROR)
    this.#webSocket.close()
    const { reason, code } = outcome as { reason?: string, code?: number }
    this.#over(reason === undefined || reason === 'NonZeroExitCode' ? 200 : code)
  }

  #over (code = 500): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#unanswered)
    this.#agent?.destroy()
    this.#translation.ended(code)
  }
}

/**
 * Paces pipelined HTTP/1.1 requests: Node parses and handles all that a read has brought at once, and 64 KiB hold
 * thousands. Here a connection gets some of them parsed in a turn of the event loop, and what it has sent beyond that
 * waits in its stream, in front of what is yet to be read. Bodies do not wait.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of a connection in a turn. */
const MOST_REQUESTS = 16
/** So many bytes are read at least: they hold few requests, and a body of empty lines is read in no smaller parts. */
const SMALL = 512
/** Connections with more that go on in a turn. */
const MOST_CONNECTIONS = 2
/** Every request has one. */
const EMPTY_LINE = Buffer.from('\r\n\r\n')
const NONE = { complete: true, readableLength: 0, readableHighWaterMark: 0 }

let turn = 0
let turnEnds = false
const waiting: Array<() => void> = []

function endTurn (): void {
  turnEnds = false
  turn++
  for (const goOn of waiting.splice(0, MOST_CONNECTIONS)) goOn()
  if (waiting.length > 0) awaitTurn()
}

function awaitTurn (): void {
  if (turnEnds) return
  turnEnds = true
  setImmediate(endTurn)
}

/** Where so many headers may end, or where the bytes do. */
function endOfHeaders (bytes: Buffer, most: number): { readonly headers: number, readonly end: number } {
  let end = 0
  for (let headers = 0; headers < most; headers++) {
    const at = bytes.indexOf(EMPTY_LINE, end)
    if (at < 0) return { headers, end: bytes.length }
    end = at + EMPTY_LINE.length
  }
  return { headers: most, end: end === 0 ? 0 : Math.min(bytes.length, Math.max(end, SMALL)) }
}

type Read = (bytes: Buffer) => void
/** `parser` is Node's, with the request that it has begun last. */
type Connection = Socket & {
  readonly parser?: { readonly incoming: IncomingMessage | null } | null
  readonly _paused?: boolean
}

/** Whether Node has paused a connection until a body, or responses, have been read; it resumes it itself. */
const isPaused = ({ _paused: paused, parser }: Connection): boolean => {
  const { complete, readableLength, readableHighWaterMark } = parser?.incoming ?? NONE
  return paused === true || (!complete && readableLength >= readableHighWaterMark)
}

/**
 * Puts the pace in front of the listener with which Node reads a connection as a stream. Node has no such limit, in
 * Node 26 neither.
 * @see https://github.com/nodejs/node/blob/v26.x/lib/_http_server.js, `socketOnData`
 */
export function paceReads (socket: Connection): void {
  const [read] = socket.listeners('data') as Array<Read | undefined>
  if (read === undefined) return
  let ofTurn = turn
  let requests = 0
  let isWaiting = false
  const goOn = (): void => {
    if (!isPaused(socket) && !socket.destroyed && socket.listeners('data').includes(read)) socket.resume()
  }
  const wait = (): void => {
    awaitTurn()
    if (isWaiting) return
    isWaiting = true
    waiting.push(() => {
      isWaiting = false
      goOn()
    })
  }
  /** @returns whether requests have begun */
  const take = (bytes: Buffer, headers: number): boolean => {
    const before = socket.parser?.incoming
    read(bytes)
    if (socket.parser?.incoming === before) return false // amid a body
    requests += headers + 1 // the first may have begun before
    awaitTurn()
    return true
  }
  const paced: Read & { listener?: Read } = bytes => {
    if (ofTurn !== turn) {
      ofTurn = turn
      requests = 0
    }
    const { headers, end } = endOfHeaders(bytes, MOST_REQUESTS - requests)
    if (end === bytes.length) {
      take(bytes, headers)
      return
    }
    // Before the others are read: an upgrade puts what it leaves in front.
    socket.pause()
    socket.unshift(bytes.subarray(end))
    if (end === 0 || take(bytes.subarray(0, end), headers)) wait()
    else goOn()
  }
  socket.off('data', read)
  socket.on('data', paced)
  paced.listener = read // so that Node finds it to remove it at an upgrade
}

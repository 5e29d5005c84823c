/**
 * Begins TLS handshakes in turns. A handshake signs something, which takes half a millisecond, and Node does it as soon
 * as the first message has arrived: thousands that arrive together, of anybody, would hold the event loop for seconds.
 * So that a connection costs nothing before, its first message is read here, whole, and put back. Their last messages
 * may come together as well, so few handshakes are under way at a time. Node has no option for this, in Node 26
 * neither.
 */
import type { Server, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterMicrotasks } from '../event-loop/turns.js'
import { helloSize } from './hello.js'

/** Milliseconds of a turn for handshakes. */
const TURN_MS = 4
/** Handshakes that have begun and not ended. */
const MAX_UNDER_WAY = 200
/** Milliseconds after which one that still has not ended makes place for others. */
const PATIENCE = 250
/** Bytes of a first message with all its extensions; usual ones have 300 to 2,000. */
const MAX_HELLO = 16 * 1024

/**
 * Replaces the listener of a TLS server that begins a handshake with each connection.
 * @param timeout milliseconds until it begins
 * @throws Error if this Node version begins handshakes differently
 */
export function paceHandshakes (server: Server, timeout: number): void {
  const [begin] = server.listeners('connection') as Array<((socket: Socket) => void) | undefined>
  if (begin === undefined) throw new Error('the TLS server of this Node begins handshakes another way')
  server.removeListener('connection', begin as () => void)
  const handshakes = new Handshakes(socket => { begin.call(server, socket) })
  server.on('connection', (socket: Socket) => {
    whenSaidHello(socket, timeout, (code, message) => {
      if (code === undefined) handshakes.add(socket)
      else server.emit('tlsClientError', Object.assign(new Error(message), { code }), socket) // as Node does
    })
  })
  server.on('secureConnection', (socket: TLSSocket & { readonly _parent?: Socket }) => {
    if (socket._parent !== undefined) handshakes.ended(socket._parent) // the connection below TLS
  })
}

/** Reads the first message and puts it back. @param then called once, with the code and message of a failure */
function whenSaidHello (socket: Socket, timeout: number, then: (code?: string, message?: string) => void): void {
  let received: Buffer = Buffer.alloc(0)
  const end = (code?: string, message?: string): void => {
    clearTimeout(late)
    socket.off('readable', take).off('end', left)
    then(code, message)
  }
  const left = (): void => { end('ECONNRESET', 'the client left before its first message') }
  const late = setTimeout(() => { end('ERR_TLS_HANDSHAKE_TIMEOUT', 'the first message is late') }, timeout).unref()
  const take = (): void => {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    }
    if (received.length === 0) return
    const size = helloSize(received)
    if (size > MAX_HELLO) return end('ERR_SSL_EXCESSIVE_MESSAGE_SIZE', 'the first message is too large')
    if (size > received.length) return
    socket.unshift(received)
    end()
  }
  socket.on('error', ignore) // 'close' follows
  socket.once('close', () => { clearTimeout(late) })
  socket.once('end', left).on('readable', take)
}

const ignore = (): void => {}

class Handshakes {
  readonly #begin: (socket: Socket) => void
  /** By address, so that many of one do not delay those of others. */
  readonly #waiting = new Map<string, Socket[]>()
  /** With the time when they began. */
  readonly #underWay = new Map<Socket, number>()
  #isDue = false

  constructor (begin: (socket: Socket) => void) { this.#begin = begin }

  add (socket: Socket): void {
    const { remoteAddress = '' } = socket
    const waiting = this.#waiting.get(remoteAddress)
    if (waiting === undefined) this.#waiting.set(remoteAddress, [socket])
    else waiting.push(socket)
    socket.once('close', () => { this.ended(socket) })
    this.#schedule()
  }

  ended (socket: Socket): void { if (this.#underWay.delete(socket)) this.#schedule() }

  #schedule (): void {
    if (this.#isDue || this.#waiting.size === 0) return
    this.#isDue = true
    setImmediate(this.#run)
  }

  /** As many as the turn has time for, one at least. Node handles what was put back in the next tick. */
  readonly #run = (): void => {
    const since = performance.now()
    const next = (): void => {
      if (!this.#makePlace(since)) {
        setTimeout(this.#run, PATIENCE / 10).unref()
        return
      }
      try {
        this.#beginOne()
      } finally { // one that fails must not block the others
        afterMicrotasks(() => {
          if (this.#waiting.size === 0) this.#isDue = false
          else if (performance.now() - since > TURN_MS) setImmediate(this.#run)
          else next()
        })
      }
    }
    next()
  }

  /** @returns whether there is place for one */
  #makePlace (now: number): boolean {
    if (this.#underWay.size < MAX_UNDER_WAY) return true
    const [oldest] = this.#underWay
    if (oldest === undefined || now - oldest[1] < PATIENCE) return false
    this.#underWay.delete(oldest[0])
    oldest[0].destroy()
    return true
  }

  #beginOne (): void {
    const [next] = this.#waiting
    if (next === undefined) return
    const [address, sockets] = next
    const socket = sockets.shift()
    this.#waiting.delete(address)
    if (sockets.length > 0) this.#waiting.set(address, sockets) // after all others
    if (socket === undefined || socket.destroyed) return
    this.#underWay.set(socket, performance.now())
    this.#begin(socket)
  }
}

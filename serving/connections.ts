/** The connections of the listener: those accepted, and those whose TLS handshake is done. */
import type { Http2SecureServer } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { ACTIVE, LAST_ENDED_AT, type Counted } from './active-responses.js'
import { readAsStream } from './wire/pipelines.js'

/** Milliseconds of silence before TCP keep-alive probes. */
const KEEP_ALIVE = 30_000
/** Milliseconds after its last response during which an HTTP/1 connection counts as in use. */
const IN_USE = 1000

export class Connections {
  readonly #secure = new Set<TLSSocket & Counted>()
  /** Raw connections, including those before the TLS handshake. */
  readonly #accepted = new Set<Socket>()
  readonly #whenNoneIsLeft: Array<() => void> = []

  constructor (server: Http2SecureServer) {
    server.on('secureConnection', socket => {
      this.#secure.add(socket)
      socket.setKeepAlive(true, KEEP_ALIVE)
      if (socket.alpnProtocol !== 'h2') readAsStream(socket)
      socket.once('close', () => this.#secure.delete(socket))
    })
    server.on('connection', socket => {
      this.#accepted.add(socket)
      socket.once('close', () => {
        this.#accepted.delete(socket)
        if (this.#accepted.size === 0) for (const call of this.#whenNoneIsLeft.splice(0)) call()
      })
    })
  }

  get count (): number {
    return this.#accepted.size
  }

  /** Whether a client of HTTP/1 may be about to send its next request. */
  areInUse (): boolean {
    const since = performance.now() - IN_USE
    for (const socket of this.#secure) {
      if ((socket[LAST_ENDED_AT] ?? -Infinity) > since && !socket.writableEnded) return true
    }
    return false
  }

  /** Ends the HTTP/1 connections without an active response. */
  endIdle (): void {
    for (const socket of this.#secure) if (socket.alpnProtocol !== 'h2' && (socket[ACTIVE] ?? 0) === 0) socket.end()
  }

  /** Resolves when none is left, or after the timeout. */
  async closed (milliseconds: number): Promise<void> {
    if (this.#secure.size === 0) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, milliseconds)
      this.#whenNoneIsLeft.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  destroy (): void {
    for (const socket of this.#secure) socket.destroy()
    for (const socket of this.#accepted) socket.destroy()
  }
}

/** Bytes as no client library sends them, over TLS to the started server, and the responses. */
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import type { Json, Test } from '../build.js'

export interface Response {
  readonly code: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly json: Json
}

/** One HTTP/1.1 connection. */
export class Wire {
  readonly socket: TLSSocket
  ended = false
  #bytes = Buffer.alloc(0)
  #wake: (() => void) | undefined

  private constructor (socket: TLSSocket) {
    this.socket = socket
    socket.on('data', (bytes: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes])
      this.#wake?.()
    })
    const end = (): void => {
      this.ended = true
      this.#wake?.()
    }
    socket.on('error', end)
    socket.on('end', end)
    socket.on('close', end)
  }

  static async open (t: Test, port: number): Promise<Wire> {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
    t.teardown(() => { socket.destroy() })
    await once(socket, 'secureConnect')
    return new Wire(socket)
  }

  write (bytes: string | Buffer): this {
    if (!this.socket.destroyed) this.socket.write(bytes)
    return this
  }

  get received (): string { return this.#bytes.toString('latin1') }

  async #more (deadline: number): Promise<void> {
    if (this.ended) return
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => { reject(new Error(`nothing came: ${this.received.slice(0, 200)}`)) }, Math.max(0, deadline - Date.now())
      )
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** The next complete response; undefined if the connection ends before. */
  async response (milliseconds = 15_000): Promise<Response | undefined> {
    const deadline = Date.now() + milliseconds
    for (;;) {
      const found = this.#take()
      if (found !== undefined) return found
      if (this.ended) return undefined
      await this.#more(deadline)
    }
  }

  #take (): Response | undefined {
    const end = this.#bytes.indexOf('\r\n\r\n')
    if (end < 0) return undefined
    const [status = '', ...lines] = this.#bytes.subarray(0, end).toString('latin1').split('\r\n')
    const headers = Object.fromEntries(lines.map(line => [
      line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()
    ]))
    const length = Number(headers['content-length'] ?? 0)
    if (this.#bytes.length < end + 4 + length) return undefined
    const body = this.#bytes.subarray(end + 4, end + 4 + length).toString()
    this.#bytes = this.#bytes.subarray(end + 4 + length)
    const code = Number(status.split(' ')[1])
    if (code === 100) return this.#take()
    let json: Json = {}
    try {
      json = JSON.parse(body) as Json
    } catch {
      // not JSON: the caller sees that
    }
    return { code, headers, body, json }
  }

  async end (milliseconds = 15_000): Promise<void> {
    const deadline = Date.now() + milliseconds
    while (!this.ended) await this.#more(deadline)
  }
}

/** Sends the bytes on a new connection. Returns the first response, undefined if there is none. */
export async function send (t: Test, port: number, bytes: string | Buffer): Promise<Response | undefined> {
  const wire = await Wire.open(t, port)
  wire.write(bytes)
  const response = await wire.response()
  wire.socket.destroy()
  return response
}

/** The cheapest HTTP/1.1 client: raw bytes over TLS sockets, so that the server dominates the measurement. */
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { TOKEN } from './process.js'

const DIGIT_TWO = 50
const STATUS_AT = 9

async function openSocket (port: number): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  socket.setNoDelay(true)
  return socket
}

/** A patch that names its manager is an apply. */
const typeOf = (method: string, path: string): string => method !== 'PATCH'
  ? 'application/json'
  : path.includes('fieldManager=') ? 'application/apply-patch+yaml' : 'application/merge-patch+json'

function requestBytes (method: string, path: string, body?: string): string {
  const rest = body === undefined
    ? '\r\n'
    : `Content-Type: ${typeOf(method, path)}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  return `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${TOKEN}\r\nAccept: ` +
    `application/json\r\n${rest}`
}

export interface AnswerListener {
  /** Called with the status when the head has arrived. */
  readonly head?: (code: number) => void
  readonly data?: (bytes: Buffer) => void
  readonly end?: () => void
  /** The connection ended before the response did. */
  readonly fail: (error: Error) => void
}

const enum Expect { Head, Length, ChunkSize, Chunk, ChunkEnd }

/** A connection with one active request at a time. */
export class Http1Connection {
  readonly #socket: TLSSocket
  #listener: AnswerListener | undefined
  #expect = Expect.Head
  #text = ''
  #left = 0

  private constructor (socket: TLSSocket) {
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => { this.#take(bytes) })
    socket.on('error', error => this.#listener?.fail(error))
    socket.on('close', () => this.#listener?.fail(new Error('the connection was closed')))
  }

  static async open (port: number): Promise<Http1Connection> {
    return new Http1Connection(await openSocket(port))
  }

  send (method: string, path: string, listener: AnswerListener, body?: string): void {
    this.#listener = listener
    this.#socket.write(requestBytes(method, path, body))
  }

  /** Whether another request can be sent. */
  get usable (): boolean { return this.#socket.writable }

  close (): void {
    this.#listener = undefined
    this.#socket.destroy()
  }

  #take (bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) {
      switch (this.#expect) {
        case Expect.Head: {
          const from = this.#text.length
          this.#text += bytes.toString('latin1', at)
          const end = this.#text.indexOf('\r\n\r\n', Math.max(0, from - 3))
          if (end < 0) return
          at += end + 4 - from
          this.#started(this.#text.slice(0, end))
          break
        }
        case Expect.Length:
        case Expect.Chunk: {
          const end = Math.min(bytes.length, at + this.#left)
          this.#left -= end - at
          this.#listener?.data?.(bytes.subarray(at, end))
          at = end
          if (this.#left > 0) return
          if (this.#expect === Expect.Length) this.#ended()
          else this.#expect = Expect.ChunkEnd
          break
        }
        case Expect.ChunkEnd:
        case Expect.ChunkSize: {
          const end = bytes.indexOf(10, at)
          this.#text += bytes.toString('latin1', at, end < 0 ? bytes.length : end)
          if (end < 0) return
          at = end + 1
          this.#line()
        }
      }
    }
  }

  #started (head: string): void {
    this.#text = ''
    this.#listener?.head?.(Number(head.slice(STATUS_AT, STATUS_AT + 3)))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    this.#expect = length === undefined ? Expect.ChunkSize : Expect.Length
    this.#left = Number(length ?? 0)
    if (length === '0') this.#ended()
  }

  /** Handles the end of a chunk, the size of the next one, or the end of all: zero and an empty line. */
  #line (): void {
    const line = this.#text.trimEnd()
    this.#text = ''
    if (this.#expect === Expect.ChunkEnd) {
      this.#expect = Expect.ChunkSize
      if (this.#left < 0) this.#ended()
      return
    }
    this.#left = Number.parseInt(line, 16)
    this.#expect = Expect.Chunk
    if (this.#left > 0) return
    this.#left = -1
    this.#expect = Expect.ChunkEnd
  }

  #ended (): void {
    this.#expect = Expect.Head
    const ended = this.#listener
    this.#listener = undefined
    ended?.end?.()
  }
}

const idle = new Map<number, Http1Connection[]>()

export interface Answer { readonly code: number, readonly bytes: number, readonly body: () => string }

/**
 * One request on a connection that is kept for the next one. Up to 100 kB of the body are kept; all bytes are counted.
 */
export async function call (port: number, method: string, path: string, body?: string): Promise<Answer> {
  const free = idle.get(port) ?? []
  idle.set(port, free)
  let connection = free.pop()
  while (connection?.usable === false) connection = free.pop()
  const open = connection ?? await Http1Connection.open(port)
  let code = 0
  let bytes = 0
  const parts: Buffer[] = []
  await new Promise<void>((resolve, reject) => {
    open.send(method, path, {
      head: status => { code = status },
      data: piece => {
        bytes += piece.length
        if (bytes < 100_000) parts.push(piece)
      },
      end: resolve,
      fail: reject
    }, body)
  })
  free.push(open)
  return { code, bytes, body: () => Buffer.concat(parts).toString() }
}

/** Closes what `call` keeps open to this server. */
export function hangUp (port: number): void {
  for (const connection of idle.get(port) ?? []) connection.close()
  idle.delete(port)
}

/**
 * Sends `count` GETs over that many connections, but not more than there are GETs, each waiting for its response. All
 * responses have the same length.
 */
export async function gets (port: number, path: string, count: number, connections: number): Promise<void> {
  const bytes = requestBytes('GET', path)
  const length = await answerLength(port, bytes)
  let left = count
  await Promise.all(Array.from({ length: Math.min(connections, count) }, async () => {
    const socket = await openSocket(port)
    let received = 0
    await new Promise<void>((resolve, reject) => {
      const next = (): void => {
        if (left-- <= 0) return resolve()
        socket.write(bytes)
      }
      socket.on('data', (data: Buffer) => {
        if (received === 0 && data.length > STATUS_AT && data[STATUS_AT] !== DIGIT_TWO) {
          reject(new Error(data.subarray(0, 200).toString()))
        }
        received += data.length
        if (received < length) return
        received -= length
        next()
      })
      socket.on('error', reject)
      socket.on('close', () => { reject(new Error('the connection was closed')) })
      next()
    })
    socket.removeAllListeners('close')
    socket.destroy()
  }))
}

/** Bytes of the response, head and body. */
async function answerLength (port: number, bytes: string): Promise<number> {
  const socket = await openSocket(port)
  let answer = Buffer.alloc(0)
  socket.write(bytes)
  for (;;) {
    const [data] = await once(socket, 'data') as [Buffer]
    answer = Buffer.concat([answer, data])
    const end = answer.indexOf('\r\n\r\n')
    if (end < 0) continue
    const head = answer.subarray(0, end).toString()
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
    if (!head.startsWith('HTTP/1.1 200') || Number.isNaN(length)) throw new Error(`unexpected answer: ${head}`)
    if (answer.length < end + 4 + length) continue
    socket.destroy()
    return end + 4 + length
  }
}

/** Runs `work` for 0…count-1, at most `width` concurrently. */
export async function pool (count: number, width: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0
  await Promise.all(Array.from({ length: width }, async () => {
    while (next < count) await work(next++)
  }))
}

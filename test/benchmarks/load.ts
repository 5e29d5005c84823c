/** Load over TLS sockets by hand: the cheapest client there is, so that the server is what is measured. */
import { once } from 'node:events'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { Agent, request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { TOKEN } from './process.js'

async function open (port: number): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  socket.setNoDelay(true)
  return socket
}

const head = (method: string, path: string, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${TOKEN}\r\nAccept: application/json\r\n${more}\r\n`

/** Bytes of the first answer, head and body; answers to one request are all of that length. */
async function answerLength (port: number, bytes: string): Promise<number> {
  const socket = await open(port)
  let text = Buffer.alloc(0)
  socket.write(bytes)
  for (;;) {
    const [data] = await once(socket, 'data') as [Buffer]
    text = Buffer.concat([text, data])
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) continue
    const headers = text.subarray(0, end).toString()
    const length = Number(/content-length: (\d+)/i.exec(headers)?.[1])
    if (!headers.startsWith('HTTP/1.1 200') || Number.isNaN(length)) throw new Error(`unexpected answer: ${headers}`)
    if (text.length < end + 4 + length) continue
    socket.destroy()
    return end + 4 + length
  }
}

/** Sends `count` GETs over so many connections, each waiting for its answer. */
export async function gets (port: number, path: string, count: number, connections: number): Promise<void> {
  const bytes = head('GET', path)
  const length = await answerLength(port, bytes)
  let left = count
  await Promise.all(Array.from({ length: connections }, async () => {
    const socket = await open(port)
    let received = 0
    await new Promise<void>((resolve, reject) => {
      const next = (): void => {
        if (left-- <= 0) return resolve()
        socket.write(bytes)
      }
      socket.on('data', (data: Buffer) => {
        received += data.length
        if (received < length) return
        received -= length
        next()
      })
      socket.on('error', reject)
      socket.on('close', () => { reject(new Error('connection closed')) })
      next()
    })
    socket.removeAllListeners('close')
    socket.destroy()
  }))
}

const agent = new Agent({ keepAlive: true, maxSockets: 256, rejectUnauthorized: false })

/** One request; resolves to the number of body bytes. */
export function call (port: number, method: string, path: string, body?: string): Promise<{ code: number, bytes: number, body: () => string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', method, path, agent, headers: { authorization: `Bearer ${TOKEN}`, ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }) } }, response => {
      let bytes = 0
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => {
        bytes += part.length
        if (bytes < 100_000) parts.push(part)
      })
      response.on('end', () => { resolve({ code: response.statusCode ?? 0, bytes, body: () => Buffer.concat(parts).toString() }) })
      response.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

/** Runs `work` for 0…count-1 with so many at once. */
export async function pool (count: number, width: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0
  await Promise.all(Array.from({ length: width }, async () => {
    while (next < count) await work(next++)
  }))
}

/** Open watches that count the newlines they receive: one per event. */
export class Watchers {
  readonly #sockets: TLSSocket[] = []
  #lines = 0
  #wanted = Infinity
  #reached: (() => void) | undefined

  async open (port: number, path: string, count: number): Promise<void> {
    await pool(count, 50, async () => {
      const socket = await open(port)
      this.#sockets.push(socket)
      socket.write(head('GET', path))
      let text = ''
      while (!text.includes('\r\n\r\n')) text += String((await once(socket, 'data') as [Buffer])[0])
      socket.on('data', (data: Buffer) => {
        // Chunks end in \r\n: only bare newlines end events.
        for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, at + 1)) if (data[at - 1] === 125) this.#lines++
        if (this.#lines >= this.#wanted) this.#reached?.()
      })
    })
  }

  /** Resolves when each watch has got so many more events. */
  async expect (events: number, trigger: () => Promise<unknown>): Promise<void> {
    this.#lines = 0
    this.#wanted = events * this.#sockets.length
    const done = new Promise<void>(resolve => { this.#reached = resolve })
    await trigger()
    await done
  }

  close (): void { for (const socket of this.#sockets) socket.destroy() }
}

export type { IncomingMessage }

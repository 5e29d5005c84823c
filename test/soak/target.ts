/** A server under the soak test, in a process of its own, and two ways to send it requests. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { fileURLToPath } from 'node:url'
import { nodeFlags, until } from '../interop/server.js'
import type { Held } from './probe.js'

export const PROBE = fileURLToPath(new URL('probe.js', import.meta.url))
const START_TIME = 30_000

export type Protocol = 'http1' | 'http2'

export interface Place {
  /** Of its kind. */
  readonly name: string
  readonly port: number
  readonly secure: boolean
  /** Protocols that it speaks. */
  readonly protocols: readonly Protocol[]
  /** Prefix of each path. */
  readonly prefix: string
}

export interface Reply { readonly code: number, readonly body: Buffer }

export interface Ask { readonly method?: string, readonly headers?: Record<string, string>, readonly body?: object }

export interface Target {
  /** Several if servers share the process. */
  readonly places: readonly Place[]
  readonly child: ChildProcess
  readonly log: () => string
  readonly held: () => Promise<Held>
  readonly stop: () => Promise<void>
}

/** What the process of a server with the probe holds after collections. */
export async function heldBy (child: ChildProcess): Promise<Held> {
  child.send('held')
  const gone = new AbortController()
  const left = (): void => { gone.abort(new Error('the server has ended')) }
  child.once('exit', left)
  try {
    const [answer] = await once(child, 'message', { signal: gone.signal }) as [Held]
    return answer
  } finally {
    child.off('exit', left)
  }
}

/** Resolves when all its places are ready. @param program a script with its arguments */
export async function startTarget (program: readonly string[], places: readonly Place[]): Promise<Target> {
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(
    process.execPath, [...nodeFlags(), '--expose-gc', '--import', PROBE, ...program],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], env }
  )
  let log = ''
  child.stderr?.on('data', (piece: Buffer) => { log = (log + piece.toString()).slice(-100_000) })
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  const held = (): Promise<Held> => heldBy(child)
  for (const place of places) {
    const client = new Client(place, place.protocols[0] ?? 'http1')
    try {
      await until(() => `${place.name} to be ready; its log: ${log}`, async () => {
        if (child.exitCode !== null) throw new Error(`the server ended: ${log}`)
        return await client.ask('/readyz').then(({ code }) => code === 200, () => false)
      }, START_TIME)
    } finally {
      client.close()
    }
  }
  return { places, child, log: () => log, held, stop }
}

/** A client with one kept connection, or a few. */
export class Client {
  readonly #place: Place
  readonly #protocol: Protocol
  readonly #agent: HttpAgent
  #session: ClientHttp2Session | undefined

  constructor (place: Place, protocol: Protocol) {
    this.#place = place
    this.#protocol = protocol
    this.#agent = place.secure
      ? new HttpsAgent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 4 })
      : new HttpAgent({ keepAlive: true, maxSockets: 4 })
  }

  /** @throws Error without a whole response */
  async ask (path: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<Reply> {
    const given = { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers }
    const text = body === undefined ? undefined : JSON.stringify(body)
    const pieces: Buffer[] = []
    const { code, stream } = await this.open(path, method, given, text)
    for await (const piece of stream) pieces.push(piece as Buffer)
    // For Node, a stream that was reset, or whose connection closed, ends like a complete one.
    if ('rstCode' in stream && stream.rstCode !== 0) throw new Error(`cut off with code ${String(stream.rstCode)}`)
    return { code, body: Buffer.concat(pieces) }
  }

  /** A response that has begun. */
  async open (path: string, method = 'GET', headers: Record<string, string> = {}, body?: string): Promise<{
    code: number
    stream: NodeJS.ReadableStream & { destroy: () => void }
  }> {
    const { prefix, port, secure } = this.#place
    if (this.#protocol === 'http2') {
      const stream = this.session().request(
        { ':method': method, ':path': prefix + path, ...headers }, { endStream: body === undefined }
      )
      stream.on('error', () => {})
      if (body !== undefined) stream.end(body)
      const gone = once(stream, 'close').then(() => {
        throw new Error(`the stream of ${method} ${path} was closed with code ${stream.rstCode} before an answer`)
      })
      gone.catch(() => {})
      const [head] = await Promise.race([once(stream, 'response'), gone]) as [Record<string, unknown>]
      return { code: Number(head[':status']), stream }
    }
    const asked = (secure ? httpsRequest : httpRequest)({
      port, host: '127.0.0.1', path: prefix + path, method, headers, agent: this.#agent
    })
    asked.end(body)
    const [response] = await once(asked, 'response') as [IncomingMessage]
    return { code: response.statusCode ?? 0, stream: response }
  }

  session (): ClientHttp2Session {
    if (this.#session === undefined || this.#session.destroyed || this.#session.closed) {
      const { port, secure } = this.#place
      this.#session = connectHttp2(`${secure ? 'https' : 'http'}://127.0.0.1:${port}`, { rejectUnauthorized: false })
      this.#session.on('error', () => {})
    }
    return this.#session
  }

  close (): void {
    this.#agent.destroy()
    this.#session?.destroy()
  }
}

/**
 * Clients that keep their connections while servers behind a balancer are replaced, and follow their protocol when one
 * ends.
 */
import { Agent, request } from 'node:https'
import { connect as connectHttp2, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import type { IncomingMessage } from 'node:http'
import type { SecureContextOptions } from 'node:tls'

/** The address and the user of clients. Without a CA they accept any certificate. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
  readonly tls: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>
}

const secureOptions = ({ tls }: Address): SecureContextOptions & { rejectUnauthorized: boolean } => ({
  ...tls, rejectUnauthorized: tls.ca !== undefined
})

export interface Reply { readonly code: number, readonly text: string }

/** The connection ended before the first byte of the response, so the client may retry, in both protocols. */
export class Unanswered extends Error {}

export interface RollingClient {
  /** @throws Unanswered, or Error if the response had begun */
  ask: (method: string, path: string, body?: string) => Promise<Reply>
  /** A long-running response, piece by piece. Resolves when it has ended, for whatever reason. @throws Unanswered */
  follow: (path: string, piece: (text: string) => void) => Promise<number>
  close: () => void
}

export function http1Client (address: Address): RollingClient {
  const { host, port } = address
  const options = secureOptions(address)
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ...options })
  const followed = new Set<IncomingMessage>()
  const open = (method: string, path: string, body: string | undefined, own: Agent | false): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const asked = request(
        {
          port,
          host,
          method,
          path,
          agent: own,
          ...options,
          headers: {
            ...address.headers,
            ...(body === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
          }
        },
        resolve
      )
      asked.on('error', error => { reject(new Unanswered(error.message)) })
      asked.end(body)
    })
  return {
    ask: async (method, path, body) => {
      const response = await open(method, path, body, agent)
      let text = ''
      for await (const piece of response.setEncoding('utf8')) text += piece as string
      if (!response.complete) throw new Error(`${method} ${path}: the answer ended amid its body`)
      return { code: response.statusCode ?? 0, text }
    },
    follow: async (path, piece) => {
      const response = await open('GET', path, undefined, false)
      followed.add(response)
      response.setEncoding('utf8').on('data', piece)
      await new Promise<void>(resolve => { response.on('close', resolve).on('error', () => {}) })
      followed.delete(response)
      return response.statusCode ?? 0
    },
    close: () => {
      agent.destroy()
      for (const response of followed) response.destroy()
    }
  }
}

export function http2Client (address: Address): RollingClient {
  let session: ClientHttp2Session | undefined
  /** A session that has not received a GOAWAY. */
  const current = (): ClientHttp2Session => {
    if (session === undefined || session.closed || session.destroyed) {
      const made = session = connectHttp2(`https://${address.host}:${address.port}`, secureOptions(address))
      made.on('error', () => {})
      made.on('goaway', () => { if (session === made) session = undefined })
    }
    return session
  }
  const open = (method: string, path: string, body?: string): Promise<{
    readonly stream: ClientHttp2Stream
    readonly code: number
  }> => new Promise((resolve, reject) => {
    const stream = current().request(
      {
        ':method': method,
        ':path': path,
        ...address.headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' })
      },
      { endStream: body === undefined }
    )
    stream.once('response', head => { resolve({ stream, code: Number(head[':status']) }) })
    stream.on('error', error => { reject(new Unanswered(error.message)) })
    stream.once('close', () => { reject(new Unanswered(`closed with code ${stream.rstCode}`)) })
    if (body !== undefined) stream.end(body)
  })
  return {
    ask: async (method, path, body) => {
      const { stream, code } = await open(method, path, body)
      let text = ''
      stream.setEncoding('utf8').on('data', (piece: string) => { text += piece })
      await new Promise<void>(resolve => { stream.once('close', resolve) })
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) {
        throw new Error(`${method} ${path}: the answer ended amid its body with code ${stream.rstCode}`)
      }
      return { code, text }
    },
    follow: async (path, piece) => {
      const { stream, code } = await open('GET', path)
      stream.setEncoding('utf8').on('data', piece)
      if (!stream.closed) await new Promise<void>(resolve => { stream.once('close', resolve) })
      return code
    },
    close: () => { session?.destroy() }
  }
}

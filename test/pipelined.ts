/** An HTTP/1.1 client that sends many requests at once and reads slowly, and a parser of its responses. */
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { once } from 'node:events'
import { gunzipSync } from 'node:zlib'

export interface Piped { readonly code: number, readonly headers: Map<string, string>, readonly body: Buffer }

export interface Pace {
  /** Milliseconds between two reads; 0 reads without pauses. */
  readonly pause: number
}

export interface Address { readonly port: number, readonly secure: boolean }

export async function open ({ port, secure }: Address): Promise<Socket> {
  const socket = secure
    ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
    : connectTcp(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, secure ? 'secureConnect' : 'connect')
  return socket
}

export const get = (path: string, headers: Record<string, string> = {}): string =>
  `GET ${path} HTTP/1.1\r\nHost: ` +
  `x\r\n${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`

/** Sends the requests in one write, the last of which must close the connection, and returns the responses in order. */
export async function pipelined (address: Address, requests: readonly string[], { pause }: Pace): Promise<Piped[]> {
  const socket = await open(address)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    if (pause === 0) return
    socket.pause()
    setTimeout(() => { socket.resume() }, pause)
  })
  socket.write(requests.join(''))
  await once(socket, 'close')
  return answersIn(Buffer.concat(chunks))
}

/** @throws Error unless the bytes are a sequence of whole responses */
export function answersIn (bytes: Buffer): Piped[] {
  const answers: Piped[] = []
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\r\n\r\n', at)
    const [line = '', ...lines] = bytes.subarray(at, end < 0 ? undefined : end).toString('latin1').split('\r\n')
    const code = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1])
    if (end < 0 || Number.isNaN(code)) {
      throw new Error(`no answer begins at byte ${at}, behind ${answers.length} answers: ${line.slice(0, 200)}`)
    }
    const headers = new Map(lines.map(text => [
      text.slice(0, text.indexOf(':')).toLowerCase(), text.slice(text.indexOf(':') + 1).trim()
    ]))
    at = end + 4
    const length = headers.get('content-length')
    const sent = length === undefined
      ? unchunked(bytes, at)
      : { body: bytes.subarray(at, at + Number(length)), after: at + Number(length) }
    if (sent.after > bytes.length) throw new Error(`an answer is cut off, behind ${answers.length} whole ones`)
    answers.push({
      code, headers, body: headers.get('content-encoding') === 'gzip' ? gunzipSync(sent.body) : sent.body
    })
    at = sent.after
  }
  return answers
}

function unchunked (bytes: Buffer, from: number): { body: Buffer, after: number } {
  const parts: Buffer[] = []
  for (let at = from; ;) {
    const end = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.subarray(at, end).toString('latin1'), 16)
    if (end < 0 || Number.isNaN(size)) throw new Error(`no chunk begins at byte ${at}`)
    at = end + 2 + size
    if (at + 2 > bytes.length || bytes.subarray(at, at + 2).toString('latin1') !== '\r\n') {
      throw new Error(`a chunk of ${size} bytes does not end at byte ${at}`)
    }
    parts.push(bytes.subarray(end + 2, at))
    at += 2
    if (size === 0) return { body: Buffer.concat(parts), after: at }
  }
}

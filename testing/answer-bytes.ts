/** Changes the bytes of one response on their way to the connection: truncates them, or sends some twice. */
import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'

/** The bytes to send now, and whether the connection breaks after them. */
export interface Passed { readonly bytes: Buffer, readonly broken?: boolean }
/** Called for each write of the body; over HTTP/1.1 the bytes have their chunk framing. */
export type Pass = (bytes: Buffer) => Passed

type Written = string | Uint8Array
type Done = (error?: Error | null) => void
/** Overloads of `write` and `end`. */
type Write = (data?: Written | Done, encoding?: BufferEncoding | Done, done?: Done) => unknown

const INJECTED = new Error('a fault was injected')
const HEAD_END = Buffer.from('\r\n\r\n')
const bytesOf = (data: Written, encoding: BufferEncoding | Done | undefined): Buffer => typeof data === 'string'
  ? Buffer.from(data, typeof encoding === 'string' ? encoding : 'utf8')
  : Buffer.from(data.buffer, data.byteOffset, data.byteLength)

/** Breaks the connection, over HTTP/2 the stream. */
export function breakOff (raw: ServerResponse): void {
  const { stream } = raw as unknown as Partial<Http2ServerResponse>
  if (stream === undefined) raw.socket?.destroy()
  else stream.destroy(INJECTED)
}

/** Breaks the connection when the response begins. */
export function breakAtHead (raw: ServerResponse): void {
  raw.writeHead = () => {
    breakOff(raw)
    return raw
  }
}

/** @param raw a response that has not begun */
export function intercept (raw: ServerResponse, pass: Pass): void {
  const { stream } = raw as unknown as Partial<Http2ServerResponse>
  const out: ServerHttp2Stream | Socket | null = stream ?? raw.socket
  if (out === null) return // an injected request
  const originals = { write: out.write.bind(out) as Write, end: out.end.bind(out) as Write }
  let inHead = stream === undefined
  let broken = false
  const passed = (bytes: Buffer): Buffer => {
    const headEnd = inHead ? bytes.indexOf(HEAD_END) : -HEAD_END.length
    if (headEnd === -1) return bytes
    inHead = false
    const head = bytes.subarray(0, headEnd + HEAD_END.length)
    const body = bytes.subarray(head.length)
    if (body.length === 0) return bytes
    const result = pass(body)
    broken = result.broken === true
    return head.length === 0 ? result.bytes : Buffer.concat([head, result.bytes])
  }
  const replaced = (name: 'write' | 'end'): Write => (data, encoding, done) => {
    if (broken) return true
    const then = [data, encoding, done].find(argument => typeof argument === 'function')
    if (data === undefined || typeof data === 'function') return originals[name](then)
    const bytes = passed(bytesOf(data, encoding))
    return broken
      ? originals.write(bytes, () => { out.destroy(stream === undefined ? undefined : INJECTED) })
      : originals[name](bytes, then)
  }
  // Own members hide those of the prototype.
  const own = out as unknown as Record<'write' | 'end', unknown>
  own.write = replaced('write')
  own.end = replaced('end')
  raw.once('close', () => {
    delete (own as Partial<typeof own>).write
    delete (own as Partial<typeof own>).end
  })
}

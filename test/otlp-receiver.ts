/** A receiver of OTLP over gRPC, without TLS, and the part of the protocol that tests read. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import protobuf from 'protobufjs'
import type { Test } from './build.js'

const { root } = protobuf.parse(`
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message Scope { string name = 1; }
  message KeyValue { string key = 1; Value value = 2; }
  message Value {
    oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; }
  }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start = 7; fixed64 end = 8; repeated KeyValue attributes = 9;
    repeated Event events = 11; repeated Link links = 13; Status status = 15;
  }
  message Event { fixed64 time = 1; string name = 2; repeated KeyValue attributes = 3; }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { string message = 2; int32 code = 3; }
`)
const Request = root.lookupType('Request')

interface KeyValue { key: string, value: Record<string, unknown> }
interface Sent {
  resourceSpans?: Array<{
    resource: { attributes: KeyValue[] }
    scopeSpans: Array<{
      scope: { name: string }
      spans: Array<Omit<ReceivedSpan, 'attributes' | 'resource'> & { attributes?: KeyValue[] }>
    }>
  }>
}

/** Ids are in base64. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly start: string
  readonly end: string
  readonly attributes: Record<string, unknown>
  readonly resource: Record<string, unknown>
  readonly events?: ReadonlyArray<{ name: string, time: string }>
  readonly links?: ReadonlyArray<{ traceId: string, spanId: string }>
  readonly status?: { code?: number, message?: string }
}

const record = (attributes: KeyValue[] = []): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

export interface Receiver {
  readonly endpoint: string
  readonly spans: ReceivedSpan[]
  /** Headers of each call. */
  readonly calls: IncomingHttpHeaders[]
  readonly of: (name: string) => ReceivedSpan[]
}

export const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex')

/** Accepts the spans. */
export const take = (stream: ServerHttp2Stream): void => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => { stream.sendTrailers({ 'grpc-status': '0' }) })
  stream.end(Buffer.alloc(5)) // an empty message
}

/** @param answer handles a call. Default accepts the spans */
export async function receiver (t: Test, answer: (stream: ServerHttp2Stream) => void = take): Promise<Receiver> {
  const spans: ReceivedSpan[] = []
  const calls: IncomingHttpHeaders[] = []
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer()
  server.on('session', session => {
    sessions.add(session)
    session.on('error', () => {})
  })
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = []
    calls.push(headers)
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => { chunks.push(chunk) })
    stream.on('end', () => {
      const sent = Buffer.concat(chunks)
      if (sent.length < 5 || sent.length < 5 + sent.readUInt32BE(1)) return // the sender has given up
      const message = Request.toObject(Request.decode(sent.subarray(5)), { longs: String, bytes: String }) as Sent
      for (const { resource, scopeSpans } of message.resourceSpans ?? []) {
        for (const { spans: some } of scopeSpans) {
          for (const span of some) {
            spans.push({ ...span, attributes: record(span.attributes), resource: record(resource.attributes) })
          }
        }
      }
      answer(stream)
    })
  })
  t.teardown(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    calls,
    of: name => spans.filter(span => span.name === name)
  }
}

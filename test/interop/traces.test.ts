/** Traces and the log of the launcher, over HTTP/2 and TLS: the flags, the file beside the bundle, and the shutdown. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from '../build.js'
import { hex, receiver, type Receiver } from '../otlp-receiver.js'
import { RunningServer, TOKEN, until } from './server.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

function flags (t: Test, { endpoint }: Receiver): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'orch-traces-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const path = join(folder, 'tracing.yaml')
  writeFileSync(
    path, `apiVersion: apiserver.config.orch.io/v1alpha1\nkind: TracingConfiguration\nendpoint: ${endpoint}\n`
  )
  return [`--tracing-config-file=${path}`, '--feature-gates=APIServerTracing=true']
}

/** GETs over HTTP/2. */
async function ask (server: RunningServer, path: string, headers: Record<string, string> = {}): Promise<number> {
  const session = connect(server.url, { ca: server.ca })
  try {
    return await new Promise<number>((resolve, reject) => {
      session.once('error', reject)
      const stream = session.request({ ':path': path, authorization: `Bearer ${TOKEN}`, ...headers })
      stream.once('error', reject)
      let code = 0
      stream.once('response', head => { code = Number(head[':status']) })
      stream.resume().once('end', () => { resolve(code) })
    })
  } finally {
    session.destroy()
  }
}

t.test('spans of the launcher reach a receiver', async t => {
  const received = await receiver(t)
  const server = await RunningServer.start(t, flags(t, received))
  const own = () => received.spans.find(({ traceId, attributes }) =>
    hex(traceId) === TRACE && attributes['http.target'] === '/version')
  await until('a span', async () => {
    t.equal(await ask(server, '/version', { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, 'user-agent': 'me' }), 200)
    for (let pause = 0; pause < 50 && own() === undefined; pause++) {
      await new Promise(resolve => { setTimeout(resolve, 100) })
    }
    return own() !== undefined
  })
  t.match(own(), {
    name: 'OrchAPI',
    attributes: {
      'http.flavor': '2',
      'http.scheme': 'https',
      'http.host': /^127\.0\.0\.1:\d+$/,
      'http.user_agent': 'me',
      'net.peer.ip': '127.0.0.1'
    }
  })
  t.match(received.calls[0], { ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export' })
  t.equal(await server.stop(), 0)
  t.notMatch(server.log, 'traces cannot be sent')
})

t.test('a receiver that never answers does not keep the launcher from ending', async t => {
  const received = await receiver(t, () => {})
  const server = await RunningServer.start(t, flags(t, received))
  for (let count = 0; count < 5; count++) {
    await ask(server, '/version', { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` })
  }
  t.equal(await server.stop(), 0)
  t.match(server.log, 'shutdown complete')
})

t.test('--vmodule makes one module verbose', async t => {
  const server = await RunningServer.start(t, ['--vmodule=request*=8,httplog=3'])
  await ask(server, '/version')
  await until('a line', () => server.log.includes(' request method=GET url=/version '))
  t.match(server.log, /request method=GET url=\/version .*requestHeaders=".*authorization: Bearer…/)
  t.match(server.log, /WARN {2}--vmodule: no module matches httplog; /)
  t.notMatch(server.log, / DEBUG | TRACE /)
  t.notMatch(server.log, TOKEN)
})

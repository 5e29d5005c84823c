/** A server behind its own listener, as the launcher runs it: TLS, HTTP/1.1 and HTTP/2; and low-level clients. */
import type { Test } from 'tap'
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import Fastify from './fastify.js'
import { server as orch, type ServerOptions } from '../app.js'
import { createListener, type Listener } from '../serving/listener.js'
import { openWatches, type OpenWatches } from '../answers/watch/turns.js'
import type { WatchCache } from '../storage/cache/watch-cache.js'
import { client, type Client } from './build.js'
import { authority } from './serving/authority.js'
import { loadedServer } from '../plugins/shared/plugin.js'
import { polled } from './polled.js'

const pair = authority().issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })

export const CONFIGS = '/api/v1/namespaces/default/configmaps'

export interface Served extends Client {
  readonly port: number
  readonly log: string[]
  readonly cache: WatchCache
  readonly open: OpenWatches
  readonly inFlight: () => number
}

export async function serve (t: Test, options: ServerOptions = {}): Promise<Served> {
  const log: string[] = []
  let listener: Listener | undefined
  const app = Fastify({
    logger: { level: 'warn', stream: { write: (line: string) => { log.push(line) } } },
    serverFactory: handler => {
      listener = createListener(handler as Parameters<typeof createListener>[0], {
        tls: { cert: pair.certificate, key: pair.key }, maxStreams: 0, requestTimeout: 60_000
      })
      return listener.server as never // as the launcher does: Fastify's type knows no server of both protocols
    }
  })
  let found: Pick<Served, 'cache' | 'open' | 'inFlight'> | undefined
  await app.register(async scope => {
    await orch(scope, options)
    const { cache } = loadedServer(scope).orchResources.find('', 'configmaps') ?? {}
    const { orchShutdown: shutdown } = loadedServer(scope)
    if (cache !== undefined) found = { cache, open: openWatches(shutdown.signal), inFlight: () => shutdown.inFlight }
  })
  t.teardown(async () => {
    listener?.destroy()
    await app.close()
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const made = client(app)
  await polled(async () => (await made.get('/readyz')).code === 200)
  log.length = 0
  if (found === undefined) throw new Error('there are no config maps')
  return { ...made, ...found, log, port: (app.server.address() as AddressInfo).port }
}

export async function tls (t: Test, port: number, path: string, headers = ''): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  t.teardown(() => { socket.destroy() })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`)
  return socket
}

export function session (t: Test, port: number): ClientHttp2Session {
  const made = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  made.on('error', () => {})
  t.teardown(() => { made.destroy() })
  return made
}

export async function stream (of: ClientHttp2Session, path: string): Promise<ClientHttp2Stream> {
  const opened = of.request({ ':path': path })
  opened.on('error', () => {})
  const [{ ':status': status }] = await once(opened, 'response') as [Record<string, unknown>]
  if (status !== 200) throw new Error(`answered ${String(status)}`)
  return opened
}

export async function until (t: Test, what: string, done: () => boolean | Promise<boolean>): Promise<void> {
  await polled(done, what, 60_000).catch((error: unknown) => { t.fail(String(error)) })
}

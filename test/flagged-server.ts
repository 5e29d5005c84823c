/**
 * A server behind its own listener, created from flags as by the launcher, in memory; the users it has seen, and
 * clients with certificates.
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import Fastify from './fastify.js'
import { server as orch, type Authorizer, type ServerOptions, type UserInfo } from '../app.js'
import type { Pair } from '../config/certificates.js'
import { checkedFlags, configuration } from '../config/options.js'
import { followCertificates } from '../serving/certificate-files.js'
import { createListener, type Listener } from '../serving/listener.js'
import { tlsSetup } from '../serving/tls.js'
import { BINDINGS, client, type Client, type Test } from './build.js'
import { authority } from './serving/authority.js'
import { polled } from './polled.js'

const pair = authority('servers').issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })
export const SERVER_FILES = { 'server.crt': pair.certificate, 'server.key': pair.key }

export type SentHeaders = Record<string, string | string[]>

export interface Flagged extends Client {
  readonly port: number
  /** Users of resource requests, in order. */
  readonly seen: UserInfo[]
  /** Logged warnings and errors, and lines about authorities. */
  readonly log: string[]
  readonly warnings: readonly string[]
  /** The status of a GET with these headers, and with this certificate. */
  readonly code: (pair: Pair | undefined, headers?: SentHeaders, agent?: Agent | false) => Promise<number>
  readonly session: (pair: Pair) => ClientHttp2Session
  /** Reloaded flags with their results. */
  readonly reloads: readonly string[]
  /** Checks the certificate files now. */
  readonly look: () => Promise<void>
}

/** @param folder has SERVER_FILES; `scope` sees the scope of the server before it is ready */
export async function flagged (
  t: Test, folder: string, flags: readonly string[], more: ServerOptions = {}, scoped?: (scope: FastifyInstance) => void
): Promise<Flagged> {
  const parsed = checkedFlags([
    `--data-dir=${folder}/data`, `--tls-cert-file=${folder}/server.crt`, `--tls-private-key-file=${folder}/server.key`,
    ...flags
  ])
  const { options, warnings, authorities } = await configuration(parsed)
  const { options: tls, pairs, context } = tlsSetup(parsed)
  const seen: UserInfo[] = []
  const log: string[] = []
  const spy: Authorizer = {
    name: 'spy',
    authorize: ({ user, info }) => {
      if (info.isResourceRequest && info.verb !== 'impersonate') seen.push(user)
      return { decision: 'Allow' }
    }
  }
  let listener: Listener | undefined
  const app = Fastify({
    // Hooks that are unfinished at the first /readyz are irrelevant here.
    logger: {
      level: 'warn', stream: { write: (line: string) => { if (!line.includes('"poststarthook/')) log.push(line) } }
    },
    serverFactory: handler => {
      listener = createListener(handler as Parameters<typeof createListener>[0], {
        tls, maxStreams: 0, requestTimeout: 60_000
      })
      return listener.server as never // as the launcher does
    }
  })
  await app.register(async scope => {
    await orch(scope, {
      ...options,
      storage: { kind: 'memory' },
      authorization: { authorizers: [spy] },
      ...more,
      connections: { ...options.connections, ...more.connections }
    })
    scoped?.(scope)
  })
  t.teardown(async () => {
    listener?.destroy()
    await app.close()
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const server = listener?.server
  if (server === undefined) throw new Error('there is no listener')
  const reloads: string[] = []
  const followed = await followCertificates({
    pairs,
    bundles: authorities,
    server,
    context,
    reloaded: (flag, valid) => { reloads.push(`${flag} ${valid ? 'success' : 'failure'}`) },
    log: (_level, message) => { log.push(message) }
  })
  t.teardown(() => { followed.close() })
  const made = client(app)
  await polled(async () => (await made.get('/readyz')).code === 200)
  return {
    ...made,
    port,
    seen,
    log,
    warnings,
    code: async (certificate, headers = {}, agent = false) => {
      seen.length = 0
      const call = httpsRequest({
        port,
        host: '127.0.0.1',
        path: BINDINGS,
        agent,
        rejectUnauthorized: false,
        servername: 'localhost',
        headers,
        ciphers: 'DEFAULT@SECLEVEL=0',
        ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key })
      })
      call.end()
      const [response] = await once(call, 'response') as [IncomingMessage]
      response.resume()
      await once(response, 'end')
      return response.statusCode ?? 0
    },
    session: certificate => {
      const session = connectHttp2(`https://127.0.0.1:${port}`, {
        rejectUnauthorized: false, cert: certificate.certificate, key: certificate.key
      })
      t.teardown(() => { session.destroy() })
      return session
    },
    reloads,
    look: async () => { await followed.check() }
  }
}

/** The status of a GET on an HTTP/2 session. */
export async function codeOver (session: ClientHttp2Session, headers: SentHeaders = {}): Promise<number> {
  const stream = session.request({ ':path': BINDINGS, ...headers })
  stream.resume()
  const [head] = await once(stream, 'response') as [Record<string, unknown>]
  return Number(head[':status'])
}

/** Keeps one connection. */
export function kept (t: Test): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => { agent.destroy() })
  return agent
}

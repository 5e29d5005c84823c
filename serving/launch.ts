/**
 * From options to a server that serves, and its orderly end. What the launcher needs only once its flags are
 * known to be right is imported here, so that `--help` and mistakes are told at once.
 */
import type { Server } from 'node:http'
import type { ListenOptions } from 'node:net'
import Fastify, { LogController } from 'fastify'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify'
import { hostPort, listenHost } from '../config/addresses.js'
import type { Parsed } from '../config/command-line.js'
import { createLog, loggable } from '../config/logging.js'
import { configuration, storeText } from '../config/options.js'
import type { ServerOptions } from '../config/server-options.js'
import { verbosity } from '../config/verbosity.js'
import { followAuthorities } from './authorities.js'
import { throttled, roomForConnections, watchDescriptors } from './descriptors.js'
import { answerBadRequest, badRequestBody, createListener, type Listener } from './listener.js'
import { runtimeWarnings } from './runtime.js'
import { withKeptKey } from './service-accounts.js'
import { tlsSetup } from './tls.js'

/** Milliseconds for requests that were on their way when the drain was done. */
const LAST_ANSWERS = 5000
/** Between two lines about what may happen at each connection. */
const MINUTE = 60_000
const SIGNALS = ['SIGTERM', 'SIGINT'] as const

export interface Running {
  readonly root: FastifyInstance
  /** The scope the server lives in, where its decorators are. */
  readonly scope: FastifyInstance
  readonly listener: Listener
  readonly log: FastifyBaseLogger
}

/** The plugin of `app.ts`, which is above this room. */
type Orch = (fastify: FastifyInstance, options: ServerOptions) => Promise<void>

/** @throws whatever keeps it from serving; the launcher says it in one line */
export async function start (parsed: Parsed, orch: Orch): Promise<Running> {
  const { values } = parsed
  const { options: configured, warnings, authorities } = await configuration(parsed)
  const { options: tls, chain, notes, trusting } = tlsSetup(parsed)
  const { options, notes: keyNotes } = withKeptKey(configured, parsed, chain)
  const certificates = options.authentication?.serviceAccounts?.certificateAuthority
  const verbosityOf = verbosity(values.v, values.vmodule)
  const log = createLog({ verbosity: values.v, verbosityOf })
  const ofLaunch = log.child({ module: 'launch' })
  const outOfDescriptors = throttled(MINUTE, (what: string) => log.error(`${what}; the open files limit is too low for this many clients, raise it (ulimit -n, LimitNOFILE=)`))

  let listener: Listener | undefined
  const root = Fastify({
    // A logger of Fastify's own would time each request and make a logger for it, for lines that are never written.
    childLoggerFactory: () => log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => '', // requests are told apart by their audit-id
    routerOptions: { maxParamLength: 1000, querystringParser: () => NO_QUERY },
    return503OnClosing: false,
    serverFactory: handler => {
      listener = createListener(handler, {
        tls,
        maxStreams: values['http2-max-streams-per-connection'],
        requestTimeout: values['request-timeout'],
        goawayChance: values['goaway-chance'],
        onFull: () => outOfDescriptors('connection limit reached: new connections are closed until others end'),
        onConnectionError: error => ofLaunch.debug({ err: error }, 'connection failed'),
        onHandshakeError: () => { if (scope !== undefined) handshakeErrors(scope).add() }
      })
      return listener.server as unknown as Server // it speaks both versions and hands requests over in the form of HTTP/1
    },
    clientErrorHandler: answerBadRequest,
    frameworkErrors: ({ statusCode }, _request, reply) => {
      const answer = reply as unknown as FastifyReply // its type is bound to schemas, and there are none
      const code = statusCode === 414 ? 414 : 400
      answer.code(code).headers({ 'content-type': 'application/json', 'cache-control': 'no-cache, private' })
        .send(badRequestBody(code, 'BadRequest', 'the request path is not valid: it is no percent-encoded UTF-8 or has too long a part'))
    },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } }
  })
  root.log = log
  if (listener === undefined) throw new Error('Fastify made no server')

  let scope: FastifyInstance | undefined
  await root.register(async instance => {
    scope = instance
    await orch(instance, { ...options, ...requestLog(verbosityOf('request-log')), rootCA: certificates === undefined ? { certificates: chain } : { certificates, shared: values['tls-cert-file'] !== '' } })
  })
  await root.ready()
  if (scope === undefined) throw new Error('the server was not loaded')
  handshakeErrors(scope) // there from the start, at 0

  listener.bound(roomForConnections())
  watchDescriptors(code => outOfDescriptors(`too many open files (${code}): new connections are closed and files cannot be opened`))
  await listen(listener, { host: listenHost(values['bind-address']), port: values['secure-port'], reusePort: values['permit-port-sharing'] })
  if (authorities.length > 0) {
    const followed = await followAuthorities({ files: authorities, server: listener.server, trusting, log: (level, message) => { log[level](message) } })
    listener.server.once('close', () => { followed.close() })
  }
  survive(log)
  for (const note of [...notes, ...keyNotes, ...warnings, ...runtimeWarnings()]) log.warn(note)
  announce(log, parsed)
  return { root, scope, listener, log }
}

/** Lines about requests, from 3 on. */
const requestLog = (level: number): Pick<ServerOptions, 'requestLog'> => level < 3 ? {} : { requestLog: { verbosity: Math.min(level, 10), safe: loggable } }

const handshakeErrors = ({ orch: { metrics } }: FastifyInstance): { add: () => void } => metrics.counter('apiserver_tls_handshake_errors_total', 'TLS handshakes that failed.').with()

/** The query is parsed by request info, for those who ask for it. */
const NO_QUERY = Object.freeze({})

/** Routes have no schemas of Fastify's; its two compilers would be a fifth of the time to start. */
function noSchemas (): never {
  throw new Error('a route has a schema, but no schema compiler is set')
}

/** Not by Fastify, which would log each address of the host in its own words. */
async function listen ({ server }: Listener, options: ListenOptions & { reusePort: boolean }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function announce (log: FastifyBaseLogger, { values }: Parsed): void {
  const modes = values['authorization-mode']
  log.info(`serving on https://${hostPort(values['bind-address'] === '' ? '0.0.0.0' : values['bind-address'], values['secure-port'])}, store: ${storeText(values)}, authorization: ${modes.join(', ')}`)
  // Wherever it stands: AlwaysDeny before it has no opinion that would end the chain.
  if (values['anonymous-auth'] && modes.includes('AlwaysAllow')) {
    log.warn('anonymous requests are allowed and --authorization-mode has AlwaysAllow: everybody who reaches this address may do everything; see --anonymous-auth, --token-auth-file, --client-ca-file')
  }
}

/** From now on an uncaught exception or unhandled rejection is logged and does not end the process. */
function survive (log: FastifyBaseLogger): void {
  process.removeAllListeners('uncaughtException')
  process.on('unhandledRejection', reason => log.error({ err: reason }, 'unhandled promise rejection'))
  process.on('uncaughtException', error => log.error({ err: error }, 'uncaught exception'))
  process.stderr.on('error', () => {}) // whoever read the log has gone: that is no reason to end
}

/** SIGUSR1 has the server say what it is doing, one line a cache. SIGHUP, which a closed terminal sends, does not end it. */
export function reportOnSignals ({ scope, log }: Running): void {
  process.on('SIGUSR1', () => { for (const fields of scope.orch.report()) log.info(fields, 'diagnostic report') })
  process.on('SIGHUP', () => { log.info('SIGHUP: ignored; the files that can change are followed as they are, other flags need a restart') })
}

/** Milliseconds in which a second signal is a duplicate of the first one: npm forwards what a terminal has sent to both. */
const DUPLICATE = 500

/** SIGTERM and SIGINT end the server in order; the second one at once. */
export function endOnSignals ({ root, scope, listener, log }: Running): void {
  let since: number | undefined
  const end = async (signal: string): Promise<void> => {
    const { shutdown } = scope.orch
    log.info(`${signal}: shutting down`)
    shutdown.signal.addEventListener('abort', () => { if (!shutdown.sendRetryAfter) listener.stop() })
    const left = await shutdown.begin()
    if (left > 0) log.warn({ requests: left }, 'requests did not finish in time and are aborted')
    listener.stop()
    await listener.closed(left > 0 ? 0 : LAST_ANSWERS)
    listener.destroy()
    await root.close()
    log.info('shutdown complete')
  }
  for (const signal of SIGNALS) {
    process.removeAllListeners(signal)
    process.on(signal, () => {
      if (since !== undefined) {
        if (performance.now() - since > DUPLICATE) process.exit(1)
        return
      }
      since = performance.now()
      end(signal).then(() => process.exit(0), (error: unknown) => {
        log.error({ err: error }, 'shutdown failed')
        process.exit(1)
      })
    })
  }
}

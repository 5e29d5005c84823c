/**
 * Starts and stops the server. Modules needed only after the flags are validated are imported here, so that `--help`
 * and mistakes respond immediately.
 */
import type { Server } from 'node:http'
import { createServer } from 'node:net'
import Fastify, { LogController, type FastifyReply, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { hostPort, listenHost } from '../config/addresses.js'
import type { Parsed } from '../config/command-line.js'
import { logForm } from '../config/log-streams.js'
import { createLog, loggable } from '../config/logging.js'
import { isOn } from '../config/gates-of.js'
import { shownFlags } from '../config/shown-flags.js'
import { dividedOptions } from '../config/divided-options.js'
import { configuration } from '../config/options.js'
import { storeText } from '../config/store.js'
import type { ServerOptions } from '../config/server-options.js'
import { Verbosity } from '../config/verbosity.js'
import { followCertificates } from './certificate-files.js'
import { throttled, roomForConnections, watchDescriptors } from './descriptors.js'
import { listenOn } from './listen-on.js'
import { answerBadRequest } from './client-errors.js'
import { badRequestBody } from './refusals.js'
import { createListener, type Listener } from './listener.js'
import { isFirstStart, localAdministrator, NOTHING_RUNS, writeKubeconfig } from './local.js'
import { StallWatch } from './processes/stall-watch.js'
import type { SupervisorChannel } from './processes/supervisor-channel.js'
import { runtimeWarnings } from './runtime.js'
import { reportReadiness, whenReady } from './service-manager.js'
import { withServiceAccountKey } from './service-accounts.js'
import { endOnSignals, reportOnSignals } from './signals.js'
import { endOnUncaughtErrors } from './uncaught-errors.js'
import { tlsSetup } from './tls.js'
import { startTimeouts } from './wire/start-timeouts.js'
import { loadedServer, type Whole } from '../answers/server.js'

/** Milliseconds for the remaining responses after the drain. */
const LAST_ANSWERS = 5000
/** Minimum interval of log lines about connections. */
const MINUTE = 60_000

export interface Running {
  readonly root: FastifyInstance
  /** The scope that contains the server's decorators. */
  readonly scope: Whole
  readonly listener: Listener
  readonly log: FastifyBaseLogger
}

/** The plugin of `app.ts`, a higher layer. */
type Orch = (fastify: FastifyInstance, options: ServerOptions) => Promise<void>

/**
 * @param fail ends the process with one line, for errors that come at any time
 * @param supervisor the channel to the process that listens; undefined for the one process of a server
 * @throws any start-up error; the launcher reports it in one line
 */
export async function start (
  parsed: Parsed, orch: Orch, fail: (error: unknown) => never, supervisor?: SupervisorChannel
): Promise<Running> {
  const { values } = parsed
  const { first, ticketKeys: keys } = await supervisor?.start ?? { first: true, ticketKeys: [] }
  const ticketKeys = Buffer.from(keys)
  if (supervisor === undefined) await refuseUsedPort(values)
  const administrator = localAdministrator(parsed)
  const { options: configured, warnings, serviceWarnings, authorities } = await configuration(parsed)
  const { options: tls, pairs, context, chain, notes } = tlsSetup(parsed)
  const { options: whole, notes: keyNotes, warnings: keyWarnings } = withServiceAccountKey(configured, parsed, chain)
  const child = supervisor === undefined ? undefined : { supervisor, stallGuard: new StallWatch() }
  const options = child === undefined ? whole : ofOneProcess(whole, child)
  if (first) supervisor?.send({ kind: 'prepared' })
  const certificates = options.authentication?.serviceAccounts?.certificateAuthority
  const verbosity = new Verbosity(values.v, values.vmodule)
  const log = createLog({
    verbosity, ...logForm(values), ...(supervisor === undefined ? {} : { process: supervisor.name })
  })
  const launchLog = log.child({ module: 'launch' })
  const outOfDescriptors = throttled(MINUTE, (what: string) =>
    log.error(`${what}; the open files limit is too low for this many clients, raise it (ulimit -n, LimitNOFILE=)`))

  let listener: Listener | undefined
  const root = Fastify({
    // Avoid Fastify's request logging, which would create a logger and timer per request.
    childLoggerFactory: () => log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => '', // requests are identified by their audit-id
    routerOptions: { maxParamLength: 1000, querystringParser: () => NO_QUERY },
    return503OnClosing: false,
    serverFactory: handler => {
      listener = createListener(handler, {
        tls: supervisor === undefined ? tls : { ...tls, ticketKeys },
        maxStreams: values['http2-max-streams-per-connection'] || (isOn(values, 'Http2HasHundredStreams') ? 100 : 0),
        http1Only: values['disable-http2-serving'],
        requestTimeout: values['request-timeout'],
        goawayChance: values['goaway-chance'],
        onFull: () => outOfDescriptors('connection limit reached: new connections are closed until others end'),
        onConnectionError: error => launchLog.debug({ err: error }, 'connection failed'),
        onHandshakeError: () => { if (loaded?.orchMetrics !== undefined) handshakeErrors(loaded.orchMetrics).add() }
      })
      return listener.server as unknown as Server // it serves both HTTP versions
    },
    clientErrorHandler: answerBadRequest,
    frameworkErrors: ({ statusCode }, _request, reply) => {
      const answer = reply as unknown as FastifyReply // its type is parameterized by schemas, which are unused
      const code = statusCode === 414 ? 414 : 400
      answer.code(code).headers({ 'content-type': 'application/json', 'cache-control': 'no-cache, private' })
        .send(badRequestBody(
          code, 'BadRequest', 'the request path is not valid: it is no percent-encoded UTF-8 or has too long a part'
        ))
    },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } }
  })
  root.log = log
  if (listener === undefined) throw new Error('Fastify made no server')

  let loaded: FastifyInstance | undefined
  await root.register(async instance => {
    loaded = instance
    await orch(instance, {
      ...options, ...refusable(options, fail), ...observed(options, verbosity, supervisor), flags: shownFlags(parsed),
      rootCA: certificates === undefined
        ? { certificates: chain }
        : { certificates, shared: values['tls-cert-file'] !== '' }
    })
  })
  await root.ready()
  const scope = loadedServer(loaded)
  handshakeErrors(scope.orchMetrics) // registers the metric at start-up

  listener.bound(roomForConnections())
  watchDescriptors(code =>
    outOfDescriptors(`too many open files (${code}): new connections are closed and files cannot be opened`))
  const running: Running = { root, scope, listener, log }
  // Before it listens: a client that gets an answer may send a signal at once.
  if (child === undefined) {
    endOnSignals({ end: signal => { end(running, { signal }) }, now: () => process.exit(1) })
    reportOnSignals(log, () => { logReport(running) })
    await listenOn(listener.server, {
      host: listenHost(values['bind-address']), port: values['secure-port'], reusePort: values['permit-port-sharing']
    })
  } else serveFor(child, running, verbosity)
  endOnUncaughtErrors(log, () => {
    supervisor?.send({ kind: 'failing' })
    end(running, { code: 1 })
  })
  const { server } = listener
  const reloads = certificateReloads(scope)
  const followed = await followCertificates({
    pairs, bundles: authorities, server,
    context: supervisor === undefined ? context : authorities => ({ ...context(authorities), ticketKeys }),
    reloaded: (flag, valid) => { reloads.with(flag, valid ? 'success' : 'failure').add() },
    log: (level, message) => { if (supervisor === undefined || supervisor.leads) log[level](message) }
  })
  server.once('close', () => { followed.close() })
  if (!first) return running // only the first process logs the rest
  for (const note of [...notes, ...keyNotes]) log.info(note)
  // Without their credentials requests are refused, unless everybody is let in.
  const lossWarnings = options.authentication?.anonymous === true ? runtimeWarnings() : []
  const forNodes = serviceWarnings.length > 0 && (values.v >= 2 || await hasNodes(scope)) ? serviceWarnings : []
  for (const warning of [...keyWarnings, ...warnings, ...forNodes, ...lossWarnings]) log.warn(warning)
  announce(log, parsed)
  if (administrator !== undefined) {
    if (isFirstStart(parsed)) log.info(NOTHING_RUNS)
    log.info(`for kubectl: export KUBECONFIG=${writeKubeconfig(parsed, administrator, chain)}`)
  }
  return running
}

/**
 * A store that this release cannot read ends the process as soon as that is known: after the start, if etcd was
 * unreachable.
 */
function refusable ({ storage }: ServerOptions, fail: (error: unknown) => never): Pick<ServerOptions, 'storage'> {
  return storage !== undefined && 'servers' in storage ? { storage: { ...storage, refused: fail } } : {}
}

/** Logs requests from -v=3 on. Without profiling the verbosity cannot change, so requests do not check it. */
function observed (
  { profiling }: ServerOptions, verbosity: Verbosity, supervisor: SupervisorChannel | undefined
): Pick<ServerOptions, 'profiling' | 'requestLog'> {
  const level = (): number => Math.min(verbosity.of('request-log'), 10)
  if (profiling === undefined) return level() < 3 ? {} : { requestLog: { verbosity: level(), safe: loggable } }
  return {
    requestLog: { verbosity: level, safe: loggable },
    profiling: { ...profiling, setVerbosity: v => { verbosity.set(v); supervisor?.send({ kind: 'verbosity', v }) } }
  }
}

/** The process of the store opens it; the others share it. */
function sharedStorage ({ storage }: ServerOptions): Pick<ServerOptions, 'storage'> {
  if (storage === undefined || !('kind' in storage) || storage.kind !== 'embedded') return {}
  const { minFree: _, historyRetention, ...options } = storage
  return {
    storage: { ...options, kind: 'shared', ...(historyRetention === undefined ? {} : { compactionInterval: 0 }) }
  }
}

/** What one process of several has besides. */
interface Child { readonly supervisor: SupervisorChannel, readonly stallGuard: StallWatch }

/** The options of one process of several. */
function ofOneProcess (options: ServerOptions, { supervisor, stallGuard }: Child): ServerOptions {
  const { audit, ...divided } = dividedOptions(options, supervisor.part)
  return {
    ...divided,
    ...(audit === undefined ? {} : { audit: { ...audit, shared: { rotates: () => supervisor.leads } } }),
    ...sharedStorage(options),
    stallGuard,
    leadership: { elected: supervisor.elected, led: supervisor.led, lead: () => { supervisor.send({ kind: 'led' }) } },
    metrics: { ...options.metrics, process: supervisor.name, others: text => supervisor.collect(text) }
  }
}

/** Serves the connections that the supervisor passes on. */
function serveFor ({ supervisor, stallGuard }: Child, running: Running, verbosity: Verbosity): void {
  const { listener, log, scope: { orchHealth: health, orchMetrics: metrics, orchShutdown: shutdown } } = running
  startTimeouts(listener.server)
  shutdown.signal.addEventListener('abort', () => {
    if (!shutdown.sendRetryAfter) supervisor.send({ kind: 'stopped' })
  })
  supervisor.serve({
    connection: listener.serve,
    end: () => { end(running) },
    report: () => { logReport(running) },
    verbosity: v => { verbosity.set(v) },
    exposition: () => metrics.exposition(),
    refuse: (like, until) => { stallGuard.refuse(like, until) }
  })
  whenReady(health.ready, shutdown.leaving).then(
    ready => { if (ready) supervisor.send({ kind: 'ready' }) },
    (error: unknown) => log.error({ err: error }, 'readiness cannot be reported')
  )
}

const handshakeErrors = (metrics: Whole['orchMetrics']): { add: () => void } =>
  metrics.counter('apiserver_tls_handshake_errors_total', 'TLS handshakes that failed.').with()

const certificateReloads = (
  { orchMetrics: metrics }: Whole
): { with: (flag: string, status: string) => { add: () => void } } =>
  metrics.counter(
    'apiserver_certificate_reloads_total',
    'Changes of certificate files of the listener, by the flag that names them and by whether they were taken.',
    ['flag', 'status']
  )

/** The query is parsed lazily by request info. */
const NO_QUERY = Object.freeze({})

/** Routes have no Fastify schemas; Fastify's two compilers would add a fifth to the start-up time. */
function noSchemas (): never {
  throw new Error('a route has a schema, but no schema compiler is set')
}

async function hasNodes ({ orchResources: resources }: Whole): Promise<boolean> {
  const nodes = resources.lookup({ group: '', version: 'v1', resource: 'nodes' })
  if (nodes === undefined) return false
  const { start, end } = nodes.keys.range('')
  return await nodes.backend.count(start, end).catch(() => 0) > 0
}

/**
 * Runs before the first file is written, so that a port in use leaves no incomplete data folder.
 * @throws Error of the system
 */
async function refuseUsedPort (values: Parsed['values']): Promise<void> {
  const probe = createServer(socket => { socket.destroy() })
  await listenOn(probe, {
    host: listenHost(values['bind-address']), port: values['secure-port'], reusePort: values['permit-port-sharing']
  })
  await new Promise(resolve => { probe.close(resolve) })
}

function announce (log: FastifyBaseLogger, { values }: Parsed): void {
  const file = values['authorization-config']
  const modes = file === '' ? values['authorization-mode'] : [`as ${file} says`]
  log.info('serving on ' +
    `https://${hostPort(values['bind-address'] === '' ? '0.0.0.0' : values['bind-address'], values['secure-port'])}, ` +
    `store: ${storeText(values)}, authorization: ${modes.join(', ')}`)
  // At any position: AlwaysDeny has no opinion and does not end the chain.
  if (values['anonymous-auth'] && modes.includes('AlwaysAllow')) {
    log.warn('anonymous requests are allowed and --authorization-mode has AlwaysAllow: everybody who reaches this ' +
      'address may do everything; see --anonymous-auth, --token-auth-file, --client-ca-file')
  }
}

/** Reports readiness to systemd, if systemd started this process. */
export function reportToServiceManager ({ scope: { orchHealth: health, orchShutdown: shutdown }, log }: Running): void {
  reportReadiness({ ready: health.ready, leaving: shutdown.leaving, warn: message => { log.warn(message) } })
    .catch((error: unknown) => log.error({ err: error }, 'readiness cannot be reported'))
}

/** Logs a diagnostic report. */
function logReport ({ scope, log }: Running): void {
  for (const fields of scope.orchReport()) log.info(fields, 'diagnostic report')
}

/** Shuts down gracefully and exits. */
function end (running: Running, { signal, code = 0 }: { signal?: string, code?: number } = {}): void {
  const { log } = running
  if (signal !== undefined) log.info(`${signal}: shutting down`)
  shutDown(running).then(() => {
    if (signal !== undefined) log.info('shutdown complete')
    process.exit(code)
  }, (error: unknown) => {
    log.error({ err: error }, 'shutdown failed')
    process.exit(1)
  })
}

async function shutDown ({ root, scope: { orchShutdown: shutdown }, listener, log }: Running): Promise<void> {
  shutdown.signal.addEventListener('abort', () => { if (!shutdown.sendRetryAfter) listener.stop() })
  const left = await shutdown.begin()
  if (left > 0) log.warn({ requests: left }, 'requests did not finish in time and are aborted')
  listener.stop()
  await listener.closed(left > 0 ? 0 : LAST_ANSWERS)
  listener.destroy()
  await root.close()
}

/**
 * Starts and stops the server. Modules needed only after the flags are validated are imported here, so that `--help`
 * and mistakes respond immediately.
 */
import { createServer } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { hostPort, listenHost } from '../config/addresses.js'
import type { Parsed } from '../config/command-line.js'
import { logForm } from '../config/log-streams.js'
import { createLog } from '../config/logging.js'
import { isOn } from '../config/gates-of.js'
import { shownFlags } from '../config/shown-flags.js'
import { configuration } from '../config/options.js'
import { storeText } from '../config/store.js'
import type { ServerOptions } from '../config/server-options.js'
import { Verbosity } from '../config/verbosity.js'
import { followCertificates, type FollowOptions } from './certificate-files.js'
import { throttled, roomForConnections, watchDescriptors } from './descriptors.js'
import { listenOn } from './listen-on.js'
import type { ListenerOptions } from './listener.js'
import { isFirstStart, localAdministrator, NOTHING_RUNS, writeKubeconfig } from './local.js'
import { ofOneProcess, serveFor } from './processes/one-of-several.js'
import { StallWatch } from './processes/stall-watch.js'
import type { SupervisorChannel } from './processes/supervisor-channel.js'
import { createRoot } from './root.js'
import { end, logReport, type Running } from './running.js'
import { runtimeWarnings } from './runtime.js'
import { withServiceAccountKey } from './service-accounts.js'
import { endOnSignals, reportOnSignals } from './signals.js'
import { endOnUncaughtErrors } from './uncaught-errors.js'
import { tlsSetup } from './tls.js'
import { loadedServer, type Whole } from '../plugins/shared/plugin.js'

export { reportToServiceManager } from './running.js'

/** Minimum interval of log lines about connections. */
const MINUTE = 60_000

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

  const { root, listener } = createRoot(log, {
    ...connectionOptions(values),
    tls: supervisor === undefined ? tls : { ...tls, ticketKeys },
    onFull: () => outOfDescriptors('connection limit reached: new connections are closed until others end'),
    onConnectionError: error => launchLog.debug({ err: error }, 'connection failed'),
    onHandshakeError: () => { if (loaded?.orchMetrics !== undefined) handshakeErrors(loaded.orchMetrics).add() }
  })
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
  endOnUncaughtErrors(log, () => {
    supervisor?.send({ kind: 'failing' })
    end(running, { code: 1 })
  })
  if (child === undefined) await listen(running, values)
  else serveFor(child, running, verbosity)
  const contextOf: typeof context =
    supervisor === undefined ? context : authorities => ({ ...context(authorities), ticketKeys })
  await follow(running, { pairs, bundles: authorities, context: contextOf }, supervisor)
  if (!first) return running // only the first process logs the rest
  for (const note of [...notes, ...keyNotes]) log.info(note)
  // Without their credentials requests are refused, unless everybody is let in.
  const lossWarnings = options.authentication?.anonymous === true ? runtimeWarnings() : []
  const forNodes = serviceWarnings.length > 0 && (values.v >= 2 || await hasNodes(scope)) ? serviceWarnings : []
  for (const warning of [...keyWarnings, ...warnings, ...forNodes, ...lossWarnings]) log.warn(warning)
  announce(log, parsed)
  if (administrator !== undefined) announceLocal(log, parsed, administrator, chain)
  return running
}

/** How the administrator of `--local` reaches the server. */
function announceLocal (
  log: FastifyBaseLogger, parsed: Parsed, administrator: NonNullable<ReturnType<typeof localAdministrator>>,
  chain: string
): void {
  if (isFirstStart(parsed)) log.info(NOTHING_RUNS)
  log.info(`for kubectl: export KUBECONFIG=${writeKubeconfig(parsed, administrator, chain)}`)
}

const addressOf = (values: Parsed['values']): Parameters<typeof listenOn>[1] => ({
  host: listenHost(values['bind-address']), port: values['secure-port'], reusePort: values['permit-port-sharing']
})

const connectionOptions = (
  values: Parsed['values']
): Pick<ListenerOptions, 'maxStreams' | 'http1Only' | 'requestTimeout' | 'goawayChance'> => ({
  maxStreams: values['http2-max-streams-per-connection'] || (isOn(values, 'Http2HasHundredStreams') ? 100 : 0),
  http1Only: values['disable-http2-serving'],
  requestTimeout: values['request-timeout'],
  goawayChance: values['goaway-chance']
})

/** Takes changes of certificate files until the server closes. */
async function follow (
  { scope, listener: { server }, log }: Running, files: Pick<FollowOptions, 'pairs' | 'bundles' | 'context'>,
  supervisor: SupervisorChannel | undefined
): Promise<void> {
  const reloads = certificateReloads(scope)
  const followed = await followCertificates({
    ...files, server,
    reloaded: (flag, valid) => { reloads.with(flag, valid ? 'success' : 'failure').add() },
    log: (level, message) => { if (supervisor === undefined || supervisor.leads) log[level](message) }
  })
  server.once('close', () => { followed.close() })
}

/** Of a server of one process. */
async function listen (running: Running, values: Parsed['values']): Promise<void> {
  // Before it listens: a client that gets an answer may send a signal at once.
  endOnSignals({ end: signal => { end(running, { signal }) }, now: () => process.exit(1) })
  reportOnSignals(running.log, () => { logReport(running) })
  await listenOn(running.listener.server, addressOf(values))
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
  if (profiling === undefined) return level() < 3 ? {} : { requestLog: { verbosity: level() } }
  return {
    requestLog: { verbosity: level },
    profiling: { ...profiling, setVerbosity: v => { verbosity.set(v); supervisor?.send({ kind: 'verbosity', v }) } }
  }
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
  await listenOn(probe, addressOf(values))
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

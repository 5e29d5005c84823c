#!/usr/bin/env -S node --min-semi-space-size=16 --max-semi-space-size=32
/**
 * The launcher: flags → options → listen → signals → an orderly end. What is wrong with the start is said
 * in one line on standard error, exit code 1.
 */
import type { Server } from 'node:http'
import type { ListenOptions } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify'
import { FlagError, printable } from './config/flag.js'
import { ArgumentError, type Parsed } from './config/parse.js'
import { checkedFlags, configuration, hostPort } from './config/options.js'
import type { Listener } from './config/listener.js'
import type { ServerOptions } from './config/server-options.js'

/** Milliseconds for requests that were on their way when the drain was done. */
const LAST_ANSWERS = 5000
const SIGNALS = ['SIGTERM', 'SIGINT'] as const

interface Running {
  readonly root: FastifyInstance
  /** The scope the server lives in, where its decorators are. */
  readonly scope: FastifyInstance
  readonly listener: Listener
  readonly log: FastifyBaseLogger
}

async function start (parsed: Parsed): Promise<Running> {
  const { values } = parsed
  const [{ default: Fastify, LogController }, { default: orch }, { createListener, answerBadRequest, badRequestBody }, { createLog, loggable }, { tlsSetup, listenHost }, { options, warnings }] = await Promise.all([
    import('fastify'), import('./app.js'), import('./config/listener.js'), import('./config/logging.js'), import('./config/tls.js'), configuration(parsed)
  ])
  const { options: tls, notes } = tlsSetup(parsed)
  const log = createLog({ verbosity: values.v })

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
        onConnectionError: error => log.debug({ err: error }, 'a connection failed')
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

  if (values.v >= 3) {
    root.addHook('onRequest', (request, reply, done) => {
      const ip = request.ip.replace(/^::ffff:(?=\d+\.)/, '')
      const since = performance.now()
      reply.raw.once('close', () => {
        log.info({ method: request.method, url: loggable(request.raw.url ?? ''), status: reply.raw.statusCode, milliseconds: Math.round((performance.now() - since) * 10) / 10, user: request.orch?.user?.username, ip }, 'request')
      })
      done()
    })
  }
  let scope: FastifyInstance | undefined
  await root.register(async instance => {
    scope = instance
    await orch(instance, options)
  })
  await root.ready()
  if (scope === undefined) throw new Error('the server was not loaded')

  await listen(listener, { host: listenHost(values['bind-address']), port: values['secure-port'], reusePort: values['permit-port-sharing'] })
  survive(log)
  for (const note of [...notes, ...warnings]) log.warn(note)
  announce(log, parsed, options)
  return { root, scope, listener, log }
}

/** The query is parsed by request info, for those who ask for it. */
const NO_QUERY = Object.freeze({})

/** Routes have no schemas of Fastify's; its two compilers would be a fifth of the time to start. */
function noSchemas (): never {
  throw new Error('a route has a schema, which this server has no compiler for')
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

function announce (log: FastifyBaseLogger, { values }: Parsed, options: ServerOptions): void {
  const modes = values['authorization-mode']
  const store = options.storage?.kind === 'etcd' ? `etcd at ${options.storage.servers.join(', ')}` : `embedded in ${values['data-dir']}`
  log.info(`serving on https://${hostPort(values['bind-address'] === '' ? '0.0.0.0' : values['bind-address'], values['secure-port'])}, store: ${store}, authorization: ${modes.join(', ')}`)
  // Wherever it stands: AlwaysDeny before it has no opinion that would end the chain.
  if (values['anonymous-auth'] && modes.includes('AlwaysAllow')) {
    log.warn('anonymous requests are allowed and --authorization-mode has AlwaysAllow: everybody who reaches this address may do everything; see --anonymous-auth, --token-auth-file, --client-ca-file')
  }
}

/** From now on one request's failure, or a bug, is logged and never ends the process. */
function survive (log: FastifyBaseLogger): void {
  process.removeAllListeners('uncaughtException')
  process.on('unhandledRejection', reason => log.error({ err: reason }, 'a promise was rejected and nobody waited for it'))
  process.on('uncaughtException', error => log.error({ err: error }, 'an exception was caught by nobody'))
  process.stderr.on('error', () => {}) // whoever read the log has gone: that is no reason to end
}

/** Milliseconds in which a second signal is the first one's echo: npm passes on what a terminal has sent to both. */
const ECHO = 500

/** SIGTERM and SIGINT end the server in order; the second one at once. */
function endOnSignals ({ root, scope, listener, log }: Running): void {
  let since: number | undefined
  const end = async (signal: string): Promise<void> => {
    const { shutdown } = scope.orch
    log.info(`${signal}: shutting down`)
    shutdown.signal.addEventListener('abort', () => { if (!shutdown.sendRetryAfter) listener.stop() })
    const left = await shutdown.begin()
    if (left > 0) log.warn({ requests: left }, 'requests did not finish in time and are cut off')
    listener.stop()
    await listener.closed(left > 0 ? 0 : LAST_ANSWERS)
    listener.destroy()
    await root.close()
    log.info('the end')
  }
  for (const signal of SIGNALS) {
    process.removeAllListeners(signal)
    process.on(signal, () => {
      if (since !== undefined) {
        if (performance.now() - since > ECHO) process.exit(1)
        return
      }
      since = performance.now()
      end(signal).then(() => process.exit(0), (error: unknown) => {
        log.error({ err: error }, 'the shutdown failed')
        process.exit(1)
      })
    })
  }
}

/** What ended the start, on one line. */
function describeFailure (error: unknown, parsed: Parsed | undefined): string {
  if (error instanceof FlagError || error instanceof ArgumentError) return error.message
  const { code, message } = error as { code?: unknown, message?: unknown }
  const values = parsed?.values
  if (values !== undefined) {
    const port = `--secure-port=${values['secure-port']}`
    const address = `--bind-address=${values['bind-address']}`
    switch (code) {
      case 'EADDRINUSE': return `${port}: the port is in use on ${values['bind-address']}; choose another one or end what listens there`
      case 'EACCES': return `${port}: this user may not listen there; choose a port above 1023`
      case 'EADDRNOTAVAIL': return `${address}: this host has no such address; name one of its own or 0.0.0.0`
      case 'EAFNOSUPPORT': return `${address}: this host does not speak that version of IP; name another address`
    }
  }
  const text = printable(String(message ?? error), 1000)
  if (values !== undefined && error instanceof Error && error.name === 'StorageError') {
    return values['etcd-servers'].length > 0 ? `--etcd-servers=${values['etcd-servers'].join(',')}: ${text}` : `--data-dir=${values['data-dir']}: ${text}`
  }
  return `cannot start: ${text}`
}

async function main (args: readonly string[]): Promise<void> {
  let parsed: Parsed | undefined
  const fail = (error: unknown): never => {
    process.stderr.write(`orch-apiserver: ${describeFailure(error, parsed)}\n`)
    if (parsed !== undefined && parsed.values.v >= 6 && error instanceof Error && error.stack !== undefined) process.stderr.write(`${error.stack}\n`)
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  // As process 1 of a container it would otherwise not even hear of a signal before it is ready.
  for (const signal of SIGNALS) process.on(signal, () => process.exit(1))
  try {
    parsed = checkedFlags(args)
    if (parsed.values.help || parsed.values.version) {
      const { helpText, versionText } = await import('./config/help.js')
      process.stdout.write(parsed.values.help ? helpText() : `${versionText()}\n`)
      return
    }
    endOnSignals(await start(parsed))
  } catch (error) {
    fail(error)
  }
}

await main(process.argv.slice(2))

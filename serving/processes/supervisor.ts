/**
 * The supervisor of `--serving-processes`: starts the processes, distributes connections among them, forwards their
 * output, replaces those that die, and ends all of them together. It serves no requests itself. The first process
 * creates certificates, keys and other files that a first start needs; the others wait for it.
 */
import { randomBytes } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { listenHost } from '../../config/addresses.js'
import type { Parsed } from '../../config/command-line.js'
import { logForm } from '../../config/log-streams.js'
import { createLog } from '../../config/logging.js'
import { servingProcesses } from '../../config/serving-processes.js'
import { embeddedOptions, isEmbedded } from '../../config/store.js'
import { Verbosity } from '../../config/verbosity.js'
import { type RequestLike, textOf } from '../../plugins/stalled-requests.js'
import { holdDirectory } from '../../storage/open.js'
import { listenOn } from '../listen-on.js'
import { reportReadiness } from '../service-manager.js'
import { endOnSignals, reportOnSignals } from '../signals.js'
import { endOnUncaughtErrors } from '../uncaught-errors.js'
import { Collections } from './collections.js'
import { Connections, type ServingProcess } from './connections.js'
import { Heartbeats } from './heartbeats.js'
import { RestartLimit, LIMIT_EXCEEDED } from './restart-limit.js'
import { howEnded, KeptProcess, type Ended } from './kept-process.js'
import { STORE, type Report, type Command } from './messages.js'

/** Milliseconds before a dead process is replaced: one that cannot start must not keep the machine busy. */
const PAUSE = 100
/**
 * Milliseconds before the next attempt to replace a process while others serve: a file that has become invalid must not
 * end them too.
 */
const RETRY = 20_000

/** Milliseconds for which requests like one with which a process hung are refused. */
const REFUSED_FOR = 5 * 60_000

/** @throws Error of the system if it cannot listen. Later errors end the process. */
export async function supervise (parsed: Parsed): Promise<void> {
  const { values } = parsed
  const server = createServer({ pauseOnConnect: true })
  await listenOn(server, {
    host: listenHost(values['bind-address']), port: values['secure-port'], reusePort: values['permit-port-sharing']
  })
  new Supervisor(parsed, server).start()
}

class ServingChild extends KeptProcess implements ServingProcess {
  take (socket: Socket): void {
    this.send({ kind: 'connection' }, socket)
  }
}

/** For the log. */
const titleOf = ({ name }: KeptProcess): string =>
  name === STORE ? 'the process of the store' : `serving process ${name}`

class Supervisor {
  readonly #count: number
  readonly #embedded: boolean
  readonly #server: Server
  /** The directory of the embedded store. */
  readonly #directory: string
  /** Its lock, held here so that no other server takes it while the process of the store is replaced. */
  #lock: Promise<Server | undefined> | undefined
  readonly #log: FastifyBaseLogger
  readonly #verbosity: Verbosity
  readonly #connections = new Connections()
  readonly #collections: Collections
  readonly #heartbeats = new Heartbeats<KeptProcess>({
    all: () => this.#all.filter(({ serving }) => serving),
    silent: child => { if (child instanceof ServingChild) this.#connections.silent(child) },
    answers: child => { if (child instanceof ServingChild) this.#connections.answers(child) },
    hangs: (child, seconds) => {
      const { like } = child.stalled ?? {}
      const work = like === undefined ? 'it is not known what it works for' : `it works for a request, ${textOf(like)}`
      const hangs = `hangs: it has not answered for ${seconds} s and is killed`
      this.#log.error(`${titleOf(child)} (pid ${child.pid}) ${hangs}; ${work}`)
      child.hung = true
      child.kill()
      if (like !== undefined) this.#refuse(like)
    }
  })

  readonly #restartLimit = new RestartLimit()
  /** Number of processes killed because they hung. They had started, so each is replaced, without a limit. */
  #hangs = 0
  /** Requests that are refused, for processes that start later. */
  readonly #refused = new Set<Extract<Command, { readonly kind: 'refuse' }>>()
  readonly #ticketKeys = randomBytes(48)
  readonly #serving = new Map<number, ServingChild>()
  #store: KeptProcess | undefined
  #leader: ServingChild | undefined
  /** The leader has finished the steps that readiness waits for. */
  #led = false
  /** The first process has created the files of a first start. */
  #prepared = false
  /** All processes have started; from now on, one that ends is replaced. */
  #started = false
  /** The verbosity that a client has set, for processes that start later. */
  #changedVerbosity: Extract<Command, { readonly kind: 'verbosity' }> | undefined
  readonly #leaving = new AbortController()
  #exitCode = 0
  /** Error lines of failed starts. Every process writes the same line; it is logged once. */
  readonly #failures = new Set<string>()

  constructor ({ values }: Parsed, server: Server) {
    this.#count = servingProcesses(values)
    this.#embedded = isEmbedded(values)
    this.#server = server
    this.#directory = embeddedOptions(values).directory
    this.#verbosity = new Verbosity(values.v, values.vmodule)
    this.#log = createLog({ verbosity: this.#verbosity, ...logForm(values) })
    this.#collections = new Collections(() => this.#all)
  }

  get #all (): KeptProcess[] { return [...this.#serving.values(), ...this.#store === undefined ? [] : [this.#store]] }

  start (): void {
    this.#server.on('connection', socket => {
      socket.on('error', () => {}) // its client has left
      this.#connections.give(socket)
    })
    this.#server.on('error', error => { this.#log.error({ err: error }, 'connections cannot be accepted') })
    process.stdout.on('error', () => {}) // the reader of the audit log may have closed
    endOnUncaughtErrors(this.#log, () => {
      this.#exitCode = 1
      this.#end()
    })
    endOnSignals({ end: signal => { this.#end(signal) }, now: () => { this.#abort(1) } })
    reportOnSignals(this.#log, () => { for (const child of this.#serving.values()) child.send({ kind: 'report' }) })
    process.on('exit', () => { for (const child of this.#all) child.kill() })
    if (this.#embedded) this.#startStore()
    for (let number = 1; number <= this.#count; number++) this.#startServing(number)
    this.#heartbeats.start()
    reportReadiness({
      ready: async () => this.#isReady(), leaving: this.#leaving.signal, warn: message => { this.#log.warn(message) }
    })
      .catch((error: unknown) => this.#log.error({ err: error }, 'readiness cannot be reported'))
  }

  #isReady (): boolean {
    return this.#serving.size === this.#count && [...this.#serving.values()].every(({ ready }) => ready)
  }

  #startServing (number: number): void {
    const child: ServingChild = new ServingChild({
      name: String(number),
      role: `${number}/${this.#count}`,
      report: report => { this.#handle(child, report) },
      ended: how => { this.#servingEnded(number, child, how) },
      log: lines => { this.#write(lines) }
    })
    this.#serving.set(number, child)
    if (this.#leader === undefined) this.#lead(child)
    if (this.#led) child.send({ kind: 'led' })
    if (this.#prepared || number === 1) this.#sendStart(child)
  }

  /** The process that starts first creates the files of a first start. */
  #sendStart (child: KeptProcess): void {
    const command = { kind: 'start', first: !this.#prepared, ticketKeys: this.#ticketKeys } as const
    if (child.name !== STORE) return child.send(command)
    // If the lock fails, the process of the store fails as well, and reports why.
    this.#lock ??= holdDirectory(this.#directory).catch(() => undefined)
    void this.#lock.then(lock => { child.send(command, lock) })
  }

  #startStore (): void {
    const store: KeptProcess = new KeptProcess({
      name: STORE,
      role: STORE,
      report: report => { this.#handle(store, report) },
      ended: how => { this.#storeEnded(how) },
      log: lines => { this.#write(lines) }
    })
    this.#store = store
    if (this.#prepared) this.#sendStart(store)
  }

  #handle (from: KeptProcess, report: Report): void {
    switch (report.kind) {
      case 'prepared':
        this.#prepared = true
        for (const child of this.#all) if (child !== from) this.#sendStart(child)
        return
      case 'serving':
        from.serving = true
        if (this.#changedVerbosity !== undefined) from.send(this.#changedVerbosity)
        for (const refused of this.#refused) from.send(refused)
        if (from instanceof ServingChild) this.#connections.add(from)
        this.#started ||= this.#serving.size === this.#count && this.#all.every(({ serving }) => serving)
        return
      case 'ready':
        from.ready = true
        if (from instanceof ServingChild) this.#connections.ready(from)
        return
      case 'led':
        this.#led = true
        for (const child of this.#serving.values()) child.send({ kind: 'led' })
        return
      case 'alive':
        from.stalled = undefined
        this.#heartbeats.answered(from)
        return
      case 'accepted':
        this.#connections.accepted(from as ServingChild)
        return
      case 'ended':
        this.#connections.ended(from as ServingChild, report.connections)
        return
      case 'stopped':
        if (this.#leaving.signal.aborted) this.#server.close()
        return
      case 'failing':
        if (from instanceof ServingChild) this.#connections.remove(from)
        return
      case 'verbosity':
        this.#verbosity.set(report.v)
        this.#changedVerbosity = report
        for (const child of this.#all) if (child !== from) child.send(report)
        return
      case 'collect':
        this.#collections.begin(from, report.request, report.text)
        return
      case 'exposition':
        this.#collections.add(from, report.request, report.text)
    }
  }

  #lead (child: ServingChild): void {
    this.#leader = child
    child.send({ kind: 'lead' })
  }

  #servingEnded (number: number, child: ServingChild, how: Ended): void {
    this.#serving.delete(number)
    this.#connections.remove(child)
    this.#forget(child)
    if (this.#leaving.signal.aborted) return this.#oneLess(child, how)
    const others = [...this.#serving.values()].filter(({ serving }) => serving)
    const pause = child.serving || others.length === 0 ? PAUSE : RETRY
    if (!this.#died(child, how, pause)) return
    if (this.#leader === child) {
      this.#leader = undefined
      const [next] = others
      if (next !== undefined) this.#lead(next)
    }
    setTimeout(() => { if (!this.#leaving.signal.aborted) this.#startServing(number) }, pause)
  }

  #storeEnded (how: Ended): void {
    const store = this.#store
    this.#store = undefined
    if (store === undefined) return
    this.#forget(store)
    if (this.#leaving.signal.aborted) return this.#oneLess(store, how)
    if (this.#died(store, how)) setTimeout(() => { if (!this.#leaving.signal.aborted) this.#startStore() }, PAUSE)
  }

  #forget (child: KeptProcess): void {
    this.#heartbeats.remove(child)
    this.#collections.ended(child)
  }

  /** Returns false if the whole server ends. A process whose start failed has logged the reason itself. */
  #died (child: KeptProcess, how: Ended, pause = PAUSE): boolean {
    if (!this.#started && how.code !== null && how.code !== 0) {
      this.#abort(how.code)
      return false
    }
    const what = `${titleOf(child)} (pid ${child.pid}) ended ${howEnded(how)}`
    if (child.hung) {
      this.#log.error(`${what} and is replaced, after hang ${++this.#hangs} of this server`)
      return true
    }
    if (this.#restartLimit.recordDeath()) {
      this.#log.error(`${what}: ${LIMIT_EXCEEDED}, the server ends`)
      this.#abort(1)
      return false
    }
    this.#log.error(pause === PAUSE
      ? `${what} and is replaced`
      : `${what}: it could not start, which is tried again in ${RETRY / 1000} s`)
    return true
  }

  /** All processes refuse requests like this one for a while, and serve on. */
  #refuse (like: RequestLike): void {
    const command = { kind: 'refuse', like, until: Date.now() + REFUSED_FOR } as const
    for (const refused of this.#refused) if (refused.until <= Date.now()) this.#refused.delete(refused)
    this.#refused.add(command)
    for (const child of this.#serving.values()) child.send(command)
    this.#log.warn(`requests like it, ${textOf(like)}, are refused for ${REFUSED_FOR / 60_000} minutes`)
  }

  #end (signal?: string): void {
    if (signal !== undefined) this.#log.info(`${signal}: shutting down`)
    this.#leaving.abort()
    for (const child of this.#serving.values()) child.send({ kind: 'end' })
    this.#endIfDone()
  }

  #oneLess (child: KeptProcess, how: Ended): void {
    if (how.code !== 0) {
      this.#log.error(`${titleOf(child)} ended ${howEnded(how)} during the shutdown`)
      this.#exitCode = 1
    }
    this.#endIfDone()
  }

  /** The process of the store ends last, because the others write to it. */
  #endIfDone (): void {
    if (this.#serving.size > 0) return
    this.#server.close()
    this.#connections.close()
    if (this.#store !== undefined) return this.#store.send({ kind: 'end' })
    if (this.#exitCode === 0) this.#log.info('shutdown complete')
    process.exit(this.#exitCode)
  }

  #abort (code: number): void {
    process.exit(code) // all children exit when the channel closes
  }

  #write (lines: string): void {
    if (!this.#started) {
      lines = lines.split('\n')
        .filter(line => !line.startsWith('orch-apiserver: ') || this.#failures.size === 0)
        .join('\n')
      const failure = lines.split('\n').find(line => line.startsWith('orch-apiserver: '))
      if (failure !== undefined) this.#failures.add(failure)
    }
    process.stderr.write(lines)
  }
}

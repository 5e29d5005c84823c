/** Starts a test server from its options. */
import { randomInt } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ServerOptions } from '../app.js'
import { freezeShared } from '../storage/cache/shared.js'
import { type MemoryStore, openMemoryStore } from '../storage/open.js'
import { MovableClock, type TestClock } from './clock.js'
import type { TestServer, TestServerOptions } from './contract.js'
import { ExchangeLog, type Exchanges } from './exchanges.js'
import { FaultInjector, type Faults } from './faults.js'
import { readFixtures, type Fixture, type SourcedObject } from './fixtures.js'
import { clientConfig, kubeconfig, type ClientConfig } from './kubeconfig.js'
import { clientOf } from '../host/client.js'
import type { OwnClient } from '../host/contract.js'
import { listening, sharedSigningKey, type Listening } from './listening.js'
import { load } from './load.js'
import { NextFork, type Unused } from './next-fork.js'
import { checkOptions } from './options.js'
import { openSender } from './sender.js'
import { randomFrom } from './random.js'
import { Simulator } from './simulator/simulator.js'
import { checkSimulation } from './simulator/check.js'
import { stateOf, takeSnapshot, type Snapshot } from './snapshot.js'
import { callerOf, forget, watchFor } from './undisposed.js'
import { ADMINISTRATOR, testUsers, tokenOf, type TestUser } from './users.js'
import { prepareWebhooks, type InstalledWebhooks, type WebhookOptions } from './webhooks.js'

const EXCHANGES = 1000
const MAX_SEED = 2 ** 32

/** The parts of a server. */
interface Parts {
  readonly options: TestServerOptions
  readonly store: MemoryStore
  readonly clock: MovableClock
  readonly exchanges: ExchangeLog
  readonly faults: FaultInjector
  readonly listening: Listening
}

class Server implements TestServer {
  readonly url: string
  readonly client: OwnClient
  readonly certificateAuthority: string | undefined
  readonly clock: TestClock
  readonly exchanges: Exchanges
  readonly faults: Faults
  readonly #parts: Parts
  readonly #nextFork: NextFork
  /** Temporary ones, which go with the server. */
  readonly #folders: string[] = []
  #simulator: Simulator | undefined
  #disposed: Promise<void> | undefined

  constructor (parts: Parts) {
    this.url = parts.listening.url
    this.client = clientOf(parts.listening.scope)
    this.certificateAuthority = parts.listening.certificateAuthority
    this.clock = parts.clock
    this.exchanges = parts.exchanges
    this.faults = parts.faults
    this.#parts = parts
    this.#nextFork = new NextFork(parts.clock, () => this.#startFork(this.snapshot()))
  }

  token (user: TestUser): string { return tokenOf(user) }
  kubeconfig (user?: TestUser): string { return kubeconfig(this, user) }
  clientConfig (user?: TestUser): ClientConfig { return clientConfig(this, user) }

  async writeKubeconfig (file: string, user?: TestUser): Promise<string> {
    await writeFile(file, this.kubeconfig(user), { mode: 0o600 })
    return resolve(file)
  }

  async load (fixtures: Fixture): Promise<void> { await this.#load(readFixtures(fixtures)) }

  async installWebhooks (configurations: Fixture, options: WebhookOptions = {}): Promise<InstalledWebhooks> {
    const { installed, objects, isTemporary } = await prepareWebhooks(configurations, options)
    if (isTemporary) this.#folders.push(installed.certDir)
    await this.#load(objects)
    return installed
  }

  /** Resolves when what is due at once has happened. */
  async simulate (): Promise<void> {
    const { options: { simulate }, clock, faults } = this.#parts
    if (simulate === undefined || simulate === false) return
    const options = simulate === true ? {} : simulate
    this.#simulator = new Simulator({ client: this.client, clock, random: randomFrom(faults.seed) }, options)
    await this.#simulator.start()
    const simulator = this.#simulator
    clock.follow(() => simulator.settled())
  }

  async #load (objects: readonly SourcedObject[]): Promise<void> {
    const { send, close } = openSender(this)
    try {
      const { orchResources: resources, orchSettings: { outside: { otherGroup } } } = this.#parts.listening.scope
      await load(objects, send, { resources, otherGroup })
    } finally {
      close()
    }
  }

  snapshot (): Snapshot {
    return takeSnapshot(this.#parts.store, this.#parts.clock, this.#parts.listening.scope.orchResources)
  }

  async fork (): Promise<TestServer> {
    const snapshot = this.snapshot()
    const fork = await this.#nextFork.take(snapshot.resourceVersion) ?? (await this.#startFork(snapshot)).server
    if (this.#isForkedAhead) this.#nextFork.prepare(snapshot.resourceVersion)
    return fork
  }

  /** A simulation would go on in a fork that nobody has taken. */
  get #isForkedAhead (): boolean {
    const { forkAhead = true, simulate = false } = this.#parts.options
    return forkAhead && simulate === false
  }

  async #startFork (from: Snapshot): Promise<Unused> {
    const { fixtures, faults, now, port, ...options } = this.#parts.options
    const server = await start({ ...options, from })
    return { server, keepAlive: alive => { server.#keepAlive(alive) } }
  }

  #keepAlive (alive: boolean): void {
    const { server } = this.#parts.listening.root
    if (alive) server.ref()
    else server.unref()
  }

  dispose (): Promise<void> {
    forget(this)
    return this.#disposed ??= this.#dispose()
  }

  async #dispose (): Promise<void> {
    const { listening: { root }, store, clock, exchanges } = this.#parts
    exchanges.end()
    await this.#simulator?.close()
    await this.#nextFork.close()
    await root.close()
    await store.close()
    clock.close()
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true })
  }

  [Symbol.asyncDispose] (): Promise<void> { return this.dispose() }
}

/**
 * @throws Error that names the fixture that could not be loaded; OptionError for an unknown or invalid option of the
 * server
 */
export async function testServer (options: TestServerOptions = {}): Promise<TestServer> {
  const startedAt = callerOf(testServer)
  const server = await startServer(options)
  watchFor(server, startedAt)
  return server
}

/** Does what `testServer` does, and keeps the process running until the server is stopped. */
export async function startServer (options: TestServerOptions): Promise<TestServer> {
  checkOptions(options)
  if (typeof options.simulate === 'object') checkSimulation(options.simulate)
  return await start(options)
}

async function start (options: TestServerOptions): Promise<Server> {
  freezeShared('held')
  const {
    fixtures, port = 0, tls = false, log = false, now, from, exchanges: limit = EXCHANGES, faults: injected = [],
    seed = randomInt(MAX_SEED)
  } = options
  const state = from === undefined ? undefined : stateOf(from)
  const clock = new MovableClock(now?.getTime() ?? state?.time ?? Date.now(), now !== undefined || state?.held === true)
  const exchanges = new ExchangeLog(limit, clock.wall)
  const faults = new FaultInjector(seed, clock)
  const store = await openMemoryStore(clock, state?.contents)
  let server: Server | undefined
  try {
    const started =
      await listening({ ...serverOptions(options), storage: store, clock }, { port, tls, log }, (root, known) => {
        exchanges.observe(root, known)
        faults.inject(root, exchanges, known)
      })
    server = new Server({ options, store, clock, exchanges, faults, listening: started })
    if (fixtures !== undefined) await server.load(fixtures)
    await server.simulate()
    for (const fault of injected) faults.add(fault) // by now the resources are known that they may name
    return server
  } catch (error) {
    await server?.dispose()
    await store.close()
    clock.close()
    throw error
  }
}

function serverOptions ({ user = ADMINISTRATOR, release, server = {} }: TestServerOptions): ServerOptions {
  const { authentication: { authenticators = [], serviceAccounts, ...authentication } = {} } = server
  const hasKey = serviceAccounts?.signingKey !== undefined || serviceAccounts?.verificationKeys !== undefined
  return {
    ...server,
    ...release === undefined ? {} : { emulatedVersion: release },
    authentication: {
      ...authentication,
      authenticators: [...authenticators, testUsers(user === false ? undefined : user)],
      serviceAccounts: { ...serviceAccounts, ...hasKey ? {} : { signingKey: sharedSigningKey() } }
    }
  }
}

/**
 * The launcher as real clients meet it: behind TLS, anonymous requests refused, a kubeconfig for each kind of user.
 * Removed with its folder after the test.
 */
import {
  type ChildProcess, type ChildProcessByStdio, spawn, type SpawnOptionsWithStdioTuple, type StdioNull, type StdioPipe
} from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { createSecureContext, type SecureContext } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { authority } from '../serving/authority.js'
import type { Test } from '../build.js'
import { launchHere, type LaunchedHere } from '../launched-here.js'
import { freePort } from '../ports.js'
import { polled } from '../polled.js'

const MANIFEST = new URL('../../../package.json', import.meta.url)
const LAUNCHER = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const START_TIME = 60_000
/** Milliseconds before a request to a server without a certificate is answered. */
const PAUSE = 10

export const TOKEN = 'interop-token'

/** What `npm start` passes to Node. */
export function nodeFlags (): string[] {
  const { scripts } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { scripts: { start: string } }
  return (scripts.start.split('; ').at(-1) ?? '').split(' ').slice(2, -2) // exec node FLAGS program --local
}

/** Runs a program as outside of tests, without the test runner's hooks for Node processes. */
export function launch (
  program: string, args: readonly string[], options: SpawnOptionsWithStdioTuple<StdioNull, StdioNull, StdioPipe>
): ChildProcessByStdio<null, null, Readable> {
  return spawn('env', ['-u', 'NODE_OPTIONS', program, ...args], options)
}

/** Polls until the condition holds. @throws Error that names the condition */
export async function until (
  what: string | (() => string), done: () => boolean | Promise<boolean>, milliseconds = START_TIME
): Promise<void> {
  await polled(done, what, milliseconds)
}

export interface Answer { readonly code: number, readonly body: string }

/** By authority. Making one takes as long as a handshake. */
const contexts = new Map<string | undefined, SecureContext>()
function contextFor (ca: string | undefined): SecureContext {
  const made = contexts.get(ca) ?? createSecureContext(ca === undefined ? {} : { ca })
  contexts.set(ca, made)
  return made
}

/** Keeps connections open for many requests, until the end of the test. */
export function keepingAgent (t: Test): Agent {
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => { agent.destroy() })
  return agent
}

/** One HTTPS request, on a new connection unless there is an agent; code 0 without a response. */
export function ask (
  url: string,
  options: { method?: string, body?: object, ca?: string, token?: string, accept?: string, agent?: Agent } = {}
): Promise<Answer> {
  const { method = 'GET', body, ca, token, accept, agent = false } = options
  return new Promise(resolve => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(accept === undefined ? {} : { accept })
    }
    const connection = { agent, secureContext: contextFor(ca) }
    const asked = request(url, { method, headers, ...connection }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => { text += piece })
      response.on('end', () => { resolve({ code: response.statusCode ?? 0, body: text }) })
      response.on('error', () => { resolve({ code: 0, body: text }) })
    })
    asked.on('error', () => { resolve({ code: 0, body: '' }) })
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

export type User = { token: string } | { 'client-certificate': string, 'client-key': string }

/** What a test needs of a server, wherever it runs. */
abstract class Server {
  readonly folder: string
  readonly port: number
  readonly url: string
  readonly #flags: readonly string[]

  protected constructor ({ folder, port, flags }: Place) {
    this.folder = folder
    this.port = port
    this.url = `https://127.0.0.1:${port}`
    this.#flags = flags
  }

  /** The server's self-signed certificate, which is its own authority. */
  get caFile (): string { return join(this.folder, 'apiserver.crt') }
  get ca (): string { return readFileSync(this.caFile, 'utf8') }

  /** Its log so far. */
  abstract get log (): string
  /** Resolves when it has ended, to the exit code of its process; null if it was killed. */
  abstract stop (signal?: NodeJS.Signals): Promise<number | null>
  /** Starts it, for the first time or again. */
  protected abstract begin (args: readonly string[]): Promise<void>
  /** @throws Error if it has ended by itself */
  protected check (): void {}

  /** Resolves when it is ready, or when the endpoint `well` succeeds. */
  async start (well = '/readyz'): Promise<void> {
    const file = (name: string): string => join(this.folder, name)
    await this.begin([`--secure-port=${this.port}`, '--bind-address=127.0.0.1', `--cert-dir=${this.folder}`,
      '--anonymous-auth=false', `--token-auth-file=${file('tokens.csv')}`, `--client-ca-file=${file('clients.crt')}`,
      ...(this.#flags.some(flag => flag.startsWith('--etcd-servers=')) ? [] : [`--data-dir=${file('data')}`]),
      ...this.#flags
    ])
    await until('the server to be ready', async () => {
      this.check()
      return (await this.ask(well)).code === 200
    }).catch((error: unknown) => { throw new Error(`${String((error as Error).message)}; its log: ${this.log}`) })
  }

  /**
   * Sends a request as the user of the token. If the certificate cannot be read yet, returns no answer after a moment,
   * because callers that poll must let timers run.
   */
  async ask (path: string, method = 'GET', body?: object, agent?: Agent): Promise<Answer> {
    let ca: string
    try {
      ca = this.ca
    } catch {
      await new Promise(resolve => { setTimeout(resolve, PAUSE) })
      return { code: 0, body: '' }
    }
    return await ask(`${this.url}${path}`, {
      method, ca, token: TOKEN, ...(body === undefined ? {} : { body }), ...(agent === undefined ? {} : { agent })
    })
  }

  /** Writes a kubeconfig for that user, which verifies the server by its own certificate. Returns its path. */
  kubeconfig (name: string, user: User): string {
    const path = join(this.folder, `${name}.kubeconfig`)
    // JSON is YAML.
    writeFileSync(path, JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'interop',
      clusters: [{ name: 'interop', cluster: { server: this.url, 'certificate-authority': this.caFile } }],
      users: [{ name, user }],
      contexts: [{ name: 'interop', context: { cluster: 'interop', user: name } }]
    }), { mode: 0o600 })
    return path
  }

  tokenConfig (): string { return this.kubeconfig('ann', { token: TOKEN }) }

  certificateConfig (): string {
    return this.kubeconfig('cora', {
      'client-certificate': join(this.folder, 'cora.crt'), 'client-key': join(this.folder, 'cora.key')
    })
  }
}

interface Place { readonly folder: string, readonly port: number, readonly flags: readonly string[] }

/** A folder with credentials, which is removed after the test. */
async function placed (t: Test, flags: readonly string[]): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-interop-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const clients = authority('interop clients')
  const pair = clients.issue({ commonName: 'cora', organizations: ['crew'], uses: ['client'] })
  for (const [name, content] of Object.entries({
    'tokens.csv': `${TOKEN},ann,1,"crew"\n`, 'clients.crt': clients.certificate, 'cora.crt': pair.certificate,
    'cora.key': pair.key
  })) {
    writeFileSync(join(folder, name), content, { mode: 0o600 })
  }
  return { folder, port: await freePort(), flags }
}

/** A process of its own, which runs the bundle. */
export class RunningServer extends Server {
  /** Its limit of open files; undefined for that of this process. */
  readonly #files: number | undefined
  #process: ChildProcess | undefined
  #errors = ''

  private constructor (place: Place, files: number | undefined) {
    super(place)
    this.#files = files
  }

  /**
   * Resolves when it is ready, or when the endpoint `well` succeeds. `flags` follow the common ones; `files` is its
   * limit of open files.
   */
  static async start (
    t: Test, flags: readonly string[] = [], well = '/readyz', files?: number
  ): Promise<RunningServer> {
    const server = new RunningServer(await placed(t, flags), files)
    t.teardown(async () => { await server.stop('SIGKILL') })
    await server.start(well)
    return server
  }

  /** Of its process, while it runs. */
  get pid (): number {
    const pid = this.#process?.pid
    if (pid === undefined) throw new Error('the server does not run')
    return pid
  }

  get log (): string { return this.#errors }

  protected async begin (args: readonly string[]): Promise<void> {
    const limited = this.#files === undefined ? [] : ['sh', '-c', `ulimit -n ${this.#files} && exec "$0" "$@"`]
    const [program = '', ...before] = [...limited, process.execPath, ...nodeFlags()]
    const child = launch(program, [...before, LAUNCHER, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#process = child
    child.stderr.on('data', (piece: Buffer) => { this.#errors += piece.toString() })
  }

  protected override check (): void {
    const child = this.#process
    if (child?.exitCode !== null || child.signalCode !== null) throw new Error(`the server ended: ${this.#errors}`)
  }

  async stop (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const child = this.#process
    if (child === undefined) return null
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit')
      child.kill(signal)
      await gone
    }
    return child.exitCode
  }
}

/** A server in this process, for clients in others: what is asked does not depend on where it runs. */
export class ServerHere extends Server {
  #running: LaunchedHere | undefined
  #log = ''

  static async start (t: Test, flags: readonly string[] = []): Promise<ServerHere> {
    const server = new ServerHere(await placed(t, flags))
    t.teardown(async () => { await server.stop('SIGKILL') })
    await server.start()
    return server
  }

  get log (): string { return this.#log + (this.#running?.log() ?? '') }

  protected async begin (args: readonly string[]): Promise<void> { this.#running = await launchHere(args) }

  async stop (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const running = this.#running
    if (running === undefined) return null
    await (signal === 'SIGKILL' ? running.kill() : running.end())
    this.#log = this.log
    this.#running = undefined
    return signal === 'SIGKILL' ? null : 0
  }
}

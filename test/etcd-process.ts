/**
 * A real etcd for tests: on free ports, in a directory of its own, killed and restarted on the same data, and behind a
 * connection that can be cut.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { etcdProgram } from './tools.js'
import { freePorts } from './ports.js'

const START_TIME = 60_000

/** Removes everything after the test. `t` is a tap test. */
export interface Teardown {
  teardown: (callback: () => unknown) => void
}

export interface EtcdTls {
  /** File names of PEM texts. */
  readonly ca: string
  readonly certificate: string
  readonly key: string
  /** Ask clients for certificates of the same CA. */
  readonly clientAuth?: boolean
}

export class EtcdProcess {
  readonly url: string
  readonly port: number
  readonly #program: string
  readonly #arguments: string[]
  #process: ChildProcess | undefined

  constructor (program: string, args: string[], url: string, port: number) {
    this.#program = program
    this.#arguments = args
    this.url = url
    this.port = port
  }

  /** Resolves when it serves; for the first start and after a kill, on the same data and port. */
  async start (): Promise<void> {
    const child = spawn(this.#program, this.#arguments, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#process = child
    const lines: string[] = []
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`etcd did not start (${why}): ${lines.slice(-5).join(' | ')}`))
      const timer = setTimeout(() => fail('too slow'), START_TIME)
      child.once('error', error => fail(error.message))
      child.once('exit', code => fail(`exit code ${code}`))
      createInterface({ input: child.stderr }).on('line', line => {
        if (lines.length < 500) lines.push(line)
        if (/ready to serve client requests|serving (insecure )?client (requests|traffic)/i.test(line)) {
          clearTimeout(timer)
          resolve()
        }
      })
    })
  }

  get pid (): number | undefined { return this.#process?.pid }

  /** Kills it without a clean shutdown; resolves when it has exited. */
  async kill (): Promise<void> {
    await this.#signal('SIGKILL')
  }

  async stop (): Promise<void> {
    await this.#signal('SIGTERM')
  }

  /** Freezes it like a machine that hangs: connections stay open, nothing responds. */
  pause (): void {
    this.#process?.kill('SIGSTOP')
  }

  resume (): void {
    this.#process?.kill('SIGCONT')
  }

  async #signal (signal: NodeJS.Signals): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill(signal)
    await gone
  }
}

/** Starts an etcd with one member, which is removed with its data after the test. */
export async function startEtcd (t: Teardown, tls?: EtcdTls, flags: readonly string[] = []): Promise<EtcdProcess> {
  const program = etcdProgram()
  const directory = await mkdtemp(path.join(tmpdir(), 'orch-etcd-'))
  const [port, peerPort] = await freePorts(2)
  if (port === undefined || peerPort === undefined) throw new Error('no free ports')
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  const peer = `http://127.0.0.1:${peerPort}`
  const secure = tls === undefined
    ? []
    : [
        '--cert-file', tls.certificate, '--key-file', tls.key,
        ...(tls.clientAuth === true ? ['--client-cert-auth', '--trusted-ca-file', tls.ca] : [])
      ]
  const etcd = new EtcdProcess(program, [
    '--name', 'test', '--data-dir', directory,
    '--listen-client-urls', url, '--advertise-client-urls', url,
    '--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `test=${peer}`,
    '--heartbeat-interval', '20', '--election-timeout', '200', ...secure, ...flags
  ], url, port)
  t.teardown(async () => {
    await etcd.kill()
    await rm(directory, { recursive: true, force: true })
  })
  await etcd.start()
  return etcd
}

/** Starts a cluster of that many members without encryption, which is removed with its data after the test. */
export async function startEtcdCluster (t: Teardown, size: number): Promise<EtcdProcess[]> {
  const program = etcdProgram()
  const root = await mkdtemp(path.join(tmpdir(), 'orch-etcd-cluster-'))
  const ports = await freePorts(size * 2)
  const urls = ports.map(port => `http://127.0.0.1:${port}`)
  const peers = urls.slice(size)
  const cluster = peers.map((peer, i) => `m${i}=${peer}`).join(',')
  const members = urls.slice(0, size).map((url, i) => new EtcdProcess(program, [
    '--name', `m${i}`, '--data-dir', path.join(root, `m${i}`),
    '--listen-client-urls', url, '--advertise-client-urls', url,
    '--listen-peer-urls', peers[i] ?? '', '--initial-advertise-peer-urls', peers[i] ?? '', '--initial-cluster', cluster,
    '--heartbeat-interval', '50', '--election-timeout', '500'
  ], url, ports[i] ?? 0))
  t.teardown(async () => {
    await Promise.all(members.map(member => member.kill()))
    await rm(root, { recursive: true, force: true })
  })
  await Promise.all(members.map(member => member.start()))
  return members
}

/** A relay to a server on this machine that the test can cut, stall and slow down. */
export class Line {
  readonly port: number
  readonly #server: net.Server
  readonly #pairs = new Set<[net.Socket, net.Socket]>()
  #refusing = false
  #stalled = false
  #delay = 0
  /** Bytes that came from the server. */
  received = 0

  private constructor (server: net.Server, port: number, target: number) {
    this.#server = server
    this.port = port
    server.on('connection', client => this.#connect(client, target))
  }

  static async to (t: Teardown, target: number, host = '127.0.0.1'): Promise<Line> {
    const server = net.createServer({ pauseOnConnect: true })
    server.listen(0, host)
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('the line has no port')
    const line = new Line(server, address.port, target)
    t.teardown(() => line.close())
    return line
  }

  /** Cuts every connection; new ones are accepted. */
  cut (): void {
    for (const [client, server] of this.#pairs) {
      client.resetAndDestroy()
      server.resetAndDestroy()
    }
  }

  /** Cuts every connection and accepts no new ones until it is called with false. */
  refuse (refusing: boolean): void {
    this.#refusing = refusing
    if (refusing) this.cut()
  }

  /** Holds back all bytes, in both directions; connections stay open. */
  stall (stalled: boolean): void {
    this.#stalled = stalled
    for (const pair of this.#pairs) for (const socket of pair) if (stalled) socket.pause(); else socket.resume()
  }

  /** Delays every byte from the server by that many milliseconds. */
  delay (milliseconds: number): void {
    this.#delay = milliseconds
  }

  close (): void {
    this.refuse(true)
    this.#server.close()
  }

  #connect (client: net.Socket, target: number): void {
    if (this.#refusing) {
      client.resetAndDestroy()
      return
    }
    const server = net.connect(target, '127.0.0.1')
    const pair: [net.Socket, net.Socket] = [client, server]
    this.#pairs.add(pair)
    const end = () => {
      this.#pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const socket of pair) socket.on('error', end).on('close', end)
    client.on('data', bytes => { server.write(bytes) })
    server.on('data', bytes => {
      this.received += bytes.length
      if (this.#delay === 0) client.write(bytes)
      else setTimeout(() => { if (!client.destroyed) client.write(bytes) }, this.#delay)
    })
    if (this.#stalled) server.pause()
    else client.resume()
  }
}

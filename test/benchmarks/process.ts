/** A server in a process of its own, so that its CPU time is its own. */
import { execFileSync, fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launchHere } from '../launched-here.js'
import { freePort } from '../ports.js'

export interface Child {
  readonly port: number
  /** The Node program that runs it. */
  readonly node: string
  /** Its process; another server's and the benchmark's own, if `launching.here`. */
  readonly process: Pick<ChildProcess, 'pid'>
  readonly folder: string
  /** Kills it and removes its folder. */
  stop: () => Promise<void>
}

export type Apart = Launched & { readonly process: ChildProcess }

export interface Launched extends Child {
  /** Milliseconds from the start of the process to the first 200 of /readyz. */
  readonly startMs: number
  /** Kills it and leaves the folder to the next one. */
  kill: () => Promise<void>
}

/** Milliseconds of CPU that the process has used: all threads, user and system. */
export function cpu ({ process: { pid } }: { process: { readonly pid?: number | undefined } }): number {
  if (pid === process.pid) { // schedstat of a thread that runs is as old as its last tick
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  const tasks = `/proc/${pid}/task`
  let nanoseconds = 0
  for (const task of readdirSync(tasks)) {
    nanoseconds += Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0])
  }
  return nanoseconds / 1e6
}

/** Resident memory in MB: all of it, or the process's own, without mapped files. */
export function memory (
  { process }: { process: { readonly pid?: number | undefined } }, kind: 'VmRSS' | 'RssAnon' = 'VmRSS'
): number {
  return Number(new RegExp(`${kind}:\\s+(\\d+)`).exec(readFileSync(`/proc/${process.pid}/status`, 'utf8'))?.[1]) / 1024
}

/**
 * Waits until the process has been idle for that many milliseconds, for example after collecting the garbage of a fill.
 */
export async function settle (child: Child, pause: number): Promise<void> {
  for (let before = -Infinity; cpu(child) - before > 20;) {
    before = cpu(child)
    await new Promise(resolve => { setTimeout(resolve, pause) })
  }
}

export const TOKEN = 'benchmark-token'

/** Flags that `npm start` passes to Node: for our server, for what it is compared with, and for the clients. */
export function nodeFlags (): string[] {
  const manifest = JSON.parse(readFileSync(
    new URL('../../../package.json', import.meta.url), 'utf8'
  )) as { scripts: { start: string } }
  return (manifest.scripts.start.split('; ').at(-1) ?? '').split(' ').slice(2, -2) // exec node FLAGS program --local
}

/** Another build may take the place of this one, to measure a change beside its predecessor. */
export const program = process.env.BENCH_PROGRAM ?? fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))

/**
 * Node programs that run servers, ours and bare ones. Clients, and measurements in this process, use the Node of the
 * benchmark.
 */
export const nodes: readonly string[] = process.env.BENCH_NODE?.split(',') ?? []

/** Servers then start with a code cache, as after a build with that Node; the build has written that of its own. */
export function makeCodeCache (node: string): void {
  if (node === process.execPath) return
  execFileSync(node, [...nodeFlags(), join(dirname(program), '../../build/code-cache.js')])
}

/**
 * Whether servers start in the process of the benchmark. That takes a tenth of the CPU, and the figures then are those
 * of clients too: for a run that shows only that benchmarks work.
 */
export const launching = { here: false }

/**
 * Starts the launcher with token authentication; resolves when /readyz answers 200. Its state is in `folder`, which
 * `stop` removes.
 */
export async function launch (
  flags: readonly string[] = [], folder = mkdtempSync(join(tmpdir(), 'orch-server-')),
  node = nodes[0] ?? process.execPath
): Promise<Launched> {
  if (!launching.here) return await launchApart(flags, folder, [], node)
  const { port, all } = await allFlags(flags, folder)
  const since = performance.now()
  const { kill } = await launchHere(all)
  await untilReady(port, () => {})
  let ended: Promise<void> | undefined
  const end = async (): Promise<void> => { await (ended ??= kill()) }
  return {
    port, node, process, folder, startMs: performance.now() - since, kill: end,
    stop: async () => {
      await end()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/**
 * A server whose process is its own, whatever others have. @param more further flags of Node; it then accepts messages
 * too
 */
export async function launchApart (
  flags: readonly string[] = [], folder = mkdtempSync(join(tmpdir(), 'orch-server-')), more: readonly string[] = [],
  node = nodes[0] ?? process.execPath
): Promise<Apart> {
  const { port, all } = await allFlags(flags, folder)
  const since = performance.now()
  const child = spawn(
    node, [...nodeFlags(), ...more, program, ...all],
    { stdio: ['ignore', 'ignore', 'pipe', ...more.length === 0 ? [] : ['ipc' as const]] }
  )
  let errors = ''
  child.stderr?.on('data', (text: Buffer) => { errors += text.toString() })
  await untilReady(port, () => {
    if (child.exitCode !== null) throw new Error(`the server ended: ${errors}`)
  })
  return {
    port, node, process: child, folder, startMs: performance.now() - since, stop: () => stop(child, folder),
    kill: () => kill(child)
  }
}

async function allFlags (
  flags: readonly string[], folder: string
): Promise<{ readonly port: number, readonly all: string[] }> {
  const port = await freePort()
  writeFileSync(join(folder, 'tokens.csv'), `${TOKEN},bench,1,"group-a,group-b"\n`)
  return {
    port,
    all: [
      `--secure-port=${port}`, '--bind-address=127.0.0.1', `--cert-dir=${folder}`,
      `--token-auth-file=${join(folder, 'tokens.csv')}`,
      ...(flags.some(flag => flag.startsWith('--etcd-servers')) ? [] : [`--data-dir=${join(folder, 'data')}`]), ...flags
    ]
  }
}

/** @param check throws an error if the server has ended */
async function untilReady (port: number, check: () => void): Promise<void> {
  const soon = async (): Promise<void> => {
    check()
    await new Promise(resolve => { setTimeout(resolve, 5) })
  }
  // Refused connections cost this process as much as half a start if each is a request.
  while (!await listens(port)) await soon()
  // One connection: with a handshake for each probe, probes would dominate a server that loads many objects.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  while (!await ready(port, agent)) await soon()
  agent.destroy()
}

function listens (port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => { resolve(true) })
    socket.on('error', () => { resolve(false) }).on('connect', () => { socket.destroy() })
  })
}

function ready (port: number, agent: Agent): Promise<boolean> {
  return new Promise(resolve => {
    const asked = request({ port, host: '127.0.0.1', path: '/readyz', rejectUnauthorized: false, agent }, response => {
      response.resume().on('end', () => { resolve(response.statusCode === 200) })
    })
    asked.on('error', () => { resolve(false) })
    asked.end()
  })
}

/** Runs a file of this folder that sends its port once it listens. */
export async function serve (node: string, file: string, ...args: string[]): Promise<Child> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-bench-'))
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    cwd: folder, execPath: node, execArgv: nodeFlags()
  })
  const [port] = await once(child, 'message') as [number]
  return { port, node, process: child, folder, stop: () => stop(child, folder) }
}

async function kill (child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function stop (child: ChildProcess, folder: string): Promise<void> {
  await kill(child)
  rmSync(folder, { recursive: true, force: true })
}

/** The process of a pod, started again whenever it ends, as a node agent does. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { probe, type Probe } from './pods.js'

/** Milliseconds between two probes of a process that starts, and before one that has ended is started again. */
const PROBE_MS = 100
const RESTART_MS = 500
/** Milliseconds until a process has to be ready. The members of a new etcd wait for each other. */
const START_TIME = 60_000

export interface Described {
  readonly command: readonly [program: string, ...args: string[]]
  readonly probe: Probe
  /** The file that its output is appended to; it runs in that folder. */
  readonly log: string
}

export class PodProcess {
  readonly #name: string
  readonly #command: readonly [program: string, ...args: string[]]
  readonly #probe: Probe
  readonly #log: string
  readonly #fail: (error: unknown) => void
  #process: ChildProcess | undefined
  #wanted = true
  #removed = false

  /** @param name for messages @param fail receives what prevents a later start */
  constructor (name: string, { command, probe, log }: Described, fail: (error: unknown) => void) {
    this.#name = name
    this.#command = command
    this.#probe = probe
    this.#log = log
    this.#fail = fail
  }

  /** Resolves when it is ready, or no longer wanted. @throws Error if it does not become ready */
  async start (): Promise<void> {
    // It would pass for ready by the answers of the other one.
    if (await probe(this.#probe) !== 0) {
      throw new Error(`${this.#name}: another process answers at its address; end that one first`)
    }
    if (!this.#wanted) return
    const [program, ...args] = this.#command
    const log = openSync(this.#log, 'a', 0o600)
    // A process group of its own: Ctrl-C in a terminal reaches this program alone, which ends the others in order.
    const child = this.#process = spawn(program, args, {
      cwd: dirname(this.#log), stdio: ['ignore', log, log], detached: true,
      env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}` }
    })
    closeSync(log)
    let failure: Error | undefined
    child.once('error', error => {
      failure = new Error(`${program} can't be started (${error.message}); is it on the PATH?`)
    })
    child.once('exit', (code, signal) => { this.#ended(String(code ?? signal)) })
    for (const since = Date.now(); await probe(this.#probe) !== 200;) {
      if (!this.#wanted) return
      if (failure !== undefined) throw failure
      if (Date.now() - since > START_TIME || child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`${this.#name} did not become ready; see ${this.#log}`)
      }
      await sleep(PROBE_MS)
    }
    console.log(`${this.#name}: ready, process ${child.pid ?? ''}`)
  }

  #ended (how: string): void {
    console.log(`${this.#name}: ended with ${how}`)
    if (!this.#wanted) return
    setTimeout(() => { if (this.#wanted) this.start().catch(this.#fail) }, RESTART_MS)
  }

  async restart (): Promise<void> {
    await this.#stop('SIGTERM')
    if (this.#removed) return
    this.#wanted = true
    await this.start()
  }

  /** Ends it for good; resolves when it has ended. */
  async remove (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#removed = true
    await this.#stop(signal)
  }

  async #stop (signal: NodeJS.Signals): Promise<void> {
    this.#wanted = false
    const child = this.#process
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
}

/** A child process of the supervisor: the same program with the same flags and its own role. */
import { fork, type ChildProcess } from 'node:child_process'
import type { Server, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { ROLE, STALL_DESCRIPTOR, type Report, type Command, type Stalled } from './messages.js'
import { wholeLines } from './whole-lines.js'

export interface Ended { readonly code: number | null, readonly signal: NodeJS.Signals | null }

export interface KeptOptions {
  /** Its name in the log and in metrics: a number or `store`. */
  readonly name: string
  /** Value of the environment variable `ROLE`. */
  readonly role: string
  readonly report: (report: Report) => void
  /** Called once, after the process has ended and all its output was forwarded. */
  readonly ended: (how: Ended) => void
  /** Called with complete lines that the process wrote to standard error. */
  readonly log: (lines: string) => void
}

export class KeptProcess {
  readonly name: string
  /** The process has reported that it serves. */
  serving = false
  ready = false
  /** Set while its event loop does not run, as its thread reports, with the request that it works for. */
  stalled: Stalled | undefined
  /** Whether it was killed because it hung. */
  hung = false
  ended = false
  readonly #child: ChildProcess

  constructor ({ name, role, report, ended, log }: KeptOptions) {
    this.name = name
    // Only the supervisor reports to systemd.
    const { NOTIFY_SOCKET: _, ...environment } = process.env
    this.#child = fork(process.argv[1] ?? '', process.argv.slice(2), {
      env: { ...environment, [ROLE]: role },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
      serialization: 'advanced'
    })
    const { stdout, stderr } = this.#child
    if (stdout !== null) wholeLines(stdout, lines => { process.stdout.write(lines) })
    if (stderr !== null) wholeLines(stderr, log)
    const pipe = this.#child.stdio[STALL_DESCRIPTOR]
    if (pipe instanceof Readable) wholeLines(pipe, lines => { this.#noteStall(lines) })
    this.#child.on('message', message => { if (!this.ended) report(message as Report) }) // of this program
    this.#child.on('error', () => {}) // a message sent too late; 'close' follows
    this.#child.once('close', (code, signal) => {
      this.ended = true
      ended({ code, signal })
    })
  }

  /** @param lines of the thread in `stall-worker.ts` */
  #noteStall (lines: string): void {
    const [line = ''] = lines.trimEnd().split('\n').slice(-1)
    this.stalled = JSON.parse(line) as Stalled // of this program
  }

  get pid (): number | undefined { return this.#child.pid }

  /** Keeps the handle open in this process: Node would leak it if the child died before it received the handle. */
  send (command: Command, handle?: Socket | Server): void {
    if (!this.#child.connected) return
    this.#child.send(command, handle, { keepOpen: true }, () => {}) // 'close' follows an error
  }

  ping (): void { this.send({ kind: 'ping' }) }

  kill (): void { this.#child.kill('SIGKILL') }
}

export const howEnded = ({ code, signal }: Ended): string => signal === null ? `with exit code ${code}` : `by ${signal}`

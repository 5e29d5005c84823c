/** One process that the supervisor keeps: the same program, with the same flags and another role. */
import { fork, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { ROLE, type News, type Order } from './messages.js'
import { wholeLines } from './whole-lines.js'

export interface Ended { readonly code: number | null, readonly signal: NodeJS.Signals | null }

export interface KeptOptions {
  /** `1`, `store`: its name in the log and in metrics. */
  readonly name: string
  /** As `ROLE` has it. */
  readonly role: string
  readonly news: (news: News) => void
  /** Called once, when its output has been passed on. */
  readonly ended: (how: Ended) => void
  /** Receives whole lines of its standard error. */
  readonly log: (lines: string) => void
}

export class KeptProcess {
  readonly name: string
  /** It has reported that it serves. */
  serving = false
  ready = false
  ended = false
  readonly #child: ChildProcess

  constructor ({ name, role, news, ended, log }: KeptOptions) {
    this.name = name
    // systemd hears of the supervisor alone.
    const { NOTIFY_SOCKET: _, ...environment } = process.env
    this.#child = fork(process.argv[1] ?? '', process.argv.slice(2), { env: { ...environment, [ROLE]: role }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], serialization: 'advanced' })
    const { stdout, stderr } = this.#child
    if (stdout !== null) wholeLines(stdout, lines => { process.stdout.write(lines) })
    if (stderr !== null) wholeLines(stderr, log)
    this.#child.on('message', message => { if (!this.ended) news(message as News) }) // of this program
    this.#child.on('error', () => {}) // a message that came too late; the end follows
    this.#child.once('close', (code, signal) => {
      this.ended = true
      ended({ code, signal })
    })
  }

  get pid (): number | undefined { return this.#child.pid }

  /** The socket stays open here: Node would lose it if the process died before it has it. */
  send (order: Order, socket?: Socket): void {
    if (this.#child.connected) this.#child.send(order, socket, { keepOpen: true }, () => {}) // the end follows an error
  }

  kill (): void { this.#child.kill('SIGKILL') }
}

export const howEnded = ({ code, signal }: Ended): string => signal === null ? `with exit code ${code}` : `by ${signal}`

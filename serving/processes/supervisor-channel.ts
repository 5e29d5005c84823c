/** A process's end of the channel to the supervisor: receives commands and sends reports. */
import { Server, type Socket } from 'node:net'
import type { Part } from '../../config/divided-options.js'
import type { Exposition } from '../../plugins/metrics/merged.js'
import type { RequestLike } from '../../plugins/stalled-requests.js'
import { STORE, type Report, type Command } from './messages.js'

/** Milliseconds between reports of ended connections. */
const REPORT_EVERY = 50

/** Handlers of the launcher, called on commands. */
export interface Handlers {
  readonly connection: (socket: Socket) => void
  readonly end: () => void
  readonly report: () => void
  readonly verbosity: (v: number) => void
  readonly exposition: () => Promise<Uint8Array>
  /** @param until milliseconds since the epoch */
  readonly refuse?: (like: RequestLike, until: number) => void
}

export type StartCommand = Extract<Command, { readonly kind: 'start' }> & { readonly lock: Server | undefined }

export class SupervisorChannel {
  readonly part: Part
  /** Resolves when the files of a first start exist; immediately in the process that creates them. */
  readonly start: Promise<StartCommand>
  /** Resolves when this process becomes the leader. */
  readonly elected: Promise<void>
  /** Resolves when the leader has finished the steps that readiness waits for. */
  readonly led: Promise<void>
  #leads = false
  #handlers: Handlers | undefined
  #ended = 0
  #last = 0
  readonly #collecting = new Map<number, (expositions: readonly Exposition[]) => void>()

  constructor (part: Part) {
    this.part = part
    let start = (_: StartCommand): void => {}
    let elect = (): void => {}
    let led = (): void => {}
    this.start = new Promise(resolve => { start = resolve })
    this.elected = new Promise(resolve => { elect = resolve })
    this.led = new Promise(resolve => { led = resolve })
    // A terminal and systemd send signals to all processes; the supervisor commands the shutdown.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1']) process.on(signal, () => {})
    // The supervisor has died: free the port and the store for the next one.
    process.on('disconnect', () => process.exit(1))
    process.on('message', (message, handle) => {
      const command = message as Command // of the same program
      switch (command.kind) {
        case 'start': return start({ ...command, lock: handle instanceof Server ? handle : undefined })
        case 'lead':
          this.#leads = true
          return elect()
        case 'led': return led()
        case 'connection': return this.#take(handle as Socket | undefined)
        case 'end': return this.#handlers === undefined ? process.exit(0) : this.#handlers.end()
        case 'report': return this.#handlers?.report()
        case 'refuse': return this.#handlers?.refuse?.(command.like, command.until)
        case 'ping': return this.send({ kind: 'alive' })
        case 'verbosity': return this.#handlers?.verbosity(command.v)
        case 'collect': return this.#expose(command.request)
        case 'collected':
          this.#collecting.get(command.request)?.(command.expositions)
          this.#collecting.delete(command.request)
      }
    })
  }

  /** Registers the handlers and reports that this process serves. */
  serve (handlers: Handlers): void {
    this.#handlers = handlers
    this.send({ kind: 'serving' })
  }

  /** True once this process is the leader. */
  get leads (): boolean { return this.#leads }

  get name (): string { return String(this.part.number) }

  // without a supervisor the process ends
  send (report: Report): void { process.send?.(report, undefined, undefined, () => {}) }

  /** Resolves to the metrics of the other processes. @param text the metrics of this one */
  collect (text: Uint8Array): Promise<readonly Exposition[]> {
    return new Promise(resolve => {
      const request = ++this.#last
      this.#collecting.set(request, resolve)
      this.send({ kind: 'collect', request, text })
    })
  }

  #take (socket: Socket | undefined): void {
    this.send({ kind: 'accepted' })
    if (socket === undefined || this.#handlers === undefined) return this.#countEnded()
    socket.once('close', () => { this.#countEnded() })
    this.#handlers.connection(socket)
  }

  #countEnded (): void {
    if (++this.#ended > 1) return
    setTimeout(() => {
      this.send({ kind: 'ended', connections: this.#ended })
      this.#ended = 0
    }, REPORT_EVERY).unref()
  }

  #expose (request: number): void {
    // this process is left out of the collection
    this.#handlers?.exposition().then(text => { this.send({ kind: 'exposition', request, text }) }, () => {})
  }
}

/** Parses a role into this process's share of the limits; the process of the store has none. */
export function partOf (role: string): Part {
  const [number = 0, count = 0] = role === STORE ? [] : role.split('/').map(Number)
  return { number, count }
}

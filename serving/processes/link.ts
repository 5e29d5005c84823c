/** A process's end of the channel to the supervisor: receives orders and sends reports. */
import type { Socket } from 'node:net'
import type { Part } from '../../config/divided-options.js'
import type { Exposition } from '../../plugins/metrics/merged.js'
import { STORE, type News, type Order } from './messages.js'

/** Milliseconds between reports of ended connections. */
const REPORT_EVERY = 50

/** Handlers of the launcher, called on orders. */
export interface Served {
  readonly connection: (socket: Socket) => void
  readonly end: () => void
  readonly report: () => void
  readonly verbosity: (v: number) => void
  readonly exposition: () => Promise<Uint8Array>
}

export type Start = Extract<Order, { readonly kind: 'start' }>

export class Link {
  readonly part: Part
  /** Resolves when the files of a first start exist; immediately in the process that creates them. */
  readonly start: Promise<Start>
  /** Resolves when this process becomes the leader. */
  readonly elected: Promise<void>
  /** Resolves when the leader has finished the steps that readiness waits for. */
  readonly led: Promise<void>
  #served: Served | undefined
  #ended = 0
  #last = 0
  readonly #collecting = new Map<number, (expositions: readonly Exposition[]) => void>()

  constructor (part: Part) {
    this.part = part
    let start = (_: Start): void => {}
    let elect = (): void => {}
    let led = (): void => {}
    this.start = new Promise(resolve => { start = resolve })
    this.elected = new Promise(resolve => { elect = resolve })
    this.led = new Promise(resolve => { led = resolve })
    // A terminal and systemd send signals to all processes; the supervisor orders the shutdown.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1']) process.on(signal, () => {})
    // The supervisor has died: free the port and the store for the next one.
    process.on('disconnect', () => process.exit(1))
    process.on('message', (message, socket) => {
      const order = message as Order // of the same program
      switch (order.kind) {
        case 'start': return start(order)
        case 'lead': return elect()
        case 'led': return led()
        case 'connection': return this.#take(socket as Socket | undefined)
        case 'end': return this.#served === undefined ? process.exit(0) : this.#served.end()
        case 'report': return this.#served?.report()
        case 'verbosity': return this.#served?.verbosity(order.v)
        case 'collect': return this.#expose(order.request)
        case 'collected':
          this.#collecting.get(order.request)?.(order.expositions)
          this.#collecting.delete(order.request)
      }
    })
  }

  /** Registers the handlers and reports that this process serves. */
  serve (served: Served): void {
    this.#served = served
    this.send({ kind: 'serving' })
  }

  get name (): string { return String(this.part.number) }

  send (news: News): void { process.send?.(news, undefined, undefined, () => {}) } // without a supervisor the process ends

  /** Resolves to the metrics of the other processes that answer in time. */
  collect (): Promise<readonly Exposition[]> {
    return new Promise(resolve => {
      const request = ++this.#last
      this.#collecting.set(request, resolve)
      this.send({ kind: 'collect', request })
    })
  }

  #take (socket: Socket | undefined): void {
    this.send({ kind: 'accepted' })
    if (socket === undefined || this.#served === undefined) return this.#countEnded()
    socket.once('close', () => { this.#countEnded() })
    this.#served.connection(socket)
  }

  #countEnded (): void {
    if (++this.#ended > 1) return
    setTimeout(() => {
      this.send({ kind: 'ended', connections: this.#ended })
      this.#ended = 0
    }, REPORT_EVERY).unref()
  }

  #expose (request: number): void {
    this.#served?.exposition().then(text => { this.send({ kind: 'exposition', request, text }) }, () => {}) // it is left out
  }
}

/** Parses a role into this process's share of the limits; the process of the store has none. */
export function partOf (role: string): Part {
  const [number = 0, count = 0] = role === STORE ? [] : role.split('/').map(Number)
  return { number, count }
}

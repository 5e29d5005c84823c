/** One serving process's side of the supervisor: what it is ordered to do, and what it reports. */
import type { Socket } from 'node:net'
import type { Part } from '../../config/divided-options.js'
import type { Exposition } from '../../plugins/metrics/merged.js'
import { STORE, type News, type Order } from './messages.js'

/** Milliseconds between reports of ended connections. */
const REPORT_EVERY = 50

/** What the launcher does on orders. */
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
  /** Resolves when the files of the first start are there, at once for the process that makes them. */
  readonly start: Promise<Start>
  /** Resolves when this process is to run what one process of the server runs. */
  readonly elected: Promise<void>
  /** Resolves when what readiness waits for is done by the process that leads. */
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
    // A terminal and systemd send them to all processes; the supervisor says when to end.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1']) process.on(signal, () => {})
    // The port and the store are the next supervisor's.
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

  /** Takes orders from now on. */
  serve (served: Served): void {
    this.#served = served
    this.send({ kind: 'serving' })
  }

  get name (): string { return String(this.part.number) }

  send (news: News): void { process.send?.(news, undefined, undefined, () => {}) } // without a supervisor the process ends

  /** The metrics of the other processes, as far as they come in time. */
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

/** The part of a role; the store has none of the limits. */
export function partOf (role: string): Part {
  const [number = 0, count = 0] = role === STORE ? [] : role.split('/').map(Number)
  return { number, count }
}

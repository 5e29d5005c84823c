/**
 * Collects the metrics of all processes for the one that answers a scrape. Sums of counters must not decrease: rates
 * would treat that as a restart. A process that ended, or does not answer in time, therefore contributes its last
 * collected counters.
 */
import type { KeptProcess } from './kept-process.js'
import { countersOf, type Exposition } from '../../plugins/metrics/merged.js'

/** Maximum milliseconds to wait for the processes, less than a scraper waits. */
const PATIENCE = 2000

type Collected = Pick<KeptProcess, 'name' | 'serving' | 'send'>

interface Collection {
  readonly for: Collected
  /** Number of the request in the process that asked. */
  readonly request: number
  readonly missing: Set<Collected>
  readonly answers: Map<Collected, Exposition>
  readonly timer: NodeJS.Timeout
}

export class Collections {
  readonly #all: () => readonly Collected[]
  readonly #open = new Map<number, Collection>()
  /** The last metrics of each process. */
  readonly #known = new Map<Collected, Exposition>()
  /** The counters of all processes that ended. */
  #ended: Exposition | undefined
  #last = 0

  constructor (all: () => readonly Collected[]) { this.#all = all }

  /** @param text the metrics of the process that asks */
  begin (asker: Collected, request: number, text: Uint8Array): void {
    const own = ++this.#last
    this.#known.set(asker, { process: asker.name, text })
    const missing = new Set(this.#all().filter(process => process !== asker && process.serving))
    const timer = setTimeout(() => { this.#finish(own) }, PATIENCE)
    this.#open.set(own, { for: asker, request, missing, answers: new Map(), timer })
    for (const process of missing) process.send({ kind: 'collect', request: own })
    if (missing.size === 0) this.#finish(own)
  }

  add (from: Collected, request: number, text: Uint8Array): void {
    const collection = this.#open.get(request)
    if (collection?.missing.delete(from) !== true) return
    const exposition = { process: from.name, text }
    this.#known.set(from, exposition)
    collection.answers.set(from, exposition)
    if (collection.missing.size === 0) this.#finish(request)
  }

  ended (process: Collected): void {
    const known = this.#known.get(process)
    this.#known.delete(process)
    if (known !== undefined) this.#ended = countersOf(this.#ended === undefined ? [known] : [this.#ended, known])
    for (const [own, { missing, answers }] of this.#open) {
      answers.delete(process) // #ended now includes its counters
      if (missing.delete(process) && missing.size === 0) this.#finish(own)
    }
  }

  #finish (own: number): void {
    const collection = this.#open.get(own)
    if (collection === undefined) return
    this.#open.delete(own)
    clearTimeout(collection.timer)
    const { for: asker, request, missing, answers } = collection
    const late = [...missing].flatMap(process => this.#known.get(process) ?? []).map(known =>
      ({ ...known, countersOnly: true }))
    asker.send({
      kind: 'collected', request,
      expositions: [...answers.values(), ...late, ...this.#ended === undefined ? [] : [this.#ended]]
    })
  }
}

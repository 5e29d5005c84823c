/** Collects the metrics of all processes for the one that answers a scrape. Leaves out processes that do not answer in time. */
import type { KeptProcess } from './kept-process.js'
import type { Exposition } from '../../plugins/metrics/merged.js'

/** Maximum milliseconds to wait for the processes, less than a scraper waits. */
const PATIENCE = 2000

interface Collection {
  readonly for: KeptProcess
  /** Number of the request in the process that asked. */
  readonly request: number
  readonly missing: Set<KeptProcess>
  readonly expositions: Exposition[]
  readonly timer: NodeJS.Timeout
}

export class Collections {
  readonly #all: () => KeptProcess[]
  readonly #open = new Map<number, Collection>()
  #last = 0

  constructor (all: () => KeptProcess[]) { this.#all = all }

  begin (asker: KeptProcess, request: number): void {
    const own = ++this.#last
    const missing = new Set(this.#all().filter(one => one !== asker && one.serving && !one.ended))
    const timer = setTimeout(() => { this.#finish(own) }, PATIENCE)
    this.#open.set(own, { for: asker, request, missing, expositions: [], timer })
    for (const one of missing) one.send({ kind: 'collect', request: own })
    if (missing.size === 0) this.#finish(own)
  }

  add (from: KeptProcess, request: number, text: Uint8Array): void {
    const collection = this.#open.get(request)
    if (collection?.missing.delete(from) !== true) return
    collection.expositions.push({ process: from.name, text })
    if (collection.missing.size === 0) this.#finish(request)
  }

  #finish (own: number): void {
    const collection = this.#open.get(own)
    if (collection === undefined) return
    this.#open.delete(own)
    clearTimeout(collection.timer)
    collection.for.send({ kind: 'collected', request: collection.request, expositions: collection.expositions })
  }
}

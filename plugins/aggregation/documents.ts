/**
 * OpenAPI documents of extension servers. They are fetched when a client asks for the merged ones, at most once a
 * minute each; a client waits only for documents that were never fetched. A server whose document is broken, too large
 * or late is left out, or described by its last good one.
 */
import type { RegisteredService, RegisteredServices } from '../../controllers/aggregation/registered-services.js'
import { specOf, type RemoteSpec } from '../../schemas/openapi/remote.js'
import type { Steps } from '../../schemas/steps.js'
import { runStepsWithinBudget, nextTurn } from '../../event-loop/turns.js'
import type { Fetch } from './fetch.js'
import { packed, samePacked, unpacked, type PackedSpec } from './packed-spec.js'
import { OWN_NAMES, type Naming } from '../../schemas/naming.js'
import { discoveryPath } from './target.js'

const FRESH_MS = 60_000
/** How long a client waits for documents that are not known yet. */
const WAIT_MS = 3000
const AT_ONCE = 8
/** Maximum bytes of all documents together. */
const MAX_TOTAL_BYTES = 8 * 1024 * 1024
const MAX_URL = 1000

export interface Documents {
  /** Documents to merge into the Swagger document, in the order of priorities. */
  readonly specs: () => Array<Steps<RemoteSpec>>
  /** Addresses of OpenAPI 3.0 documents, by `apis/GROUP/VERSION` under our names. */
  readonly paths: ReadonlyMap<string, string>
}

const NONE: Documents = { specs: () => [], paths: new Map() }

/** The cached documents of one server. */
interface CachedDocuments {
  readonly service: RegisteredService
  triedAt: number
  settled: boolean
  etag: string
  spec: PackedSpec | undefined
  url: string | undefined
}

export interface DocumentsOptions {
  readonly services: RegisteredServices
  readonly fetch: Fetch
  /** As in `Routing`. */
  readonly naming: Naming
  readonly failed: (name: string, error: unknown) => void
}

export class RemoteDocuments {
  readonly #options: DocumentsOptions
  readonly #known = new Map<string, CachedDocuments>()
  readonly #due: CachedDocuments[] = []
  #running = 0
  #current = NONE
  #changed = false
  readonly #waiting = new Set<() => void>()

  constructor (options: DocumentsOptions) { this.#options = options }

  /** Returns the same object until a document changes. */
  async current (): Promise<Documents> {
    const services = this.#services()
    this.#drop(services)
    if (services.length === 0) return this.#made()
    const now = performance.now()
    for (const service of services) {
      let known = this.#known.get(service.name)
      if (known === undefined) {
        this.#known.set(service.name, known = {
          service, triedAt: -Infinity, settled: false, etag: '', spec: undefined, url: undefined
        })
      }
      if (now - known.triedAt < FRESH_MS) continue
      known.triedAt = now
      this.#due.push(known)
    }
    this.#begin()
    await this.#settled()
    return this.#made()
  }

  #services (): RegisteredService[] {
    return [...this.#options.services.byName.values()]
      .filter(({ available, group, version, remote }) => available && remote !== undefined &&
        this.#options.services.find(group, version) !== undefined)
      .sort((one, other) => other.groupPriority - one.groupPriority || (one.name < other.name ? -1 : 1))
  }

  /** Forgets group versions that are no longer served, or that another server serves now. */
  #drop (services: readonly RegisteredService[]): void {
    const served = new Map(services.map(({ name, fingerprint }) => [name, fingerprint]))
    for (const [name, { service: { fingerprint } }] of this.#known) {
      if (served.get(name) === fingerprint) continue
      this.#known.delete(name)
      this.#changed = true
    }
  }

  #begin (): void {
    while (this.#running < AT_ONCE) {
      const known = this.#due.shift()
      if (known === undefined) return
      this.#running++
      this.#update(known).catch((error: unknown) => { this.#options.failed(known.service.name, error) }).finally(() => {
        known.settled = true
        this.#running--
        for (const done of [...this.#waiting]) done()
        this.#begin()
      })
    }
  }

  /** Resolves when each server was tried once, or after a while. */
  async #settled (): Promise<void> {
    const isPending = (): boolean => [...this.#known.values()].some(({ settled }) => !settled)
    if (!isPending()) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(finish, WAIT_MS)
      const check = (): void => { if (!isPending()) finish() }
      const waiting = this.#waiting
      function finish (): void {
        clearTimeout(timer)
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
    })
  }

  async #update (known: CachedDocuments): Promise<void> {
    const { service: { remote } } = known
    if (remote === undefined) return
    const root = discoveryPath(remote, this.#options.naming)
    const { status, etag, body } = await this.#options
      .fetch(remote, '/openapi/v2', known.spec === undefined ? '' : known.etag)
    if (status === 200) {
      await nextTurn()
      const document = JSON.parse(body.toString()) as unknown
      await nextTurn()
      const spec = await runStepsWithinBudget(packed(await runStepsWithinBudget(specOf(document, root))))
      if (!samePacked(spec, known.spec)) this.#changed = true
      Object.assign(known, { etag, spec })
    } else if (status !== 304 && status !== 404) throw new Error(`/openapi/v2 was answered with ${status}`)
    const index = await this.#options.fetch(remote, '/openapi/v3', '')
    if (index.status === 404) return
    if (index.status !== 200) throw new Error(`/openapi/v3 was answered with ${index.status}`)
    const url = addressIn(JSON.parse(index.body.toString()), root.slice(1))
    if (url === known.url) return
    known.url = url
    this.#changed = true
  }

  #made (): Documents {
    if (!this.#changed) return this.#current
    this.#changed = false
    let left = MAX_TOTAL_BYTES
    const known = this.#services().flatMap(({ name }) => this.#known.get(name) ?? [])
    const specs = known.flatMap(({ spec }) => {
      if (spec === undefined || spec.length > left) return []
      left -= spec.length
      return [spec]
    })
    const paths = known.flatMap(({ service, url }) =>
      url === undefined ? [] : [[discoveryPath(service, OWN_NAMES).slice(1), url] as const])
    this.#current = { specs: () => specs.map(unpacked), paths: new Map(paths) }
    return this.#current
  }
}

/** The address of a document in an index; undefined if it is not below `/openapi/v3/`. */
function addressIn (index: unknown, name: string): string | undefined {
  const { paths } = (index ?? {}) as { paths?: Partial<Record<string, { serverRelativeURL?: unknown }>> }
  const url = typeof paths === 'object' && paths !== null && Object.hasOwn(paths, name)
    ? paths[name]?.serverRelativeURL
    : undefined
  return typeof url === 'string' && url.length <= MAX_URL &&
    (url === `/openapi/v3/${name}` || url.startsWith(`/openapi/v3/${name}?`))
    ? url
    : undefined
}

/**
 * OpenAPI documents of extension servers. A server whose document is broken, too large or late is left out, or
 * described by its last good one.
 */
import type { RegisteredService, RegisteredServices } from '../../controllers/aggregation/registered-services.js'
import { parseInPieces } from '../../schemas/codec/json/parse-pieces.js'
import { specOf, type RemoteSpec } from '../../schemas/openapi/remote.js'
import type { Steps } from '../../schemas/steps.js'
import { runStepsWithinBudget } from '../../event-loop/turns.js'
import type { Fetch } from './fetch.js'
import { packed, samePacked, unpacked, type PackedSpec } from './packed-spec.js'
import { Refreshed } from './refreshed.js'
import { discoveryPath } from './target.js'

/** Maximum bytes of all documents together. */
const MAX_TOTAL_BYTES = 8 * 1024 * 1024
/** List items and object members of a document, several times those of a large one of `MAX_BYTES`. */
const MAX_DOCUMENT_VALUES = 200_000
const MAX_URL = 1000

export interface Documents {
  /** Documents to merge into the Swagger document, in the order of priorities. */
  readonly specs: () => Array<Steps<RemoteSpec>>
  /** Addresses of OpenAPI 3.0 documents, by `apis/GROUP/VERSION` under our names. */
  readonly paths: ReadonlyMap<string, string>
}

const NONE: Documents = { specs: () => [], paths: new Map() }

/** The documents of one server. */
interface Known {
  etag: string
  spec: PackedSpec | undefined
  url: string | undefined
}

export interface DocumentsOptions {
  readonly services: RegisteredServices
  readonly fetch: Fetch
  /** A path as extension servers know it. */
  readonly shownPath: (own: string) => string
  readonly failed: (name: string, error: unknown) => void
}

export class RemoteDocuments {
  readonly #options: DocumentsOptions
  readonly #known: Refreshed<Known>
  #current = NONE

  constructor (options: DocumentsOptions) {
    this.#options = options
    this.#known = new Refreshed<Known>({
      services: () => this.#services(),
      initial: () => ({ etag: '', spec: undefined, url: undefined }),
      update: (service, known) => this.#update(service, known),
      failed: options.failed
    })
  }

  /** Returns the same object until a document changes. */
  async current (): Promise<Documents> {
    await this.#known.current()
    return this.#made()
  }

  #services (): RegisteredService[] {
    return [...this.#options.services.byName.values()]
      .filter(({ available, group, version, remote }) => available && remote !== undefined &&
        this.#options.services.find(group, version) !== undefined)
      .sort((one, other) => other.groupPriority - one.groupPriority || (one.name < other.name ? -1 : 1))
  }

  async #update ({ remote }: RegisteredService, known: Known): Promise<void> {
    if (remote === undefined) return
    const root = this.#options.shownPath(discoveryPath(remote))
    const { status, etag, body } = await this.#options
      .fetch(remote, '/openapi/v2', known.spec === undefined ? '' : known.etag)
    if (status === 200) {
      const document = await runStepsWithinBudget(parseInPieces(body, MAX_DOCUMENT_VALUES))
      const spec = await runStepsWithinBudget(packed(await runStepsWithinBudget(specOf(document, root))))
      if (!samePacked(spec, known.spec)) this.#known.changed = true
      Object.assign(known, { etag, spec })
    } else if (status !== 304 && status !== 404) throw new Error(`/openapi/v2 was answered with ${status}`)
    const index = await this.#options.fetch(remote, '/openapi/v3', '')
    if (index.status === 404) return
    if (index.status !== 200) throw new Error(`/openapi/v3 was answered with ${index.status}`)
    const url = addressIn(await runStepsWithinBudget(parseInPieces(index.body)), root.slice(1))
    if (url === known.url) return
    known.url = url
    this.#known.changed = true
  }

  #made (): Documents {
    if (!this.#known.changed) return this.#current
    this.#known.changed = false
    let left = MAX_TOTAL_BYTES
    const answered = this.#services().flatMap(service => {
      const value = this.#known.valueOf(service.name)
      return value === undefined ? [] : [{ service, ...value }]
    })
    const specs = answered.flatMap(({ spec }) => {
      if (spec === undefined || spec.length > left) return []
      left -= spec.length
      return [spec]
    })
    const paths = answered.flatMap(({ service, url }) =>
      url === undefined ? [] : [[discoveryPath(service).slice(1), url] as const])
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

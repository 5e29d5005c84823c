/**
 * Resources of extension servers, for the document of all groups. They are asked for that document of their own, else
 * the old way. What a server said last stays listed while it does not answer, as stale.
 */
import type { RegisteredService, RegisteredServices } from '../../controllers/aggregation/registered-services.js'
import {
  APIVersionDiscovery, type APIVersionDiscovery as Version
} from '../../schemas/api/apidiscovery/v2.js'
import { parseInPieces } from '../../schemas/codec/json/parse-pieces.js'
import { decode } from '../../schemas/language/decode.js'
import { APIResourceList } from '../../schemas/meta/discovery.js'
import { nextTurn, runStepsWithinBudget } from '../../event-loop/turns.js'
import { discovered, withGroups } from '../../registry/discovered-resources.js'
import type { Fetch } from './fetch.js'
import { Refreshed } from './refreshed.js'
import { discoveryPath } from './target.js'

type Resources = NonNullable<Version['resources']>

/** What is known of a group version of another server; another object when it changes. */
export interface RemoteVersion {
  readonly resources: Resources
  readonly isFresh: boolean
}

export interface RemoteVersions {
  /** Undefined for what no extension server serves. */
  readonly of: (group: string, version: string) => RemoteVersion | undefined
}

interface Known { version: RemoteVersion }

const UNKNOWN: RemoteVersion = { resources: [], isFresh: false }

export interface DiscoveryOptions {
  readonly services: RegisteredServices
  /** Asks for the document of all groups, or else for what the path has always had. */
  readonly fetch: Fetch
  /** A group as extension servers know it, or back. */
  readonly shownGroup: (name: string) => string
  readonly failed: (name: string, error: unknown) => void
}

export class RemoteDiscovery {
  readonly #options: DiscoveryOptions
  readonly #known: Refreshed<Known>
  /** By name of the APIService. */
  #shown = new Map<string, RemoteVersion>()
  #current: RemoteVersions = { of: () => undefined }

  constructor (options: DiscoveryOptions) {
    this.#options = options
    this.#known = new Refreshed<Known>({
      services: () => this.#services().filter(({ available }) => available),
      initial: () => ({ version: UNKNOWN }),
      update: async (service, known) => {
        const resources = await this.#ask(service)
        if (known.version.isFresh && JSON.stringify(resources) === JSON.stringify(known.version.resources)) return
        known.version = { resources, isFresh: true }
      },
      failed: (name, error, known) => {
        known.version = { ...known.version, isFresh: false }
        options.failed(name, error)
      }
    })
  }

  /** Returns the same object until something changes. */
  async current (): Promise<RemoteVersions> {
    await this.#known.current()
    const shown = new Map(this.#services().map(({ name }) => [name, this.#versionOf(name)]))
    if (shown.size !== this.#shown.size || [...shown].some(([name, version]) => this.#shown.get(name) !== version)) {
      this.#shown = shown
      this.#current = {
        of: (group, version) => {
          const service = this.#options.services.find(group, version)
          return service && shown.get(service.name)
        }
      }
    }
    return this.#current
  }

  /** What is asked no longer, as its service is not available, stays as stale. */
  #versionOf (name: string): RemoteVersion {
    const known = this.#known.valueOf(name)?.version
    if (known !== undefined) return known
    const before = this.#shown.get(name) ?? UNKNOWN
    return before.isFresh ? { ...before, isFresh: false } : before
  }

  #services (): RegisteredService[] {
    return [...this.#options.services.byName.values()].filter(({ group, version, remote }) =>
      remote !== undefined && this.#options.services.find(group, version) !== undefined)
  }

  async #ask (service: RegisteredService): Promise<Resources> {
    const { group, version, remote } = service
    const { shownGroup, fetch } = this.#options
    if (remote === undefined) return []
    const { status, body } = await fetch(remote, '/apis', '')
    if (status === 200) {
      const document = await runStepsWithinBudget(parseInPieces(body))
      const { kind, items } = (document ?? {}) as { kind?: unknown, items?: unknown }
      if (kind === 'APIGroupDiscoveryList') {
        return withGroups(resourcesIn(items, shownGroup(group), version), shownGroup)
      }
    }
    const path = discoveryPath(service)
    const old = await fetch(remote, path, '')
    if (old.status !== 200) throw new Error(`${path} was answered with ${old.status}`)
    const list = await runStepsWithinBudget(parseInPieces(old.body))
    await nextTurn()
    const { resources = [] } = decode(APIResourceList, list).object
    return withGroups(discovered(resources), shownGroup)
  }
}

/** Of one group version in a server's own document. @throws StatusError, TypeError if it is none */
function resourcesIn (items: unknown, group: string, version: string): Resources {
  if (!Array.isArray(items)) throw new TypeError('the document of all groups has no items')
  const of = items.find((item: { metadata?: { name?: unknown } } | null) => item?.metadata?.name === group) as
    { versions?: unknown } | undefined
  const versions: unknown[] = Array.isArray(of?.versions) ? of.versions : []
  const named = versions.find(item => (item as { version?: unknown } | null)?.version === version)
  return named === undefined ? [] : decode(APIVersionDiscovery, named).object.resources ?? []
}

/**
 * The document of all groups, versions and resources, which clients ask for instead of one document for each group
 * version. What it says of a group is made again when that changes; the rest is joined of kept bytes.
 */
import type { DocumentAnswer } from '../answers/answer.js'
import { textFormOf } from '../answers/formats/choice.js'
import { askerOf } from '../answers/formats/format.js'
import { textOf } from '../answers/formats/text.js'
import type { ServedRequest } from '../answers/request-context.js'
import { runStepsWithinBudget } from '../event-loop/turns.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { APIGroupDiscovery, type APIVersionDiscovery } from '../schemas/api/apidiscovery/v2.js'
import { encodeMessage, envelopeOf, sizeOfItem, writeItem } from '../schemas/codec/protobuf/encode.js'
import { PROTOBUF_TYPE } from '../schemas/media-types.js'
import { viewOf, type View } from '../answers/view.js'
import type { Steps } from '../schemas/steps.js'
import { CachedDocument } from './cached-document.js'
import { apiResources, discovered, withGroups } from '../registry/discovered-resources.js'
import type { RoutedServer } from './needs.js'

type Root = '/api' | '/apis'

/** Of extension servers; a new value when they have changed. */
type RemoteVersions = Awaited<ReturnType<RoutedServer['orchAggregation']['discovery']>>

/** What is said of a group, and of what it was made. */
interface Group {
  readonly of: readonly unknown[]
  /** With a comma before it. */
  readonly json: Buffer
  /** Made for the first who asks. */
  protobuf: Buffer | undefined
  readonly object: Pick<APIGroupDiscovery, 'versions'> & { readonly metadata: { readonly name?: string } }
}

export class AggregatedDiscovery {
  readonly #fastify: RoutedServer
  readonly #views = new Map<View, Overview>()

  constructor (fastify: RoutedServer) { this.#fastify = fastify }

  async answer (request: ServedRequest, root: Root): Promise<DocumentAnswer> {
    const { orch } = request
    const { accept: { asVersion = '' } = {} } = orch
    const view = viewOf(orch)
    const remote = await this.#fastify.orchAggregation.discovery()
    let overview = this.#views.get(view)
    if (overview === undefined) this.#views.set(view, overview = new Overview(this.#fastify, view))
    const documents = await overview.current(remote)
    const isProtobuf = orch.accept?.format === 'protobuf'
    const document = documents.of(root, asVersion, isProtobuf)
    const json = isProtobuf ? documents.of(root, asVersion, false) : document
    const format = textFormOf(orch.accept)
    const type = isProtobuf ? PROTOBUF_TYPE : format.type
    const { hash } = json
    const shown = isProtobuf || format.slow === undefined
      ? document
      : new CachedDocument(await textOf(format, json.bytes, () => askerOf(orch)), { hash, changesOften: true })
    const [group = '', version = ''] = asVersion.split('/')
    const mediaType = `${view.mediaType(type)};g=${group};v=${version};as=APIGroupDiscoveryList`
    const answer = await shown.answer(request, mediaType, isExactly)
    return { ...answer, headers: { 'cache-control': 'public', ...answer.headers }, recorded: json.bytes }
  }
}

type Server = Pick<RoutedServer, 'orchResources' | 'orchAggregation'>

/** The groups under the names of a client. */
export class Overview {
  readonly #server: Server
  readonly #view: View
  /** How many groups were written. */
  written = 0
  #groups = new Map<string, Group>()
  #state: readonly unknown[] = []
  #documents: Promise<Documents> | undefined

  constructor (server: Server, view: View) {
    this.#server = server
    this.#view = view
  }

  /** The documents of what is served now. */
  async current (remote: RemoteVersions): Promise<Documents> {
    const { orchResources: resources, orchAggregation: aggregation } = this.#server
    const state = [resources.generation, aggregation.groups(), remote]
    if (this.#documents !== undefined && state.every((part, at) => part === this.#state[at])) {
      return await this.#documents
    }
    this.#state = state
    const before = this.#documents ?? Promise.resolve()
    const documents = before.catch(() => {}).then(() => runStepsWithinBudget(this.#make(remote)))
    this.#documents = documents
    documents.catch(() => { if (this.#documents === documents) this.#documents = undefined })
    return await documents
  }

  * #make (remote: RemoteVersions): Steps<Documents> {
    const { orchResources: resources, orchAggregation: aggregation } = this.#server
    const groups = new Map<string, Group>()
    for (const [name, versions] of aggregation.groups()) {
      const parts = versions.map(version => {
        const stores = resources.servedIn(name, version)
        return stores.length > 0 ? { stores } : remote.of(name, version)
      })
      const of = parts.flatMap((part, at) => [versions[at], isOwn(part) ? part.stores : part])
      const known = this.#groups.get(name)
      if (known !== undefined && known.of.length === of.length && known.of.every((part, at) => part === of[at])) {
        groups.set(name, known)
        continue
      }
      this.written++
      const object = {
        metadata: name === '' ? {} : { name: this.#view.group(name) },
        versions: versions.map((version, at): APIVersionDiscovery => {
          const part = parts[at]
          const [resources, isFresh] = isOwn(part)
            ? [this.#resourcesOf(part.stores), true]
            : [part?.resources ?? [], part?.isFresh === true]
          return {
            version, resources: withGroups(resources, this.#view.group), freshness: isFresh ? 'Current' : 'Stale'
          }
        })
      }
      groups.set(name, { of, object, json: Buffer.from(`,${JSON.stringify(object)}`), protobuf: undefined })
      yield
    }
    this.#groups = groups
    return new Documents(groups)
  }

  #resourcesOf (stores: readonly ResourceStore[]): NonNullable<APIVersionDiscovery['resources']> {
    return discovered(apiResources(stores, store => this.#server.orchResources.subresourcesOf(store)))
  }
}

/** What this server serves of a version, not another one. */
interface Own { readonly stores: readonly ResourceStore[] }
const isOwn = (part: object | undefined): part is Own => part !== undefined && 'stores' in part

/** Clients of discovery repeat the tag that they got, alone. */
const isExactly = (header: string | undefined, etag: string): boolean => header === etag

/** By root, apiVersion and form. */
class Documents {
  readonly #groups: ReadonlyMap<string, Group>
  readonly #made = new Map<string, CachedDocument>()

  constructor (groups: ReadonlyMap<string, Group>) { this.#groups = groups }

  of (root: Root, apiVersion: string, isProtobuf: boolean): CachedDocument {
    const key = `${root} ${apiVersion} ${isProtobuf}`
    let document = this.#made.get(key)
    if (document === undefined) {
      const groups = [...this.#groups].filter(([name]) => (name === '') === (root === '/api')).map(([, group]) => group)
      document = isProtobuf
        ? new CachedDocument(
            protobufOf(groups, apiVersion), { hash: this.of(root, apiVersion, false).hash, changesOften: true }
          )
        : new CachedDocument(jsonOf(groups, apiVersion), { changesOften: true })
      this.#made.set(key, document)
    }
    return document
  }
}

const KIND = 'APIGroupDiscoveryList'

const jsonOf = (groups: readonly Group[], apiVersion: string): Buffer => Buffer.concat([
  Buffer.from(`{"kind":"${KIND}","apiVersion":"${apiVersion}","metadata":{},"items":[`),
  ...groups.map(({ json }, at) => at === 0 ? json.subarray(1) : json), Buffer.from(']}\n')
])

function protobufOf (groups: readonly Group[], apiVersion: string): Buffer {
  const items = groups.map(group =>
    group.protobuf ??= encodeMessage(APIGroupDiscovery, group.object as APIGroupDiscovery))
  const metadata = Buffer.from([0x0a, 0]) // field 1, an empty ListMeta
  const body = Buffer.alloc(metadata.length + items.reduce((sum, item) => sum + sizeOfItem(item), 0))
  let at = metadata.copy(body)
  for (const item of items) at = writeItem(body, at, item)
  return envelopeOf({ apiVersion, kind: KIND }, body)
}

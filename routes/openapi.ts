/**
 * OpenAPI: `/openapi/v2` is one document; `/openapi/v3` lists the document of each group version under an address with
 * its hash, so that clients can cache it. Those of extension servers are merged and listed. Documents are JSON, or the
 * protobuf form that upstream clients prefer.
 */
import type { FastifyReply } from 'fastify'
import { served, type ServedRequest } from '../answers/request-context.js'
import { sendLater } from '../answers/send.js'
import type { Naming } from '../schemas/naming.js'
import { releaseVersion } from '../schemas/meta/release.js'
import { JSON_TYPE } from '../schemas/media-types.js'
import type { Representation } from '../schemas/resource.js'
import { documentJson, OpenApi3 } from '../schemas/openapi/v3.js'
import { swaggerJson, type OpenApiInfo } from '../schemas/openapi/v2.js'
import { noSuchPath, notAcceptable } from '../schemas/status.js'
import type { Clock } from '../event-loop/clock.js'
import { runStepsWithinBudget } from '../event-loop/turns.js'
import { CachedDocument } from './cached-document.js'
import { discoveryPaths } from './issuer-discovery.js'
import type { RoutedServer } from './needs.js'

/** Newer clients request both spellings but accept only this one as Content-Type. */
const PROTOBUF_V2 = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
const V2_FORMATS: ReadonlyMap<string, Format> = new Map([
  [PROTOBUF_V2, 'protobuf'], ['application/com.github.proto-openapi.spec.v2@v1.0+protobuf', 'protobuf'],
  [JSON_TYPE, 'json']
])
const PROTOBUF_V3 = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'
const V3_FORMATS: ReadonlyMap<string, Format> = new Map([
  [JSON_TYPE, 'json'], [PROTOBUF_V3, 'protobuf'],
  ['application/com.github.proto-openapi.spec.v3@v1.0+protobuf', 'protobuf']
])
const YEAR_SECONDS = 365 * 24 * 60 * 60

/** Of extension servers; a new value when they have changed. */
type RemoteDocuments = Awaited<ReturnType<RoutedServer['orchAggregation']['documents']>>

type Format = 'json' | 'protobuf'

function formatOf (request: ServedRequest, formats: ReadonlyMap<string, Format>): Format {
  const header = request.headers.accept ?? ''
  if (header.trim() === '') return 'json'
  for (const clause of header.split(',')) {
    const type = (clause.split(';', 1)[0] ?? '').trim().toLowerCase()
    const format = type === '*/*' || type === 'application/*' ? 'json' : formats.get(type)
    if (format !== undefined) return format
  }
  throw notAcceptable([...formats.keys()])
}

/** Documents of OpenAPI 3, by name. */
interface Kept {
  readonly json: ReadonlyMap<string, CachedDocument>
  readonly protobuf: ReadonlyMap<string, Promise<CachedDocument>>
}

interface GenerationOptions {
  readonly resources: readonly Representation[]
  readonly served: Pick<OpenApiInfo, 'issuer' | 'gates'>
  readonly remote: RemoteDocuments
  readonly naming: Naming
  readonly clock: Clock
  /** Those of which nothing has changed stay what they are. */
  readonly before: Kept | undefined
}

/** The documents for one set of served resources, and of what extension servers say. */
class Generation {
  readonly #clock: Clock
  readonly #before: Kept | undefined
  readonly #remote: RemoteDocuments
  readonly #resources: readonly Representation[]
  readonly #info: OpenApiInfo
  readonly #naming: Naming
  readonly #v2 = new Map<Format, Promise<CachedDocument>>()
  readonly #v3 = new Map<string, CachedDocument>()
  readonly #v3Protobuf = new Map<string, Promise<CachedDocument>>()
  readonly documents: OpenApi3
  #index: Promise<CachedDocument> | undefined

  constructor ({ resources, served, remote, naming, clock, before }: GenerationOptions) {
    this.#clock = clock
    this.#before = before
    this.#remote = remote
    this.#resources = resources
    this.#naming = naming
    this.#info = { version: releaseVersion(served.gates?.release), ...served, naming }
    this.documents = new OpenApi3(resources, this.#info)
  }

  /** What the next generation may keep; of the documents that it has nobody may have asked for in this one. */
  kept (): Kept {
    const has = ([name]: readonly [string, unknown]): boolean => names.has(name)
    const names = new Set(this.documents.names)
    const { json = [], protobuf = [] } = this.#before ?? {}
    return {
      json: new Map([...json, ...this.#v3].filter(has)),
      protobuf: new Map([...protobuf, ...this.#v3Protobuf].filter(has))
    }
  }

  #document (bytes: Buffer, hash?: string): CachedDocument {
    return new CachedDocument(bytes, { modified: this.#clock.wall(), ...(hash === undefined ? {} : { hash }) })
  }

  v2 (format: Format): Promise<CachedDocument> {
    let made = this.#v2.get(format)
    if (made === undefined) {
      this.#v2.set(format, made = this.#make(format))
    }
    return made
  }

  /** protobufjs is loaded with the first request for its form. */
  async #make (format: Format): Promise<CachedDocument> {
    const write = format === 'json' ? swaggerJson : (await import('../schemas/openapi/v2-protobuf.js')).swaggerProtobuf
    return this.#document(await runStepsWithinBudget(write(this.#resources, this.#info, this.#remote.specs())))
  }

  v3 (name: string): CachedDocument | undefined {
    let made = this.#v3.get(name)
    const parts = made === undefined ? this.documents.parts(name) : undefined
    if (parts === undefined) return made
    const written = this.#document(documentJson(parts))
    const before = this.#before?.json.get(name)
    made = before?.hash === written.hash ? before : written
    this.#v3.set(name, made)
    return made
  }

  /** Its hash is that of its JSON. */
  v3Protobuf (name: string, { hash }: CachedDocument): Promise<CachedDocument> {
    let made = this.#v3Protobuf.get(name)
    if (made === undefined) this.#v3Protobuf.set(name, made = this.#makeV3(name, hash))
    return made
  }

  async #makeV3 (name: string, hash: string): Promise<CachedDocument> {
    const before = await this.#before?.protobuf.get(name)?.catch(() => undefined)
    if (before?.hash === hash) return before
    const { documentProtobuf } = await import('../schemas/openapi/v3-protobuf.js')
    const parts = this.documents.parts(name)
    if (parts === undefined) throw new TypeError(`there is no document ${name}`)
    return this.#document(await runStepsWithinBudget(documentProtobuf(parts)), hash)
  }

  /** Builds all documents, because their addresses contain their hashes. */
  index (): Promise<CachedDocument> {
    this.#index ??= runStepsWithinBudget(this.#paths())
      .then(paths => this.#document(Buffer.from(JSON.stringify({ paths }))))
    return this.#index
  }

  * #paths (): Generator<undefined, Record<string, { serverRelativeURL: string }>> {
    const paths: Record<string, { serverRelativeURL: string }> = {}
    for (const name of this.documents.names.sort()) {
      const hash = this.v3(name)?.hash
      const shown = renamed(name, this.#naming)
      if (hash !== undefined) paths[shown] = { serverRelativeURL: addressOf(shown, hash) }
      yield
    }
    for (const [name, serverRelativeURL] of this.#remote.paths) {
      paths[renamed(name, this.#naming)] ??= { serverRelativeURL }
    }
    return paths
  }
}

/** `apis/GROUP/VERSION` by its other name. */
const renamed = (name: string, naming: Naming): string => naming.path(`/${name}`).slice(1)

const addressOf = (name: string, hash: string): string => `/openapi/v3/${name}?hash=${hash}`

export default async function openapi (fastify: RoutedServer): Promise<void> {
  const {
    orchClock: clock, orchResources: resources, orchAggregation: aggregation, orchSettings: { featureGates: gates },
    orchAuthentication: { tokens: serviceAccountTokens }
  } = fastify
  let generation = -1
  let remote: RemoteDocuments | undefined
  const current = new Map<Naming, Generation>()
  const before = new Map<Naming, Kept>()
  const settings = { issuer: discoveryPaths(serviceAccountTokens.issuer).length > 0, gates }
  const currentGeneration = async ({ orch: { naming } }: ServedRequest): Promise<Generation> => {
    const documents = await aggregation.documents()
    if (generation !== resources.generation || remote !== documents) {
      generation = resources.generation
      remote = documents
      for (const [naming, generated] of current) before.set(naming, generated.kept())
      current.clear()
    }
    let generated = current.get(naming)
    if (generated === undefined) {
      current.set(naming, generated = new Generation({
        resources: resources.served()
          .map(store => ({ ...store.representation, subresources: resources.subresourcesOf(store) })),
        served: settings, remote: documents, naming, clock, before: before.get(naming)
      }))
    }
    return generated
  }
  const get = (url: string, handler: (request: ServedRequest, reply: FastifyReply) => Promise<FastifyReply>): void => {
    fastify.route({
      method: 'GET', url, exposeHeadRoute: false,
      handler: (request, reply) => handler(served(request), reply)
    })
  }

  get('/openapi/v2', async (request, reply) => {
    const format = formatOf(request, V2_FORMATS)
    return (await (await currentGeneration(request)).v2(format))
      .send(request, reply, format === 'json' ? JSON_TYPE : PROTOBUF_V2)
  })
  if (!gates.enabled('OpenAPIV3')) return
  get('/openapi/v3', async (request, reply) => {
    return (await (await currentGeneration(request)).index()).send(request, reply, JSON_TYPE)
  })
  get('/openapi/v3/*', async (request, reply) => {
    const name = (request.params as { '*': string })['*']
    const generated = await currentGeneration(request)
    const own = renamed(name, request.orch.naming)
    const document = generated.v3(own)
    if (document === undefined) {
      const service = aggregation.find(`/${name}`)
      if (service === undefined) throw noSuchPath()
      return sendLater(request, reply, aggregation.proxy(service, request))
    }
    const format = formatOf(request, V3_FORMATS)
    const hash = request.orch.query.get('hash')
    if (hash !== null) {
      if (hash !== document.hash) return reply.redirect(`${fastify.prefix}${addressOf(name, document.hash)}`, 301)
      reply.headers({
        'cache-control': 'public, immutable', expires: new Date(clock.wall() + YEAR_SECONDS * 1000).toUTCString()
      })
    }
    if (format === 'json') return document.send(request, reply, JSON_TYPE)
    return (await generated.v3Protobuf(own, document)).send(request, reply, PROTOBUF_V3)
  })
}

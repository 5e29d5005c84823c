/**
 * The OpenAPI documents for one set of served resources. Each is made for the first who asks; those of which nothing
 * has changed are the same objects in the next generation.
 */
import type { View } from '../answers/view.js'
import type { Clock } from '../event-loop/clock.js'
import { runStepsWithinBudget } from '../event-loop/turns.js'
import { releaseVersion } from '../schemas/meta/release.js'
import { swaggerJson, type OpenApiInfo } from '../schemas/openapi/v2.js'
import { documentJson, OpenApi3 } from '../schemas/openapi/v3.js'
import type { Representation } from '../schemas/resource.js'
import { CachedDocument, hashInSteps } from './cached-document.js'
import type { RoutedServer } from './needs.js'

/** Of extension servers; a new value when they have changed. */
export type RemoteDocuments = Awaited<ReturnType<RoutedServer['orchAggregation']['documents']>>

export type Format = 'json' | 'protobuf'

/** Documents of OpenAPI 3, by name. */
export interface Kept {
  readonly json: ReadonlyMap<string, Promise<CachedDocument>>
  readonly protobuf: ReadonlyMap<string, Promise<CachedDocument>>
}

interface GenerationOptions {
  readonly resources: readonly Representation[]
  readonly served: Pick<OpenApiInfo, 'issuer' | 'gates'>
  readonly remote: RemoteDocuments
  readonly view: View
  readonly clock: Clock
  /** Those of which nothing has changed stay what they are. */
  readonly before: Kept | undefined
}

/** The documents for one set of served resources, and of what extension servers say. */
export class Generation {
  readonly #clock: Clock
  readonly #before: Kept | undefined
  readonly #remote: RemoteDocuments
  readonly #resources: readonly Representation[]
  readonly #info: OpenApiInfo
  readonly #view: View
  readonly #v2 = new Map<Format, Promise<CachedDocument>>()
  readonly #v3 = new Map<string, Promise<CachedDocument>>()
  readonly #v3Protobuf = new Map<string, Promise<CachedDocument>>()
  readonly documents: OpenApi3
  #index: Promise<CachedDocument> | undefined

  constructor ({ resources, served, remote, view, clock, before }: GenerationOptions) {
    this.#clock = clock
    this.#before = before
    this.#remote = remote
    this.#resources = resources
    this.#view = view
    this.#info = { version: releaseVersion(served.gates?.release), ...served, names: view.openApi }
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

  async #document (bytes: Buffer, hash?: string): Promise<CachedDocument> {
    return new CachedDocument(bytes, {
      modified: this.#clock.wall(), hash: hash ?? await runStepsWithinBudget(hashInSteps(bytes))
    })
  }

  v2 (format: Format): Promise<CachedDocument> {
    let document = this.#v2.get(format)
    if (document === undefined) {
      this.#v2.set(format, document = this.#make(format))
    }
    return document
  }

  /** protobufjs is loaded with the first request for its form. */
  async #make (format: Format): Promise<CachedDocument> {
    const write = format === 'json' ? swaggerJson : (await import('../schemas/openapi/v2-protobuf.js')).swaggerProtobuf
    return await this.#document(await runStepsWithinBudget(write(this.#resources, this.#info, this.#remote.specs())))
  }

  /** Undefined if there is no such document. */
  v3 (name: string): Promise<CachedDocument> | undefined {
    if (!this.documents.has(name)) return undefined
    let document = this.#v3.get(name)
    if (document === undefined) this.#v3.set(name, document = this.#makeV3(name))
    return document
  }

  async #makeV3 (name: string): Promise<CachedDocument> {
    const written = await this.#document(documentJson(await runStepsWithinBudget(this.documents.parts(name))))
    const before = await this.#before?.json.get(name)?.catch(() => undefined)
    return before?.hash === written.hash ? before : written
  }

  /** Its hash is that of its JSON. */
  v3Protobuf (name: string, { hash }: CachedDocument): Promise<CachedDocument> {
    let document = this.#v3Protobuf.get(name)
    if (document === undefined) this.#v3Protobuf.set(name, document = this.#makeProtobuf(name, hash))
    return document
  }

  async #makeProtobuf (name: string, hash: string): Promise<CachedDocument> {
    const before = await this.#before?.protobuf.get(name)?.catch(() => undefined)
    if (before?.hash === hash) return before
    const { documentProtobuf } = await import('../schemas/openapi/v3-protobuf.js')
    const parts = await runStepsWithinBudget(this.documents.parts(name))
    return await this.#document(await runStepsWithinBudget(documentProtobuf(parts)), hash)
  }

  /** Builds all documents, because their addresses contain their hashes. */
  index (): Promise<CachedDocument> {
    this.#index ??= this.#paths().then(paths => this.#document(Buffer.from(JSON.stringify({ paths }))))
    return this.#index
  }

  async #paths (): Promise<Record<string, { serverRelativeURL: string }>> {
    const paths: Record<string, { serverRelativeURL: string }> = {}
    for (const name of this.documents.names.sort()) {
      const document = await this.v3(name)
      const shown = renamed(name, this.#view)
      if (document !== undefined) paths[shown] = { serverRelativeURL: addressOf(shown, document.hash) }
    }
    for (const [name, serverRelativeURL] of this.#remote.paths) {
      paths[renamed(name, this.#view)] ??= { serverRelativeURL }
    }
    return paths
  }
}

/** `apis/GROUP/VERSION` by its other name. */
export const renamed = (name: string, view: View): string => view.path(`/${name}`).slice(1)

export const addressOf = (name: string, hash: string): string => `/openapi/v3/${name}?hash=${hash}`

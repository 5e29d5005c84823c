/** The objects of a type, and parts of them, as a client asks for them. */
import { setMaxListeners } from 'node:events'
import type { ResourceStore } from '../registry/resource-store.js'
import { isObject } from '../schemas/language/values.js'
import {
  APPLY_TYPE, JSON_PATCH_TYPE, JSON_TYPE, MERGE_PATCH_TYPE, STRATEGIC_MERGE_PATCH_TYPE
} from '../schemas/media-types.js'
import { badRequest } from '../schemas/status.js'
import type {
  AnyObject, ApplyOptions, DeleteOptions, GetOptions, ListOptions, Page, Pages, PatchOptions, Schema, Selection,
  TypeName, WatchEvent, WatchOptions, Within, WriteOptions
} from './contract.js'
import { answeredObject, answeredPage } from './objects.js'
import {
  APPLY, checkOptions, CREATE, DELETE_COLLECTION, DELETE_ONE, GET, LIST, PATCH, UPDATE, WATCH
} from './options.js'
import { ask, open, type Asked, type Asker, type RequestServer } from './requests.js'
import { typeNameOf } from './types.js'
import { watchObjects } from './watch.js'

const PATCHES = { merge: MERGE_PATCH_TYPE, json: JSON_PATCH_TYPE, strategic: STRATEGIC_MERGE_PATCH_TYPE }
const PAGE = 500

type Parameters = Readonly<Record<string, string | number | boolean | undefined>>
type Method = Asked['method']
type Request = Omit<Asked, 'method' | 'store' | 'query' | 'subresource'> & { readonly query?: Parameters }

/** Who asks whom, and about objects of which type. */
interface Address { readonly server: RequestServer, readonly asker: Asker, readonly type: TypeName }

/** What the objects of a type and their subresources have in common. */
class Addressed implements Address {
  readonly server: RequestServer
  readonly asker: Asker
  readonly type: TypeName
  readonly #part: string
  /** The type of the part, if it has one of its own. */
  readonly #partType: TypeName | undefined

  constructor ({ server, asker, type }: Address, part = '', partType?: TypeName) {
    this.server = server
    this.asker = asker
    this.type = type
    this.#part = part
    this.#partType = partType
  }

  async get (name: string, options: GetOptions = {}): Promise<AnyObject> {
    checkOptions(options, GET)
    const { resourceVersion, signal } = options
    return await this.object('GET', { ...this.#named(name, options), query: { resourceVersion }, signal })
  }

  async update (object: AnyObject, options: WriteOptions = {}): Promise<AnyObject> {
    checkOptions(options, UPDATE)
    return await this.write('PUT', { ...this.#itself(object, options), contentType: JSON_TYPE }, object, options)
  }

  async patch (name: string, patch: object, options: PatchOptions = {}): Promise<AnyObject> {
    checkOptions(options, PATCH)
    const { type = 'merge', dryRun, fieldManager = this.asker.manager, fieldValidation, signal } = options
    if (!Object.hasOwn(PATCHES, type)) throw badRequest('the type of a patch is merge, json or strategic')
    const query = { dryRun: dryRunOf(dryRun), fieldManager, fieldValidation }
    return await this.object('PATCH', {
      ...this.#named(name, options), query, body: patch, contentType: PATCHES[type], signal
    })
  }

  async apply (object: AnyObject, options: ApplyOptions = {}): Promise<AnyObject> {
    checkOptions(options, APPLY)
    const target = { ...this.#itself(object, options), contentType: APPLY_TYPE, query: { force: options.force } }
    return await this.write('PATCH', target, object, options)
  }

  protected async write (
    method: Method, request: Omit<Request, 'body'>, object: AnyObject, options: WriteOptions
  ): Promise<AnyObject> {
    const { dryRun, fieldManager = this.asker.manager, fieldValidation, signal } = options
    const query = { ...request.query, dryRun: dryRunOf(dryRun), fieldManager, fieldValidation }
    const { apiVersion, kind } = this.#partType ?? this.type
    return await this.object(method, { ...request, query, body: { apiVersion, kind, ...defined(object) }, signal })
  }

  protected async object (method: Method, request: Request): Promise<AnyObject> {
    const object = await ask(this.server, this.asker, this.asked(method, request), answeredObject<AnyObject>)
    if (object === undefined) throw new TypeError('a verb has answered without an object')
    return object
  }

  protected get store (): ResourceStore { return this.server.stores.of(this.type) }

  protected asked (method: Method, { query = {}, ...request }: Request): Asked {
    holdListeners(request.signal)
    return { method, store: this.store, subresource: this.#part, ...request, query: queryOf(query) }
  }

  /** @throws StatusError 400 */
  #named (name: string, { namespace }: Within): { readonly name: string, readonly namespace: string } {
    if (typeof name !== 'string' || name === '') throw badRequest('the name of an object is needed')
    return { name, namespace: this.within(namespace) }
  }

  /** @throws StatusError 400 */
  #itself (object: AnyObject, options: Within): { readonly name: string, readonly namespace: string } {
    const { name = '', namespace } = metadataOf(object)
    const within = options.namespace ?? namespace
    return this.#named(name, within === undefined ? {} : { namespace: within })
  }

  /** The namespace of one object. @throws StatusError 400 */
  protected within (namespace = ''): string {
    const { type: { namespaced }, representation: { plural } } = this.store
    if (namespaced && namespace === '') throw badRequest(`${plural} are in namespaces: say { namespace }`)
    if (!namespaced && namespace !== '') throw badRequest(`${plural} are in no namespace`)
    return namespace
  }
}

class ObjectPart extends Addressed {
  async create (name: string, object: AnyObject, options: WriteOptions = {}): Promise<AnyObject> {
    checkOptions(options, CREATE)
    const namespace = this.within(options.namespace ?? metadataOf(object).namespace)
    return await this.write('POST', { name, namespace, contentType: JSON_TYPE }, object, options)
  }
}

export class TypedObjects extends Addressed {
  list (options: ListOptions = {}): Pages<AnyObject> {
    checkOptions(options, LIST)
    return new ListedPages(options.continue, at => this.#page(options, at))
  }

  async #page (options: ListOptions, at: string | undefined): Promise<Page<AnyObject>> {
    const { limit = PAGE, resourceVersion, resourceVersionMatch, signal } = options
    // A token has the version of its list.
    const version = at === undefined ? { resourceVersion, resourceVersionMatch } : { continue: at }
    const query = { ...selection(options), limit, ...version }
    const asked = this.asked('GET', { namespace: options.namespace ?? '', query, signal })
    return await ask(this.server, this.asker, asked, answeredPage<AnyObject>)
  }

  watch (options: WatchOptions = {}): AsyncIterableIterator<WatchEvent<AnyObject>> {
    checkOptions(options, WATCH)
    const { namespace = '', resourceVersion = '', signal } = options
    return watchObjects({
      namespace, resourceVersion, signal, closing: this.server.fastify.orchShutdown.signal,
      open: async version => {
        const query = { ...selection(options), watch: true, resourceVersion: version || undefined }
        return await open(this.server, this.asker, this.asked('GET', { namespace, query, signal }))
      }
    })
  }

  async create (object: AnyObject, options: WriteOptions = {}): Promise<AnyObject> {
    checkOptions(options, CREATE)
    const given = options.namespace ?? metadataOf(object).namespace
    const namespace = this.store.type.virtual ? given ?? '' : this.within(given)
    return await this.write('POST', { namespace, contentType: JSON_TYPE }, object, options)
  }

  async delete (name: string, options: DeleteOptions = {}): Promise<AnyObject | undefined> {
    if (typeof name !== 'string' || name === '') throw badRequest('the name of an object is needed')
    checkOptions(options, DELETE_ONE)
    const request = { ...deletion(options), name, namespace: this.within(options.namespace) }
    return await ask(this.server, this.asker, this.asked('DELETE', request), async answered => {
      const object = await answeredObject<AnyObject>(answered)
      return 'held' in answered.answer ? object : undefined
    })
  }

  async deleteCollection (options: Selection & DeleteOptions = {}): Promise<void> {
    checkOptions(options, DELETE_COLLECTION)
    const { query, ...request } = deletion(options)
    const namespace = this.within(options.namespace)
    const asked = this.asked('DELETE', { ...request, namespace, query: { ...query, ...selection(options) } })
    await ask(this.server, this.asker, asked, answeredObject)
  }

  subresource (name: string, schema?: Schema): ObjectPart {
    const type = schema === undefined ? undefined : typeNameOf(schema)
    return new ObjectPart(this, name, type)
  }
}

class ListedPages implements Pages<AnyObject> {
  readonly #first: string | undefined
  readonly #page: (at: string | undefined) => Promise<Page<AnyObject>>

  constructor (first: string | undefined, page: (at: string | undefined) => Promise<Page<AnyObject>>) {
    this.#first = first
    this.#page = page
  }

  async * [Symbol.asyncIterator] (): AsyncGenerator<Page<AnyObject>, undefined, undefined> {
    let at = this.#first
    do {
      const page = await this.#page(at)
      yield page
      at = page.metadata.continue
    } while (at !== undefined)
  }

  async all (): Promise<AnyObject[]> {
    const items: AnyObject[] = []
    for await (const page of this) for (const item of page.items) items.push(item)
    return items
  }
}

const selection = ({ labelSelector, fieldSelector }: Selection): Parameters => ({ labelSelector, fieldSelector })

const DELETE_OPTIONS = { apiVersion: 'meta.orch.io/v1', kind: 'DeleteOptions' }

function deletion (
  { dryRun, gracePeriodSeconds, propagationPolicy, preconditions, signal }: DeleteOptions
): Pick<Request, 'query' | 'body' | 'contentType' | 'signal'> {
  return {
    query: { dryRun: dryRunOf(dryRun) },
    body: { ...DELETE_OPTIONS, gracePeriodSeconds, propagationPolicy, preconditions },
    contentType: JSON_TYPE,
    signal
  }
}

/** Whoever takes another value for a dry run must not write. @throws StatusError 400 */
function dryRunOf (dryRun: unknown): 'All' | undefined {
  if (dryRun === undefined || dryRun === false) return undefined
  if (dryRun === true) return 'All'
  throw badRequest('dryRun: it is true or false')
}

/** Many requests may share a signal: each listens to it until it ends. */
function holdListeners (signal: AbortSignal | undefined): void {
  if (signal instanceof EventTarget) setMaxListeners(0, signal)
}

/** @throws StatusError 400 */
function metadataOf (object: AnyObject): NonNullable<AnyObject['metadata']> {
  if (!isObject(object)) throw badRequest('an object is needed')
  return isObject(object.metadata) ? object.metadata : {}
}

function queryOf (parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value))
  return query
}

/** Members that are undefined do not hide those before them. */
function defined (object: AnyObject): AnyObject {
  if (!isObject(object)) throw badRequest('an object is needed')
  const { apiVersion, kind, ...rest } = object
  return { ...rest, ...(apiVersion === undefined ? {} : { apiVersion }), ...(kind === undefined ? {} : { kind }) }
}

/**
 * An informer of a host: `controllers/informer.ts` with a store of objects, indexes, and handlers of objects. It reads
 * as the server itself. Its type may be defined, replaced and removed while it follows.
 */
import { nextTurn, turnIsOver } from '../event-loop/turns.js'
import { Informer, type ObjectName } from '../controllers/informer.js'
import { watch } from '../registry/verbs/watch.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { withoutNulls } from '../schemas/language/unset.js'
import { holdFieldSelector, NO_FIELDS, parseFieldSelector } from '../schemas/selectors/fields.js'
import { serviceUnavailable } from '../schemas/status.js'
import { holdLabelSelector, NO_LABELS, parseLabelSelector } from '../schemas/selectors/labels.js'
import type { Entry } from '../storage/cache/entry.js'
import { statusOf } from '../plugins/errors.js'
import { frozen } from '../storage/cache/shared.js'
import type { InformerOptions, TypeName } from './contract.js'
import { guarded } from './guarded.js'
import type { RequestServer } from './requests.js'

/** Milliseconds before a type that could not be followed is followed again. */
const RETRY_MS = 1000

interface Change { readonly store: ResourceStore, readonly entry: Entry }
interface Held { readonly revision: number, readonly object: object }

const keyOf = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`

export class TypeInformer {
  readonly #server: RequestServer
  readonly #type: TypeName
  readonly #options: InformerOptions<object>
  readonly #objects = new Map<string, Held>()
  readonly #indexes: ReadonlyMap<string, Index>
  /** Events of an object to deliver, in order; undefined: it was deleted. Making objects takes turns. */
  readonly #pending = new Map<string, Change | undefined>()
  #isTelling = false
  #telling: Promise<void> | undefined
  /** The store that is followed; undefined while the type is not served. */
  #store: ResourceStore | undefined
  #informer: Informer | undefined
  #started: Promise<void> | undefined
  #isStopped = false
  #forget: () => void = () => {}
  synced = false

  constructor (server: RequestServer, type: TypeName, options: InformerOptions<object>) {
    this.#server = server
    this.#type = type
    this.#options = options
    this.#indexes = new Map(Object.entries(options.indexes ?? {}).map(([name, valuesOf]) =>
      [name, new Index(object => this.#guarded(`the index ${name}`, () => valuesOf(object)) ?? [])]))
  }

  /** @throws StatusError; TypeError once it was stopped */
  async start (): Promise<void> {
    if (this.#server.fastify.orchShutdown.signal.aborted) throw serviceUnavailable('the server is closed')
    if (this.#isStopped) throw new TypeError('an informer that was stopped cannot start')
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined
      this.#forget()
      throw statusOf(error)
    })
    await this.#started
  }

  async #start (): Promise<void> {
    const { fastify: { orchResources: resources, orchShutdown: { signal } } } = this.#server
    const stop = (): void => { this.stop() }
    let isDue = false
    // A type that is replaced is away for a moment.
    const forgetChanges = resources.onChange(() => {
      if (isDue) return
      isDue = true
      setImmediate(() => {
        isDue = false
        if (this.synced) this.#followServed()
      })
    })
    signal.addEventListener('abort', stop)
    this.#forget = () => {
      forgetChanges()
      signal.removeEventListener('abort', stop)
    }
    await this.#follow(this.#server.stores.of(this.#type))
    this.synced = !this.#isStopped
  }

  stop (): void {
    this.#isStopped = true
    this.#pending.clear()
    this.#forget()
    this.#informer?.close()
  }

  [Symbol.dispose] (): void { this.stop() }

  get (name: string, namespace = ''): object | undefined {
    return this.#objects.get(keyOf({ namespace, name }))?.object
  }

  list (): object[] { return [...this.#objects.values()].map(({ object }) => object) }

  by (index: string, value: string): object[] {
    const known = this.#indexes.get(index)
    if (known === undefined) throw new TypeError(`there is no index ${index}`)
    return known.keys(value).flatMap(key => this.#objects.get(key)?.object ?? [])
  }

  /** The type was defined, replaced or removed. */
  #followServed (): void {
    const store = this.#server.stores.find(this.#type)
    if (this.#isStopped || store === this.#store) return
    if (store === undefined) {
      this.#leave()
      for (const key of this.#objects.keys()) this.#note(key, undefined)
      return
    }
    this.#follow(store).catch((error: unknown) => {
      this.#leave()
      this.#server.fastify.log.warn({ err: error }, `${this.#type.kind} objects cannot be followed`)
      setTimeout(() => { this.#followServed() }, RETRY_MS).unref()
    })
  }

  #leave (): void {
    this.#informer?.close()
    this.#informer = this.#store = undefined
  }

  async #follow (store: ResourceStore): Promise<void> {
    const { namespace = '', labelSelector, fieldSelector, resync = 0 } = this.#options
    const labels = labelSelector === undefined ? NO_LABELS : holdLabelSelector(parseLabelSelector(labelSelector))
    const { representation } = store
    const fields = fieldSelector === undefined
      ? NO_FIELDS
      : holdFieldSelector(parseFieldSelector(fieldSelector, representation), representation)
    const matches = (entry: Entry): boolean => labels.matches(entry.labels) && (fields.empty ||
      fields.matches(entry.fields))
    this.#leave()
    this.#store = store
    const before = new Set(this.#objects.keys())
    const informer = this.#informer = new Informer({
      store, resync,
      clock: store.clock,
      log: (message, error) => { this.#server.fastify.log.warn({ err: error }, message) },
      handlers: [{
        changed: entry => {
          const key = keyOf(entry)
          before.delete(key)
          this.#note(key, matches(entry) ? { store, entry } : undefined)
        },
        deleted: name => { this.#note(keyOf(name), undefined) }
      }],
      watch: async (of, { resourceVersion }, subscriber) =>
        await watch(of, { namespace, labels, fields, resourceVersion, partial: true }, subscriber)
    })
    await informer.start()
    if (this.#informer !== informer) return
    for (const key of before) this.#note(key, undefined)
    await this.#telling
  }

  #note (key: string, change: Change | undefined): void {
    if (this.#isStopped) return
    this.#pending.set(key, change)
    if (this.#isTelling) return
    this.#isTelling = true
    this.#telling = this.#tell() // at once, as far as the turn allows
  }

  async #tell (): Promise<void> {
    for (const [key, change] of this.#pending) { // and what is added meanwhile
      this.#pending.delete(key)
      this.#guarded('a handler', () => change === undefined ? this.#remove(key) : this.#put(key, change))
      if (turnIsOver()) await nextTurn()
    }
    this.#isTelling = false
  }

  /** @returns what the handler does: a promise is guarded, too */
  #put (key: string, { store, entry }: Change): unknown {
    const { added, updated } = this.#options.handlers ?? {}
    const before = this.#objects.get(key)
    if (before?.revision === entry.revision) {
      return (this.#options.resync ?? 0) > 0 ? updated?.(before.object, before.object) : undefined
    }
    const object = frozen(withoutNulls(store.representation.message, store.conversion.forClients(entry).copy()))
    this.#objects.set(key, { revision: entry.revision, object })
    for (const index of this.#indexes.values()) index.put(key, object)
    return before === undefined ? added?.(object) : updated?.(object, before.object)
  }

  #remove (key: string): unknown {
    const before = this.#objects.get(key)
    if (before === undefined) return undefined
    this.#objects.delete(key)
    for (const index of this.#indexes.values()) index.remove(key)
    return this.#options.handlers?.deleted?.(before.object)
  }

  #guarded<T> (what: string, run: () => T): T | undefined {
    return guarded(this.#server.fastify.log, `${what} of an informer of ${this.#type.kind}`, run)
  }
}

/** The keys of objects by the values that they have. */
class Index {
  readonly #valuesOf: (object: object) => readonly string[]
  readonly #keys = new Map<string, Set<string>>()
  readonly #values = new Map<string, readonly string[]>()

  constructor (valuesOf: (object: object) => readonly string[]) { this.#valuesOf = valuesOf }

  put (key: string, object: object): void {
    this.remove(key)
    const values = [...this.#valuesOf(object)]
    if (values.length > 0) this.#values.set(key, values)
    for (const value of values) {
      const keys = this.#keys.get(value)
      if (keys === undefined) this.#keys.set(value, new Set([key]))
      else keys.add(key)
    }
  }

  remove (key: string): void {
    for (const value of this.#values.get(key) ?? []) {
      const keys = this.#keys.get(value)
      keys?.delete(key)
      if (keys?.size === 0) this.#keys.delete(value)
    }
    this.#values.delete(key)
  }

  keys (value: string): string[] { return [...this.#keys.get(value) ?? []] }
}

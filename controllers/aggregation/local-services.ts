/**
 * Keeps an APIService for each group version that this server serves: creates missing ones, restores changed or deleted
 * ones, and removes those of custom resources once nothing is served in their version. APIServices without the label
 * are not touched. Several servers may do so concurrently.
 */
import type { APIService } from '../../schemas/api/apiregistration/apiservices.js'
import { apiVersionOf, prioritiesOf } from '../../schemas/groups.js'
import { sameValue } from '../../schemas/language/values.js'
import { isBuiltInGroup } from '../../schemas/resources.js'
import { isStorageError } from '../../storage/errors.js'
import { serverContext, type WriteContext } from '../../registry/write-context.js'
import { create } from '../../registry/verbs/create.js'
import { remove } from '../../registry/verbs/delete.js'
import { current } from '../../registry/current.js'
import { change } from '../../registry/verbs/change.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { Informer } from '../informer.js'
import { WorkQueue, type Verdict } from '../work-queue.js'
import { ignoring } from '../races.js'

export const GROUP = 'apiregistration.orch.io'
export const MANAGED = 'kube-aggregator.orch.io/automanaged'
/**
 * Marks built-in group versions. They are never removed, because another server may serve one that this server does
 * not.
 */
const ON_START = 'onstart'
const CUSTOM = 'true'

const WORKERS = 16

interface Served { readonly group: string, readonly version: string }

export class LocalServices implements Controller {
  readonly #options: ControllerOptions
  readonly #queue: WorkQueue
  readonly #closing = new AbortController()
  /** By the name of the APIService. */
  #served: ReadonlyMap<string, Served> = new Map()
  /** Names to create or remove; the others wait for an event. */
  readonly #due = new Set<string>()
  #informer: Informer | undefined
  #unsubscribe: (() => void) | undefined
  #scheduled = false
  /** Names that `start` waits for. */
  #missing = new Set<string>()
  #settled: (() => void) | undefined

  constructor (options: ControllerOptions) {
    this.#options = options
    this.#queue = new WorkQueue({
      workers: WORKERS,
      work: async name => {
        const verdict = await this.#reconcile(name)
        this.#due.delete(name)
        this.#attempted(name)
        return verdict
      },
      failed: (name, error) => {
        this.#attempted(name)
        if (!isStorageError(error, 'Closed')) options.log(`reconciling APIService ${name} failed, retrying`, error)
      },
      name: 'autoregister',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
  }

  /**
   * Resolves when every served group version has its APIService, or one attempt to create it was refused. If all exist,
   * nothing is written.
   */
  async start (): Promise<void> {
    const { log, clock, resources } = this.#options
    const store = this.#store
    if (store === undefined) return
    this.#stop()
    const services = new Set<string>()
    let listed = false
    this.#informer = new Informer({
      store,
      log,
      handlers: [{
        changed: entry => {
          if (!listed) services.add(entry.name)
          this.#changed(store.entries.read(entry) as APIService, listed) // APIServices only
        },
        deleted: ({ name }) => { if (this.#served.has(name)) this.#queue.add(name) }
      }],
      ...(clock === undefined ? {} : { clock })
    })
    this.#served = servedBy(this.#options)
    await this.#informer.start()
    listed = true
    this.#unsubscribe = resources.onChange(() => { this.#schedule() })
    this.#missing = new Set([...this.#served.keys()].filter(name => !services.has(name)))
    for (const name of this.#missing) this.#add(name)
    if (this.#missing.size > 0) await new Promise<void>(resolve => { this.#settled = resolve })
  }

  async close (): Promise<void> {
    this.#closing.abort()
    this.#stop()
    this.#settled?.()
    await this.#queue.close()
  }

  #stop (): void {
    this.#unsubscribe?.()
    this.#informer?.close()
  }

  get #store (): ResourceStore | undefined { return this.#options.resources.find(GROUP, 'apiservices') }

  #attempted (name: string): void {
    if (this.#missing.delete(name) && this.#missing.size === 0) this.#settled?.()
  }

  #add (name: string): void {
    this.#due.add(name)
    this.#queue.add(name)
  }

  /**
   * @param listed false at start, when leftover APIServices are deleted; later, the server that removed a type deletes
   * its APIService
   */
  #changed (service: APIService, listed: boolean): void {
    const { metadata: { name = '', labels }, spec } = service
    const served = this.#served.get(name)
    const managed = labels?.[MANAGED]
    if (served === undefined
      ? !listed && managed === CUSTOM
      : managed !== undefined && !sameValue(spec, desired(served).spec)) {
      this.#add(name)
    }
  }

  /** Runs once per turn, because a replaced type is briefly absent. */
  #schedule (): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      const before = this.#served
      this.#served = servedBy(this.#options)
      for (const name of before.keys()) if (!this.#served.has(name)) this.#add(name)
      for (const name of this.#served.keys()) if (!before.has(name)) this.#add(name)
    })
  }

  async #reconcile (name: string): Promise<Verdict> {
    const store = this.#store
    if (store === undefined) return 'done'
    const context = serverContext(this.#closing.signal)
    const served = this.#served.get(name)
    const entry = await current(store, store.keys.of('', name))
    if (entry === undefined) {
      if (served !== undefined) {
        await create(store, desired(served), { namespace: '', name: '' }, context).catch(ignoring('AlreadyExists'))
      }
      return 'done'
    }
    const existing = store.entries.read(entry) as APIService
    const managed = existing.metadata.labels?.[MANAGED]
    if (served === undefined) {
      if (managed === CUSTOM && this.#due.has(name)) await this.#remove(store, existing, context)
    } else if (managed !== undefined && !sameValue(existing.spec, desired(served).spec)) {
      await change(store, { namespace: '', name }, context, base => Object
        .assign(base.copy() as APIService, { spec: desired(served).spec })).catch(ignoring('NotFound', 'Conflict'))
    }
    return 'done'
  }

  async #remove (
    store: ResourceStore, { metadata: { name = '', uid } }: APIService, context: WriteContext
  ): Promise<void> {
    await remove(store, { namespace: '', name }, { preconditions: { uid } }, context)
      .catch(ignoring('NotFound', 'Conflict'))
  }
}

export const nameOf = (group: string, version: string): string => `${version}.${group}`

function servedBy ({ resources }: Pick<ControllerOptions, 'resources'>): Map<string, Served> {
  const all = new Map<string, Served>()
  for (const { group, version } of resources.own()) {
    if (group !== GROUP) all.set(nameOf(group, version), { group, version })
  }
  return all
}

function desired ({ group, version }: Served): APIService {
  const { group: groupPriorityMinimum, version: versionPriority } = prioritiesOf(group, version)
  return {
    kind: 'APIService',
    apiVersion: apiVersionOf(GROUP, 'v1'),
    metadata: { name: nameOf(group, version), labels: { [MANAGED]: isBuiltInGroup(group) ? ON_START : CUSTOM } },
    spec: { ...(group === '' ? {} : { group }), version, groupPriorityMinimum, versionPriority }, // as it is stored
    status: {}
  }
}

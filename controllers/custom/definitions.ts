/**
 * Serves custom resources: accepts the names of definitions, installs their types, and empties those that are deleted. Beside the same
 * controller of another server it is harmless: both install what is stored, and a conflict is the other's success.
 */
import type { CustomResourceDefinition } from '../../schemas/api/apiextensions/customresourcedefinitions.js'
import { CLEANUP_FINALIZER } from '../../schemas/api/apiextensions/cleanup.js'
import { sameValue, type ApiObject } from '../../schemas/index.js'
import { isStatusError, notFound } from '../../schemas/status.js'
import { isStorageError } from '../../storage/errors.js'
import { now, serverContext, type WriteContext } from '../../registry/operations/context.js'
import { current } from '../../registry/operations/rewrite.js'
import { change } from '../../registry/operations/update.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { Informer } from '../informer.js'
import { WorkQueue, type Verdict } from '../work-queue.js'
import { approvalOf } from './approval.js'
import { empty } from './emptying.js'
import { InstalledTypes } from './installed.js'
import { isTrue, judgeNames, withCondition, type UsedNames } from './names.js'

const GROUP = 'apiextensions.orch.io'

export class Definitions implements Controller {
  readonly #options: ControllerOptions
  readonly #queue: WorkQueue
  readonly #installed: InstalledTypes
  /** All definitions by name. */
  readonly #known = new Map<string, CustomResourceDefinition>()
  #context: WriteContext | undefined
  #informer: Informer | undefined
  #unsubscribe: (() => void) | undefined

  constructor (options: ControllerOptions) {
    this.#options = options
    this.#installed = new InstalledTypes(options.resources)
    this.#queue = new WorkQueue({
      workers: 1, // names are given one after the other
      work: (name, signal) => this.#reconcile(name, this.#context ??= serverContext(signal)),
      failed: (name, error) => {
        if (!isStorageError(error, 'Closed')) options.log(`reconciling CustomResourceDefinition ${name} failed, retrying`, error)
      },
      name: 'crd_naming_condition_controller',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
  }

  /** Resolves when all stored definitions that were accepted are served. */
  async start (): Promise<void> {
    const { log, clock } = this.#options
    const store = this.#store
    if (store === undefined) return
    this.#stop()
    this.#informer = new Informer({
      store,
      log,
      handlers: [{
        changed: entry => { this.#changed(store.readStored(entry) as CustomResourceDefinition) }, // definitions only
        deleted: ({ name }) => {
          const group = this.#known.get(name)?.spec.group
          this.#known.delete(name)
          this.#installed.remove(name)
          if (group !== undefined) this.#requeue(group)
        }
      }],
      ...(clock === undefined ? {} : { clock })
    })
    const informer = this.#informer
    this.#unsubscribe = store.onCommitted(revision => informer.reach(revision))
    await informer.start()
  }

  async close (): Promise<void> {
    this.#stop()
    await this.#queue.close()
  }

  #stop (): void {
    this.#unsubscribe?.()
    this.#informer?.close()
  }

  get #store (): ResourceStore | undefined { return this.#options.resources.find(GROUP, 'customresourcedefinitions') }

  #changed (definition: CustomResourceDefinition): void {
    const { name = '' } = definition.metadata
    this.#known.set(name, definition)
    this.#installed.install(definition)
    this.#queue.add(name)
  }

  /** Names that are free now may be wanted. */
  #requeue (group: string): void {
    for (const [name, definition] of this.#known) if (definition.spec.group === group && !isTrue(definition, 'NamesAccepted')) this.#queue.add(name)
  }

  async #reconcile (name: string, context: WriteContext): Promise<Verdict> {
    const store = this.#store
    const entry = store === undefined ? undefined : await current(store, store.key('', name))
    if (store === undefined || entry === undefined) return 'done'
    const definition = store.readStored(entry) as CustomResourceDefinition
    if (definition.metadata.deletionTimestamp !== undefined && definition.metadata.finalizers?.includes(CLEANUP_FINALIZER) === true) return await this.#empty(store, definition, context)
    const time = now()
    const { acceptedNames, conditions } = judgeNames(definition, this.#usedBesides(definition), time)
    const approval = approvalOf(definition)
    const next = approval === undefined ? conditions : withCondition(conditions, approval, time)
    if (!sameValue(acceptedNames, definition.status.acceptedNames) || !sameValue(next, definition.status.conditions)) {
      await this.#writeStatus(store, definition, status => ({ ...status, acceptedNames, conditions: [...next] }), context)
      this.#requeue(definition.spec.group)
    }
    return 'done'
  }

  /** Accepted names of the group, this definition's included, and those of built-in resources. */
  #usedBesides ({ metadata, spec: { group } }: CustomResourceDefinition): UsedNames {
    const resources = new Set<string>()
    const kinds = new Set<string>()
    for (const { spec, status: { acceptedNames } } of this.#known.values()) {
      if (spec.group !== group || acceptedNames === undefined) continue
      const { plural, singular = '', shortNames = [], kind, listKind = '' } = acceptedNames
      for (const name of [plural, singular, ...shortNames]) resources.add(name)
      for (const name of [kind, listKind]) kinds.add(name)
    }
    const own = this.#installed.typeOf(metadata.name ?? '')
    for (const { type } of this.#options.resources.all()) {
      if (type.group !== group || type === own) continue
      resources.add(type.plural)
      kinds.add(type.stored.kind).add(type.stored.listKind)
    }
    return { resources, kinds }
  }

  /** Deletes the objects of the type, then the finalizer of its definition. */
  async #empty (store: ResourceStore, definition: CustomResourceDefinition, context: WriteContext): Promise<Verdict> {
    const { name = '' } = definition.metadata
    const type = this.#installed.typeOf(name)
    const objects = type === undefined ? undefined : this.#options.resources.find(type.group, type.plural)
    if (objects !== undefined) {
      const { seen, remaining } = await empty(objects, context)
      if (remaining > 0) {
        await this.#writeStatus(store, definition, status => ({ ...status, conditions: withCondition(status.conditions ?? [], IN_PROGRESS, now()) }), context)
        return 'later'
      }
      if (seen > 0) return 'again' // only an empty list after the mark is final
    }
    await change(store, { namespace: '', name }, context, base => {
      const object = base.copy()
      if (object.metadata.uid !== definition.metadata.uid) throw notFound(store.resource, name)
      object.metadata.finalizers = (object.metadata.finalizers ?? []).filter(finalizer => finalizer !== CLEANUP_FINALIZER)
      return object
    }).catch(ignoreRaces)
    return 'done'
  }

  async #writeStatus (store: ResourceStore, { metadata: { name = '', uid } }: CustomResourceDefinition, make: (status: CustomResourceDefinition['status']) => CustomResourceDefinition['status'], context: WriteContext): Promise<void> {
    await change(store, { namespace: '', name, subresource: 'status' }, context, base => {
      const object = base.copy() as ApiObject & CustomResourceDefinition
      if (object.metadata.uid !== uid) throw notFound(store.resource, name)
      return Object.assign(object, { status: make(object.status) })
    }).catch(ignoreRaces)
  }
}

const IN_PROGRESS = { type: 'Terminating', status: 'True', reason: 'InstanceDeletionInProgress', message: 'CustomResource deletion is in progress' }

/** The definition was deleted or changed; its next change queues it again. */
function ignoreRaces (error: unknown): void {
  if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
}

/**
 * Serves custom resources: accepts the names of definitions, installs their types, and deletes the objects of deleted
 * types. Several servers may run it: they install the same types, and a conflict means another server has done the
 * work.
 */
import type { CustomResourceDefinition } from '../../schemas/api/apiextensions/customresourcedefinitions.js'
import type { RuleObserver } from '../../schemas/custom/rules.js'
import { CLEANUP_FINALIZER } from '../../schemas/api/apiextensions/cleanup.js'
import { caBundleFinding } from '../../schemas/api/apiextensions/rules/ca-bundle.js'
import { DEFAULT_GATES, type Gates } from '../../schemas/gates.js'
import { sameValue } from '../../schemas/language/values.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { notFound } from '../../schemas/status.js'
import { isStorageError } from '../../storage/errors.js'
import { unwrap } from '../../storage/wrapped.js'
import { now, serverContext, type WriteContext } from '../../registry/write-context.js'
import { current } from '../../registry/current.js'
import { change } from '../../registry/verbs/change.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { Informer } from '../informer.js'
import { WorkQueue, type Verdict } from '../work-queue.js'
import type { HookCaller } from '../../admission/webhooks/target.js'
import { approvalOf } from './approval.js'
import { deleteAll } from './delete-objects.js'
import { InstalledTypes } from './installed.js'
import { isTrue, acceptNames, withCondition } from './names.js'
import { NameIndex } from './used-names.js'
import { ignoring } from '../races.js'

const GROUP = 'apiextensions.orch.io'
/** Milliseconds after which no server creates objects of a type marked for deletion. Timestamps have whole seconds. */
const OTHERS_SEE_MS = 3000

export interface DefinitionsOptions extends ControllerOptions {
  /** Calls conversion webhooks. */
  readonly caller: HookCaller
  /** Default: those of the release. */
  readonly gates?: Gates
  /** Observes the rules of definitions. Default none. */
  readonly observeRules?: RuleObserver | undefined
}

export class Definitions implements Controller {
  readonly #options: DefinitionsOptions
  readonly #queue: WorkQueue
  readonly #installed: InstalledTypes
  #names: NameIndex
  #context: WriteContext | undefined
  #informer: Informer | undefined
  #unsubscribe: (() => void) | undefined

  constructor (options: DefinitionsOptions) {
    this.#options = options
    this.#installed = new InstalledTypes(options.resources, options.caller, options.gates, options.observeRules)
    this.#names = new NameIndex([])
    this.#queue = new WorkQueue({
      workers: 1, // names are given one after the other
      work: (name, signal) => this.#reconcile(name, this.#context ??= serverContext(signal)),
      failed: (name, error) => {
        if (!isStorageError(error, 'Closed')) {
          options.log(`reconciling CustomResourceDefinition ${name} failed, retrying`, error)
        }
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
    this.#names = new NameIndex(
      this.#options.resources.all().map(({ type }) => type).filter(type => !this.#installed.holds(type))
    )
    this.#informer = new Informer({
      store,
      log,
      handlers: [{
        changed: entry => { this.#changed(store.entries.read(entry) as CustomResourceDefinition) }, // definitions only
        deleted: ({ name }) => {
          this.#installed.remove(name)
          const group = this.#names.delete(name)
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
    this.#installed.close()
    await this.#queue.close()
  }

  #stop (): void {
    this.#unsubscribe?.()
    this.#informer?.close()
  }

  get #store (): ResourceStore | undefined { return this.#options.resources.find(GROUP, 'customresourcedefinitions') }

  #changed (definition: CustomResourceDefinition): void {
    const { metadata: { name = '' }, spec: { group }, status } = definition
    this.#names.set(name, { group, names: status.acceptedNames, waiting: !isTrue(definition, 'NamesAccepted') })
    this.#installed.install(definition)
    if (isEmptying(definition) || this.#changedStatus(definition) !== undefined) this.#queue.add(name)
  }

  /** Requeues definitions that wait for names of the group. */
  #requeue (group: string): void { for (const name of this.#names.waiting(group)) this.#queue.add(name) }

  async #reconcile (name: string, context: WriteContext): Promise<Verdict> {
    const store = this.#store
    const entry = store === undefined ? undefined : await current(store, store.keys.of('', name))
    if (store === undefined || entry === undefined) return 'done'
    const definition = store.entries.read(entry) as CustomResourceDefinition
    if (isEmptying(definition)) return await this.#empty(store, definition, context)
    const changed = this.#changedStatus(definition)
    if (changed === undefined) return 'done'
    await this.#writeStatus(store, definition, status => ({ ...status, ...changed }), context)
    this.#requeue(definition.spec.group)
    return 'done'
  }

  /** The status with the necessary changes; undefined if it is correct. */
  #changedStatus (
    definition: CustomResourceDefinition
  ): Pick<CustomResourceDefinition['status'], 'acceptedNames' | 'conditions'> | undefined {
    const time = now(this.#options.resources)
    const gates = this.#options.gates ?? DEFAULT_GATES
    const bundle = gates.enabled('DefinitionNeedsCertificates')
      ? caBundleFinding(definition.spec.conversion)
      : undefined
    const used = this.#names.used(definition.spec.group)
    const { acceptedNames, conditions } = acceptNames(definition, used, time, bundle)
    const approval = approvalOf(definition, gates)
    const next = approval === undefined ? [...conditions] : withCondition(conditions, approval, time)
    return sameValue(acceptedNames, definition.status.acceptedNames) && sameValue(next, definition.status.conditions)
      ? undefined
      : { acceptedNames, conditions: next }
  }

  /** Deletes the objects of the type, then the finalizer of its definition. */
  async #empty (store: ResourceStore, definition: CustomResourceDefinition, context: WriteContext): Promise<Verdict> {
    const { name = '' } = definition.metadata
    const type = this.#installed.typeOf(name)
    const objects = type === undefined ? undefined : this.#options.resources.find(type.group, type.plural)
    if (objects !== undefined) {
      const { seen, remaining } = await deleteAll(objects, context)
      if (remaining > 0) {
        await this.#writeStatus(store, definition, status =>
          ({ ...status, conditions: withCondition(status.conditions ?? [], IN_PROGRESS, now(store)) }), context)
        return 'later'
      }
      if (seen > 0) return 'again' // only an empty list after the mark is final
      // Other servers of the store may not have seen the mark yet.
      const isShared = unwrap(objects.backend).shared === true || objects.backend.revisionNow() === undefined
      if (isShared && store.clock.wall() - Date.parse(definition.metadata.deletionTimestamp ?? '') < OTHERS_SEE_MS) {
        return 'later'
      }
    }
    await change(store, { namespace: '', name }, context, base => {
      const object = base.copy()
      if (object.metadata.uid !== definition.metadata.uid) throw notFound(store.resource, name)
      object.metadata.finalizers = (object.metadata.finalizers ?? [])
        .filter(finalizer => finalizer !== CLEANUP_FINALIZER)
      return object
    }).catch(ignoring('NotFound', 'Conflict'))
    return 'done'
  }

  async #writeStatus (
    store: ResourceStore, { metadata: { name = '', uid } }: CustomResourceDefinition,
    make: (status: CustomResourceDefinition['status']) => CustomResourceDefinition['status'], context: WriteContext
  ): Promise<void> {
    await change(store, { namespace: '', name, subresource: 'status' }, context, base => {
      const object = base.copy() as ApiObject & CustomResourceDefinition
      if (object.metadata.uid !== uid) throw notFound(store.resource, name)
      return Object.assign(object, { status: make(object.status) })
    }).catch(ignoring('NotFound', 'Conflict'))
  }
}

const isEmptying = ({ metadata: { deletionTimestamp, finalizers = [] } }: CustomResourceDefinition): boolean =>
  deletionTimestamp !== undefined && finalizers.includes(CLEANUP_FINALIZER)

const IN_PROGRESS = {
  type: 'Terminating', status: 'True', reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress'
}

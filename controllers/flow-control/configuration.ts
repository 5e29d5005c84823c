/**
 * Applies the stored configuration of priority and fairness: informers follow both kinds, a write is acknowledged once
 * its change is effective, and the status of each schema reports whether its level exists. Status writes depend on the
 * stored status, so several servers write it once.
 */
import type { FlowSchema, PriorityLevelConfiguration } from '../../schemas/api/flowcontrol/v1beta1.js'
import { isStatusError } from '../../schemas/status.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { Informer } from '../informer.js'
import { WorkQueue, type Verdict } from '../work-queue.js'
import { systemClock } from '../../event-loop/clock.js'
import { isStorageError } from '../../storage/errors.js'
import { now, serverContext } from '../../registry/write-context.js'
import { change } from '../../registry/verbs/change.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { GROUP } from '../../flow-control/defaults.js'
import { inBootstrapVersion } from './bootstrap-version.js'
import type { FlowControl } from '../../flow-control/flow-control.js'

const MANAGER = 'api-priority-and-fairness-config-consumer-v1'
/** Limits status writes per schema, because another server may disagree. */
const MAX_WRITES_PER_MINUTE = 6
const MINUTE = 60_000

export class FlowConfiguration implements Controller {
  readonly #options: ControllerOptions
  readonly #control: FlowControl
  readonly #levels = new Map<string, PriorityLevelConfiguration>()
  readonly #schemas = new Map<string, FlowSchema>()
  readonly #statuses: WorkQueue
  readonly #written = new Map<string, number[]>()
  readonly #unsubscribe: Array<() => void> = []
  #informers: readonly Informer[] | undefined
  #applying: Promise<void> | undefined
  #started = false

  constructor (options: ControllerOptions, control: FlowControl) {
    this.#options = options
    this.#control = control
    this.#statuses = new WorkQueue({
      workers: 1,
      work: (name, signal) => this.#writeStatus(name, signal),
      failed: (name, error) => {
        if (!isStorageError(error, 'Closed')) {
          options.log(`the status of the flow schema ${name} could not be written, retrying`, error)
        }
      },
      backoff: { first: 30_000, max: MINUTE },
      name: 'priority_and_fairness_config_queue',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
  }

  async start (): Promise<void> {
    const levels = this.#options.resources.find(GROUP, 'prioritylevelconfigurations')
    const schemas = this.#options.resources.find(GROUP, 'flowschemas')
    // group not served: only the mandatory configuration applies
    if (levels === undefined || schemas === undefined) return
    this.#informers ??= [this.#follow(levels, this.#levels), this.#follow(schemas, this.#schemas)]
    for (const informer of this.#informers) await informer.start()
    this.#started = true
    this.#apply()
  }

  async close (): Promise<void> {
    for (const end of this.#unsubscribe) end()
    for (const informer of this.#informers ?? []) informer.close()
    this.#control.close()
    await this.#statuses.close()
  }

  #follow<T extends FlowSchema | PriorityLevelConfiguration> (store: ResourceStore, known: Map<string, T>): Informer {
    const { log, clock } = this.#options
    const informer = new Informer({
      store,
      log,
      handlers: [{
        changed: entry => {
          known.set(entry.name, store.entries.read(entry) as T) // of the store's type
          this.#changed()
        },
        deleted: ({ name }) => {
          known.delete(name)
          this.#changed()
        }
      }],
      ...(clock === undefined ? {} : { clock })
    })
    this.#unsubscribe.push(store.onCommitted(async revision => {
      await informer.reach(revision)
      await this.#applying
    }))
    return informer
  }

  /** Applies simultaneous changes together. */
  #changed (): void {
    if (!this.#started) return
    this.#applying ??= new Promise(resolve => {
      setImmediate(() => {
        this.#applying = undefined
        this.#apply()
        resolve()
      })
    })
  }

  #apply (): void {
    this.#control.configure([...this.#levels.values()], [...this.#schemas.values()])
    for (const [name, schema] of this.#schemas) if (this.#withStatus(schema) !== undefined) this.#statuses.add(name)
    for (const name of this.#written.keys()) if (!this.#schemas.has(name)) this.#written.delete(name)
  }

  /** The schema with the correct status, undefined if it already is. */
  #withStatus (schema: FlowSchema): FlowSchema | undefined {
    const { name } = schema.spec.priorityLevelConfiguration
    const levelExists = this.#control.hasLevel(name)
    const status = levelExists ? 'False' : 'True'
    const reason = levelExists ? 'Found' : 'NotFound'
    const message =
      `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(name)} ` +
        `${levelExists ? 'and it exists' : 'but there is no such object'}`
    const before = schema.status.conditions ?? []
    const same = before.some(known => known.type === 'Dangling' && known.status === status && known.reason === reason &&
      known.message === message)
    if (same) return undefined
    const condition = { type: 'Dangling', status, lastTransitionTime: now(this.#options.resources), reason, message }
    const at = before.findIndex(({ type }) => type === 'Dangling')
    return { ...schema, status: { conditions: at < 0 ? [...before, condition] : before.with(at, condition) } }
  }

  async #writeStatus (name: string, signal: AbortSignal): Promise<Verdict> {
    const schema = this.#schemas.get(name)
    const store = this.#options.resources.find(GROUP, 'flowschemas')
    if (store === undefined || schema === undefined || this.#withStatus(schema) === undefined) return 'done'
    const at = (this.#options.clock ?? systemClock).elapsed()
    const written = (this.#written.get(name) ?? []).filter(time => at - time < MINUTE)
    if (written.length >= MAX_WRITES_PER_MINUTE) return 'later'
    this.#written.set(name, [...written, at])
    await change(inBootstrapVersion(store), {
      namespace: '', name, subresource: 'status'
    }, { ...serverContext(signal), fieldManager: MANAGER }, base => {
      const object = base.copy() as FlowSchema // stores of schemas contain schemas
      return this.#withStatus(object) ?? object
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error
    })
    return 'done'
  }
}

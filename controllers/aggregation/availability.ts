/**
 * Writes the condition Available of APIServices. One is checked when it, its service or its endpoints change, every 30
 * seconds, and sooner while its discovery fails. The servers of one store check independently. A status that another
 * server wrote causes no check; otherwise servers would trigger each other endlessly.
 */
import { setMaxListeners } from 'node:events'
import type { APIService, APIServiceCondition } from '../../schemas/api/apiregistration/apiservices.js'
import { notFound } from '../../schemas/status.js'
import { isStorageError } from '../../storage/errors.js'
import { systemClock } from '../../event-loop/clock.js'
import type { ReadyEndpoints } from '../../admission/webhooks/ready-endpoints.js'
import type { AdmissionReader } from '../../registry/admission.js'
import { now, serverContext, type WriteContext } from '../../registry/write-context.js'
import { current } from '../../registry/current.js'
import { change } from '../../registry/verbs/change.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { WorkQueue, type Verdict } from '../work-queue.js'
import { check, FAILED, LOCAL, type AvailabilityResult, type Probe } from './check.js'
import { apiServicesOf, type RegisteredService, type RegisteredServices } from './registered-services.js'
import { ServiceFollower } from './service-follower.js'
import { ignoring } from '../races.js'

const WORKERS = 10
const RESYNC_MS = 30_000
/** Delays between checks while discovery fails. */
const BACKOFF = { first: 200, max: RESYNC_MS }

export interface AvailabilityOptions extends ControllerOptions {
  readonly services: RegisteredServices
  readonly reader: AdmissionReader
  readonly endpoints: ReadyEndpoints
  readonly probe: Probe
  readonly observer?: AvailabilityObserver
}

export interface AvailabilityObserver {
  readonly checked: (name: string, available: boolean) => void
  /** Called when an available APIService becomes unavailable. */
  readonly lost: (name: string, reason: string) => void
  readonly deleted: (name: string) => void
}

export class Availability implements Controller {
  readonly #options: AvailabilityOptions
  readonly #queue: WorkQueue
  readonly #follower: ServiceFollower
  /** The last finding of this server, by APIService. */
  readonly #found = new Map<string, AvailabilityResult>()
  #context: WriteContext | undefined
  #started = false
  #cancelResync: (() => void) | undefined

  constructor (options: AvailabilityOptions) {
    this.#options = options
    this.#queue = new WorkQueue({
      workers: WORKERS,
      work: (name, signal) => this.#reconcile(name, signal),
      backoff: BACKOFF,
      failed: (name, error) => {
        if (!isStorageError(error, 'Closed')) options.log(`checking APIService ${name} failed, retrying`, error)
      },
      name: 'AvailableConditionController',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
    this.#follower = new ServiceFollower(options, name => { this.#queue.add(name) })
    options.services.onChange((before, after) => { this.#changed(before, after) })
  }

  async start (): Promise<void> {
    this.#started = true
    for (const service of this.#options.services.byName.values()) this.#changed(undefined, service)
    this.#scheduleResync()
  }

  async close (): Promise<void> {
    this.#cancelResync?.()
    this.#follower.close()
    await this.#queue.close()
  }

  #changed (before: RegisteredService | undefined, after: RegisteredService | undefined): void {
    if (!this.#started) return
    const name = (after ?? before)?.name ?? ''
    if (after?.remote === undefined) {
      this.#found.delete(name)
      if (before?.remote !== undefined) this.#options.observer?.deleted(name)
    }
    this.#follower.follow(name, after?.remote?.service)
    if (after === undefined) this.#queue.forget(name)
    else if (before?.fingerprint !== after.fingerprint &&
      (after.remote !== undefined || before !== undefined || !after.available)) this.#queue.add(name)
  }

  #scheduleResync (): void {
    this.#cancelResync = (this.#options.clock ?? systemClock).after(RESYNC_MS, () => {
      for (const { name, remote } of this.#options.services.byName.values()) {
        if (remote !== undefined && this.#found.get(name)?.reason !== FAILED) this.#queue.add(name)
      }
      this.#scheduleResync()
    })
  }

  async #reconcile (name: string, signal: AbortSignal): Promise<Verdict> {
    const service = this.#options.services.byName.get(name)
    if (service === undefined) return 'done'
    if (this.#context === undefined) setMaxListeners(0, signal) // each probe adds a listener
    this.#context ??= serverContext(signal)
    const { reader, endpoints, probe, observer } = this.#options
    const finding = service.remote === undefined
      ? LOCAL
      : await check(service.remote, { reader, endpoints, probe, signal }, this.#found.get(name))
    // a change has queued it again
    if (signal.aborted || this.#options.services.byName.get(name)?.fingerprint !== service.fingerprint) return 'done'
    if (service.remote !== undefined) observer?.checked(name, finding.status === 'True')
    await this.#write(service, finding, this.#context)
    if (service.remote !== undefined) this.#found.set(name, finding)
    return finding.reason === FAILED ? 'later' : 'done'
  }

  async #write ({ name }: RegisteredService, finding: AvailabilityResult, context: WriteContext): Promise<void> {
    const store = apiServicesOf(this.#options)
    const entry = store === undefined ? undefined : await current(store, store.keys.of('', name))
    if (store === undefined || entry === undefined) return
    const { metadata: { uid }, status: { conditions = [] } } = store.entries.read(entry) as APIService
    const before = conditions.find(({ type }) => type === 'Available')
    if (!this.#differs(name, before, finding)) return
    await change(store, { namespace: '', name, subresource: 'status' }, context, base => {
      const object = base.copy() as APIService
      if (object.metadata.uid !== uid) throw notFound(store.resource, name)
      return Object.assign(object, {
        status: { conditions: withFinding(object.status.conditions ?? [], finding, now(store)) }
      })
    }).catch(ignoring('NotFound', 'Conflict'))
    if (before?.status === 'True' && finding.status !== 'True') this.#options.observer?.lost(name, finding.reason)
  }

  /** Another server may word the same failure differently. Its words stay while this server's finding is unchanged. */
  #differs (
    name: string, before: APIServiceCondition | undefined, { status, reason, message }: AvailabilityResult
  ): boolean {
    if (before?.status !== status || before.reason !== reason) return true
    return before.message !== message && this.#found.get(name)?.message !== message
  }
}

/** The time of transition is that of the last change of the status. */
function withFinding (
  conditions: readonly APIServiceCondition[], finding: AvailabilityResult, now: string
): APIServiceCondition[] {
  const before = conditions.find(({ type }) => type === 'Available')
  const next = {
    type: 'Available', ...finding,
    lastTransitionTime: before !== undefined && before.status === finding.status ? before.lastTransitionTime : now
  }
  return before === undefined ? [...conditions, next] : conditions.map(known => known === before ? next : known)
}

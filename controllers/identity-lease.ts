/**
 * Who the servers of the cluster are (feature gate APIServerIdentity): a Lease in `orch-system` for each, renewed while it runs.
 * Those that have not been renewed for longer than they last are removed by whoever finds them.
 */
import { randomUUID } from 'node:crypto'
import type { Lease } from '../schemas/api/coordination/v1.js'
import { NO_FIELDS } from '../schemas/index.js'
import { parseLabelSelector } from '../schemas/selectors/labels.js'
import { isStatusError } from '../schemas/status.js'
import { type Clock, systemClock } from '../storage/clock.js'
import { isStorageError } from '../storage/errors.js'
import type { WriteContext } from '../registry/operations/context.js'
import { create } from '../registry/operations/create.js'
import { remove } from '../registry/operations/delete.js'
import { list } from '../registry/operations/list.js'
import { change } from '../registry/operations/update.js'
import type { ResourceStore } from '../registry/resource-store.js'
import { serverContext } from '../registry/operations/context.js'
import type { Controller, ControllerOptions } from './controller.js'

export interface IdentitySettings {
  /** How long the lease counts after it was renewed. Default 3600. */
  readonly durationSeconds?: number
  /** Default 10. */
  readonly renewIntervalSeconds?: number
}

const NAMESPACE = 'orch-system'
const COMPONENT = 'orch.io/component'
const SERVER = 'orch-apiserver'

/** Microseconds, as the wire has them. */
const microTime = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('Z', '000Z')

export class IdentityLease implements Controller {
  /** Name of the lease and of its holder; another one at each start. */
  readonly identity = `${SERVER}-${randomUUID()}`
  readonly #options: ControllerOptions & IdentitySettings
  readonly #clock: Clock
  readonly #closing = new AbortController()
  readonly #context: WriteContext
  #cancel: (() => void) | undefined
  #swept = -Infinity
  #running: Promise<void> | undefined

  constructor (options: ControllerOptions & IdentitySettings) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#context = serverContext(this.#closing.signal)
  }

  /** Resolves when the lease is there. */
  async start (): Promise<void> {
    await this.#run()
    this.#schedule()
  }

  async close (): Promise<void> {
    this.#closing.abort()
    this.#cancel?.()
    await this.#running?.catch(() => {}) // whoever ran it was told
  }

  get #duration (): number { return this.#options.durationSeconds ?? 3600 }

  #run (): Promise<void> {
    this.#running = this.#renew()
    return this.#running
  }

  #schedule (): void {
    if (this.#closing.signal.aborted) return
    this.#cancel = this.#clock.after((this.#options.renewIntervalSeconds ?? 10) * 1000, () => {
      this.#run().catch((error: unknown) => {
        if (!isStorageError(error, 'Closed')) this.#options.log(`the identity lease ${this.identity} could not be renewed`, error)
      }).finally(() => { this.#schedule() })
    })
  }

  async #renew (): Promise<void> {
    const store = this.#options.resources.find('coordination.orch.io', 'leases')
    if (store === undefined) return
    const renewTime = microTime(this.#clock.wall())
    const held = { holderIdentity: this.identity, leaseDurationSeconds: this.#duration, renewTime }
    try {
      await change(store, { namespace: NAMESPACE, name: this.identity }, this.#context, base => {
        const lease = base.copy() as Lease // of the store of leases
        return { ...lease, spec: { ...lease.spec, ...held } }
      })
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
      const metadata = { name: this.identity, namespace: NAMESPACE, labels: { [COMPONENT]: SERVER } }
      const lease: Lease = { kind: 'Lease', apiVersion: 'coordination.orch.io/v1', metadata, spec: { ...held, acquireTime: renewTime } }
      await create(store, lease, { namespace: NAMESPACE, name: '' }, this.#context)
    }
    const now = this.#clock.elapsed()
    if (now - this.#swept < this.#duration * 1000) return
    this.#swept = now
    await this.#sweep(store)
  }

  /** Removes the leases of servers that are no more. */
  async #sweep (store: ResourceStore): Promise<void> {
    const labels = parseLabelSelector(`${COMPONENT}=${SERVER}`)
    const { entries } = await list(store, { namespace: NAMESPACE, labels, fields: NO_FIELDS, resourceVersion: '', limit: 0, continue: '', resourceVersionMatch: '' })
    for (const entry of entries) {
      const { metadata: { uid, name = '' }, spec: { renewTime = '', leaseDurationSeconds = 0 } } = store.readStored(entry) as Lease // of the store of leases
      const until = Date.parse(renewTime) + leaseDurationSeconds * 1000
      if (name === this.identity || until >= this.#clock.wall()) continue
      await remove(store, { namespace: NAMESPACE, name }, { preconditions: { uid, resourceVersion: String(entry.revision) } }, this.#context).catch((error: unknown) => {
        if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error // renewed after all, or swept by another
      })
    }
  }
}

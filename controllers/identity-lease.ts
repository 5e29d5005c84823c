/**
 * Identifies the servers of a cluster (feature gate APIServerIdentity): each server renews a Lease in `orch-system`
 * while it runs. Any server deletes expired ones.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { Lease } from '../schemas/api/coordination/v1.js'
import { parseLabelSelector } from '../schemas/selectors/labels.js'
import { isStatusError } from '../schemas/status.js'
import { create } from '../registry/verbs/create.js'
import { remove } from '../registry/verbs/delete.js'
import { EVERYTHING } from '../registry/verbs/list-request.js'
import { list } from '../registry/verbs/list.js'
import { change } from '../registry/verbs/change.js'
import type { ResourceStore } from '../registry/resource-store.js'
import type { ControllerOptions } from './controller.js'
import { Periodic } from './periodic.js'

export interface IdentitySettings {
  /** How long the lease is valid after a renewal. Default 3600. */
  readonly durationSeconds?: number
  /** Default 10. */
  readonly renewIntervalSeconds?: number
}

/** A lease that keeps its name when the server starts again, as later releases have it. Default a new name. */
export interface OfHost {
  readonly hostname: string
}

const NAMESPACE = 'orch-system'
const COMPONENT = 'orch.io/component'
const IDENTITY = 'apiserver.orch.io/identity'
const HOSTNAME = 'orch.io/hostname'
const SERVER = 'orch-apiserver'
const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'

/** 26 letters of a hash. */
function hashed (hostname: string): string {
  const bits = [...createHash('sha256').update(`${hostname}-${SERVER}`).digest().subarray(0, 16)]
    .map(byte => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map(five => LETTERS[parseInt(five.padEnd(5, '0'), 2)]).join('')
}

/** The name of a server on this host that does not change when it starts again. */
export const identityOn = (hostname: string): string => `apiserver-${hashed(hostname)}`

/** With microseconds, as on the wire. */
const microTime = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('Z', '000Z')

export class IdentityLease extends Periodic<ControllerOptions & IdentitySettings> {
  /** Name of the lease. */
  readonly identity: string
  readonly #holder: string
  readonly #labels: Readonly<Record<string, string>>
  #sweptAt = -Infinity

  constructor (options: ControllerOptions & IdentitySettings, host?: OfHost) {
    super(options)
    const unique = randomUUID()
    this.identity = host === undefined ? `${SERVER}-${unique}` : identityOn(host.hostname)
    this.#holder = host === undefined ? this.identity : `${this.identity}_${unique}`
    this.#labels = host === undefined ? { [COMPONENT]: SERVER } : { [IDENTITY]: SERVER, [HOSTNAME]: host.hostname }
  }

  protected get interval (): number { return (this.options.renewIntervalSeconds ?? 10) * 1000 }
  protected get failure (): string { return `the identity lease ${this.identity} could not be renewed` }

  get #duration (): number { return this.options.durationSeconds ?? 3600 }

  /** Renews the lease, or creates it. */
  protected async reconcile (): Promise<void> {
    const store = this.options.resources.find('coordination.orch.io', 'leases')
    if (store === undefined) return
    const renewTime = microTime(this.clock.wall())
    const held = { holderIdentity: this.#holder, leaseDurationSeconds: this.#duration, renewTime }
    try {
      await change(store, { namespace: NAMESPACE, name: this.identity }, this.context, base => {
        const lease = base.copy() as Lease // stores of leases contain leases
        return { ...lease, spec: { ...lease.spec, ...held } }
      })
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
      const metadata = { name: this.identity, namespace: NAMESPACE, labels: { ...this.#labels } }
      const lease: Lease = {
        kind: 'Lease', apiVersion: 'coordination.orch.io/v1', metadata, spec: { ...held, acquireTime: renewTime }
      }
      await create(store, lease, { namespace: NAMESPACE, name: '' }, this.context)
    }
    const now = this.clock.elapsed()
    if (now - this.#sweptAt < this.#duration * 1000) return
    this.#sweptAt = now
    await this.#sweep(store)
  }

  /** Deletes the leases of ended servers. */
  async #sweep (store: ResourceStore): Promise<void> {
    const labels = parseLabelSelector(`${Object.keys(this.#labels)[0] ?? ''}=${SERVER}`)
    const { entries } = await list(store, { ...EVERYTHING, namespace: NAMESPACE, labels })
    for (const entry of entries) {
      // stores of leases contain leases
      const { metadata: { uid, name = '' }, spec: { renewTime = '', leaseDurationSeconds = 0 } } = store
        .entries.read(entry) as Lease
      const until = Date.parse(renewTime) + leaseDurationSeconds * 1000
      if (name === this.identity || until >= this.clock.wall()) continue
      await remove(
        store, { namespace: NAMESPACE, name }, { preconditions: { uid, resourceVersion: String(entry.revision) } },
        this.context
      )
        .catch((error: unknown) => {
        // renewed or deleted meanwhile
          if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error
        })
    }
  }
}

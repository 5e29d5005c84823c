/**
 * Leader election over a Lease: who holds it leads while it renews it; others take it once its duration has passed
 * since they last saw it change.
 */
import { CustomObjectsApi } from '@kubernetes/client-node'

const LEASES = { group: 'coordination.orch.io', version: 'v1', plural: 'leases' }
const DURATION = 15_000

export class Elector {
  #api
  #now
  #lease
  /** The version seen last, and when. */
  #seen = { version: '', at: 0 }
  #renewedAt = -Infinity

  /**
   * @param {import('@kubernetes/client-node').KubeConfig} config
   * @param {string} identity
   * @param {() => number} now milliseconds since 1970
   */
  constructor (config, identity, now = Date.now) {
    this.#api = config.makeApiClient(CustomObjectsApi)
    this.identity = identity
    this.#now = now
    this.#lease = { ...LEASES, namespace: 'default', name: 'leader' }
  }

  /** A leader that could not renew its Lease in time leads no longer, whether or not another one has taken it. */
  get leads () { return this.#now() < this.#renewedAt + DURATION }

  /** Tries to get or to renew the Lease. Call it every few seconds. */
  async tick () {
    const at = this.#now()
    const renewTime = new Date(at).toISOString().replace('Z', '000Z')
    try {
      const lease = await this.#api.getNamespacedCustomObject(this.#lease).catch(error => {
        if (error.code !== 404) throw error
      })
      if (lease === undefined) {
        const { namespace, name } = this.#lease
        const body = {
          apiVersion: 'coordination.orch.io/v1',
          kind: 'Lease',
          metadata: { name },
          spec: {
            holderIdentity: this.identity,
            leaseDurationSeconds: DURATION / 1000,
            acquireTime: renewTime,
            renewTime,
            leaseTransitions: 0
          }
        }
        await this.#api.createNamespacedCustomObject({ ...LEASES, namespace, body })
      } else {
        const { metadata: { resourceVersion }, spec } = lease
        if (resourceVersion !== this.#seen.version) this.#seen = { version: resourceVersion, at }
        const mine = spec.holderIdentity === this.identity
        if (!mine && at < this.#seen.at + DURATION) return
        const taken = mine
          ? {}
          : { holderIdentity: this.identity, acquireTime: renewTime, leaseTransitions: spec.leaseTransitions + 1 }
        await this.#api.replaceNamespacedCustomObject({
          ...this.#lease, body: { ...lease, spec: { ...spec, ...taken, renewTime } }
        })
      }
      this.#renewedAt = at
    } catch (error) {
      if (error.code !== undefined && ![409, 429, 500, 503].includes(error.code)) throw error
    }
  }
}

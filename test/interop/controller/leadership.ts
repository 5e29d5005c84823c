/**
 * Leader election by a Lease: one of several instances holds it as long as it renews it; the others take it when it was
 * not renewed for its duration.
 */
import { CustomObjectsApi, type KubeConfig } from '@kubernetes/client-node'
import type { Json } from '../../build.js'

const LEASES = { group: 'coordination.orch.io', version: 'v1', plural: 'leases' }
const DURATION_SECONDS = 3
const RENEW_WITHIN = 2000
const RETRY = 250

export class Leadership {
  readonly #api: CustomObjectsApi
  readonly #lease: { namespace: string, name: string }
  readonly #identity: string
  readonly #taken: () => void
  #timer: NodeJS.Timeout | undefined
  #asking: Promise<void> = Promise.resolve()
  #renewed = -Infinity
  /**
   * The holder's last renewal, and when it was seen by the local clock: clocks of different instances are not compared.
   */
  #seen = { renewTime: '', at: -Infinity }
  #stopped = false

  /** @param taken called whenever leadership begins */
  constructor (config: KubeConfig, namespace: string, name: string, identity: string, taken: () => void) {
    this.#api = config.makeApiClient(CustomObjectsApi)
    this.#lease = { namespace, name }
    this.#identity = identity
    this.#taken = taken
  }

  get leads (): boolean { return !this.#stopped && performance.now() - this.#renewed < RENEW_WITHIN }

  start (): void {
    this.#asking = this.#ask().catch(() => {}).then(() => {
      if (!this.#stopped) this.#timer = setTimeout(() => { this.start() }, RETRY)
    })
  }

  async #ask (): Promise<void> {
    const began = performance.now()
    const body = await this.#read()
    const spec = {
      holderIdentity: this.#identity,
      leaseDurationSeconds: DURATION_SECONDS,
      renewTime: new Date().toISOString().replace('Z', '000Z')
    }
    if (body === undefined) {
      await this.#api.createNamespacedCustomObject({
        ...LEASES,
        ...this.#lease,
        body: { apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata: { name: this.#lease.name }, spec }
      })
    } else {
      const { holderIdentity = '', renewTime = '' } = body.spec as { holderIdentity?: string, renewTime?: string }
      if (renewTime !== this.#seen.renewTime) this.#seen = { renewTime, at: began }
      const held =
        holderIdentity !== '' && holderIdentity !== this.#identity && began - this.#seen.at < DURATION_SECONDS * 1000
      if (held) return
      await this.#api.replaceNamespacedCustomObject({
        ...LEASES, ...this.#lease, body: { ...body, spec: { ...body.spec, ...spec } }
      })
    }
    // Checked now, not at the start: changes that arrived while a response was late were left to the others.
    const lapsed = !this.leads
    this.#renewed = began
    if (lapsed) this.#taken()
  }

  async #read (): Promise<Json | undefined> {
    try {
      return await this.#api.getNamespacedCustomObject({ ...LEASES, ...this.#lease }) as Json
    } catch (error) {
      if ((error as { code?: number }).code === 404) return undefined
      throw error
    }
  }

  /** Releases the lease, so that nobody has to wait for its expiry. */
  async stop (): Promise<void> {
    const led = this.leads
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#asking
    const body = led ? await this.#read().catch(() => undefined) : undefined
    if (body?.spec.holderIdentity === this.#identity) {
      await this.#api.replaceNamespacedCustomObject({
        ...LEASES, ...this.#lease, body: { ...body, spec: { ...body.spec, holderIdentity: '' } }
      }).catch(() => {})
    }
  }
}

/**
 * The service that pods reach the servers by, `orch`: made where it is missing, kept as it should be, and behind it the addresses of the
 * servers that are there. Looked at every ten seconds, which is also what keeps this server among them.
 */
import type { ServicePort, ServiceSpec } from '../../schemas/api/core/services.js'
import type { ApiObject } from '../../schemas/index.js'
import { sameValue } from '../../schemas/index.js'
import { isStatusError } from '../../schemas/status.js'
import { type Clock, systemClock } from '../../storage/clock.js'
import { serverContext } from '../../registry/operations/context.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { isStorageError } from '../../storage/errors.js'
import type { WriteContext } from '../../registry/operations/context.js'
import { create } from '../../registry/operations/create.js'
import { current } from '../../registry/operations/rewrite.js'
import { change } from '../../registry/operations/update.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { ServiceAllocation } from '../../registry/services/allocation.js'
import { addressProblem, mastersOf } from './masters.js'
import type { Masters, Reconciler } from './masters.js'
import { OwnEndpoints, PORT_NAME } from './own-endpoints.js'

export interface OwnServiceSettings {
  /** Of the service, `--master-service-namespace`. Default `default`. */
  readonly namespace?: string
  /** IP address that others reach this server at; one that endpoints may have, unless the reconciler is none. */
  readonly address: string
  /** Port that others reach this server at. */
  readonly port: number
  /** Not 0 for a service of type NodePort. Default 0. */
  readonly nodePort?: number
  /** Who is behind the service, `--endpoint-reconciler-type`. Default lease. */
  readonly reconciler?: Reconciler
  /** Of the servers, for master-count. Default 1. */
  readonly count?: number
}

export interface OwnServiceOptions extends ControllerOptions, OwnServiceSettings {
  readonly allocation: ServiceAllocation
  /** Aborts when this server is about to end, and nobody should be sent to it any more. */
  readonly leaving: AbortSignal
}

const NAME = 'orch'
const SERVICE_PORT = 443
/** Milliseconds. */
const INTERVAL = 10_000
const PAUSE = 50
const LOOKS = 20

export class OwnService implements Controller {
  readonly #options: OwnServiceOptions
  readonly #clock: Clock
  readonly #closing = new AbortController()
  readonly #context: WriteContext
  readonly #namespace: string
  readonly #endpoints: OwnEndpoints
  #masters: Masters | undefined
  #running: Promise<void> = Promise.resolve()
  #left: Promise<void> | undefined
  #cancel: (() => void) | undefined

  /** @throws TypeError for an address that can't be published */
  constructor (options: OwnServiceOptions) {
    const { resources, allocation, namespace = 'default', address, port, reconciler = 'lease', count = 1, leaving } = options
    this.#options = options
    this.#namespace = namespace
    this.#clock = options.clock ?? systemClock
    this.#context = serverContext(this.#closing.signal)
    this.#endpoints = new OwnEndpoints(resources, { namespace, name: NAME, port, addressType: address.includes(':') ? 'IPv6' : 'IPv4' })
    if (reconciler !== 'none') {
      const problem = addressProblem(address)
      if (problem !== undefined) throw new TypeError(`orchService.address ${address}: ${problem}`)
      this.#masters = mastersOf(reconciler, address, { backend: allocation.backend, prefix: allocation.prefix, count })
    }
    leaving.addEventListener('abort', () => { this.#leave().catch(() => {}) }, { once: true }) // it ends by itself
  }

  /** Resolves when the service is there, and leads to this server; or cannot be, for a reason that the log says. */
  async start (): Promise<void> {
    await this.#run().catch((error: unknown) => {
      if (!isStatusError(error)) throw error
      this.#failed(error)
    })
    this.#schedule()
  }

  async close (): Promise<void> {
    await this.#leave().catch(() => {}) // it ends by itself
    this.#closing.abort()
  }

  #run (): Promise<void> {
    this.#running = this.#reconcile()
    return this.#running
  }

  #failed (error: unknown): void { this.#options.log(`the service ${NAME} is not as it should be, trying again`, error) }

  #schedule (): void {
    if (this.#left !== undefined) return
    this.#cancel = this.#clock.after(INTERVAL, () => {
      this.#run().catch((error: unknown) => {
        if (!isStorageError(error, 'Closed')) this.#failed(error)
      }).finally(() => { this.#schedule() })
    })
  }

  /** This server is behind the service no more. */
  #leave (): Promise<void> {
    this.#left ??= (async () => {
      this.#cancel?.()
      await this.#running.catch(() => {}) // whoever ran it was told
      if (this.#masters !== undefined) await this.#endpoints.publish(await this.#masters.absent(await this.#endpoints.published()), this.#context)
    })()
    return this.#left
  }

  async #reconcile (): Promise<void> {
    await this.#keepService()
    if (this.#masters === undefined || this.#left !== undefined) return
    await this.#endpoints.publish(await this.#masters.present(await this.#endpoints.published()), this.#context)
  }

  async #keepService (): Promise<void> {
    const { resources, allocation, port, nodePort = 0 } = this.#options
    const store = resources.find('', 'services')
    if (store === undefined) return
    const target = { namespace: this.#namespace, name: NAME }
    const type = nodePort === 0 ? 'ClusterIP' : 'NodePort'
    const ports: ServicePort[] = [{ name: PORT_NAME, protocol: 'TCP', port: SERVICE_PORT, targetPort: port, ...(nodePort === 0 ? {} : { nodePort }) }]
    const found = await this.#found(store)
    if (found === undefined) {
      const spec = { type, ports, clusterIP: allocation.firstAddress, ipFamilyPolicy: 'SingleStack', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster', ...(nodePort === 0 ? {} : { externalTrafficPolicy: 'Cluster' }) }
      const metadata = { name: NAME, namespace: target.namespace, labels: { component: 'apiserver', provider: NAME } }
      const object = { kind: 'Service', apiVersion: 'v1', metadata, spec, status: {} } as ApiObject
      await create(store, object, { namespace: target.namespace, name: '' }, this.#context).catch(async (error: unknown) => {
        // Another server was faster: with the service, or with its address, which it takes first.
        if (!isStatusError(error, 'AlreadyExists') && !(isStatusError(error, 'Invalid') && await this.#appears(store))) throw error
      })
      return
    }
    const { spec } = store.readStored(found) as ApiObject & { spec: ServiceSpec }
    if (spec.type === type && sameValue(spec.ports, ports)) return
    await change(store, target, this.#context, base => {
      const object = base.copy() as ApiObject & { spec: ServiceSpec } // of the store of services
      return Object.assign(object, { spec: { ...object.spec, type, ports } })
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error // the next look makes it anew
    })
  }

  #found (store: ResourceStore): ReturnType<typeof current> { return current(store, store.key(this.#namespace, NAME)) }

  /** Whether a service that another server may be about to make is there soon. */
  async #appears (store: ResourceStore): Promise<boolean> {
    for (let looks = 0; looks < LOOKS; looks++) {
      if (await this.#found(store) !== undefined) return true
      await new Promise<void>(resolve => { this.#clock.after(PAUSE, resolve) })
    }
    return false
  }
}

/**
 * Maintains `orch`, the service through which pods reach the servers, and the addresses behind it. Runs every ten
 * seconds, which also renews this server's registration.
 */
import type { ServicePort, ServiceSpec } from '../../schemas/api/core/services.js'
import { sameValue } from '../../schemas/language/values.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { isStatusError } from '../../schemas/status.js'
import { type Clock, systemClock } from '../../event-loop/clock.js'
import { serverContext, type WriteContext } from '../../registry/write-context.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { isStorageError } from '../../storage/errors.js'
import { create } from '../../registry/verbs/create.js'
import { current } from '../../registry/current.js'
import { change } from '../../registry/verbs/change.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import type { ServiceAllocation } from '../../registry/services/allocation.js'
import { endpointReconciler, addressProblem, type EndpointReconciler, type Reconciler } from './endpoint-reconciler.js'
import { OwnEndpoints, PORT_NAME } from './own-endpoints.js'

export interface OwnServiceSettings {
  /** Namespace of the service, `--master-service-namespace`. Default `default`. */
  readonly namespace?: string
  /** IP address of this server for clients; must be valid for endpoints unless the reconciler is none. */
  readonly address: string
  /** Port of this server for clients. */
  readonly port: number
  /** Nonzero for a service of type NodePort. Default 0. */
  readonly nodePort?: number
  /** How servers are registered, `--endpoint-reconciler-type`. Default lease. */
  readonly reconciler?: Reconciler
  /** Number of servers, for master-count. Default 1. */
  readonly count?: number
}

export interface OwnServiceOptions extends ControllerOptions, OwnServiceSettings {
  readonly allocation: ServiceAllocation
  /** Aborted before shutdown, when no new clients should be routed to this server. */
  readonly leaving: AbortSignal
}

const NAME = 'orch'
const SERVICE_PORT = 443
const INTERVAL_MS = 10_000
const PAUSE_MS = 50
const MAX_CHECKS = 20

export class OwnService implements Controller {
  readonly #options: OwnServiceOptions
  readonly #clock: Clock
  readonly #closing = new AbortController()
  readonly #context: WriteContext
  readonly #namespace: string
  readonly #endpoints: OwnEndpoints
  #reconciler: EndpointReconciler | undefined
  #running: Promise<void> = Promise.resolve()
  #unregistered: Promise<void> | undefined
  #cancel: (() => void) | undefined

  /** @throws TypeError for an address that can't be published */
  constructor (options: OwnServiceOptions) {
    const { resources, allocation, namespace = 'default', address, port, reconciler = 'lease', count = 1, leaving } =
      options
    this.#options = options
    this.#namespace = namespace
    this.#clock = options.clock ?? systemClock
    this.#context = serverContext(this.#closing.signal)
    this.#endpoints = new OwnEndpoints(resources, {
      namespace, name: NAME, port, addressType: address.includes(':') ? 'IPv6' : 'IPv4'
    })
    if (reconciler !== 'none') {
      const problem = addressProblem(address)
      if (problem !== undefined) throw new TypeError(`orchService.address ${address}: ${problem}`)
      this.#reconciler = endpointReconciler(reconciler, address, {
        backend: allocation.backend, prefix: allocation.prefix, count
      })
    }
    leaving.addEventListener('abort', () => { this.#unregister().catch(() => {}) }, { once: true }) // expires by itself
  }

  /** Resolves when the service exists and leads to this server, or after logging why it can't. */
  async start (): Promise<void> {
    await this.#run().catch((error: unknown) => {
      if (!isStatusError(error)) throw error
      this.#logFailure(error)
    })
    this.#schedule()
  }

  async close (): Promise<void> {
    await this.#unregister().catch(() => {}) // expires by itself
    this.#closing.abort()
  }

  #run (): Promise<void> {
    this.#running = this.#reconcile()
    return this.#running
  }

  #logFailure (error: unknown): void {
    this.#options.log(`the service ${NAME} is not as it should be, trying again`, error)
  }

  #schedule (): void {
    if (this.#unregistered !== undefined) return
    this.#cancel = this.#clock.after(INTERVAL_MS, () => {
      this.#run().catch((error: unknown) => {
        if (!isStorageError(error, 'Closed')) this.#logFailure(error)
      }).finally(() => { this.#schedule() })
    })
  }

  /** Removes this server from the service. */
  #unregister (): Promise<void> {
    this.#unregistered ??= (async () => {
      this.#cancel?.()
      await this.#running.catch(() => {}) // reported to the caller of #run
      if (this.#reconciler !== undefined) {
        await this.#endpoints.publish(await this.#reconciler.absent(await this.#endpoints.published()), this.#context)
      }
    })()
    return this.#unregistered
  }

  async #reconcile (): Promise<void> {
    await this.#keepService()
    if (this.#reconciler === undefined || this.#unregistered !== undefined) return
    await this.#endpoints.publish(await this.#reconciler.present(await this.#endpoints.published()), this.#context)
  }

  async #keepService (): Promise<void> {
    const { resources, allocation, port, nodePort = 0 } = this.#options
    const store = resources.find('', 'services')
    if (store === undefined) return
    const target = { namespace: this.#namespace, name: NAME }
    const type = nodePort === 0 ? 'ClusterIP' : 'NodePort'
    const ports: ServicePort[] = [{
      name: PORT_NAME, protocol: 'TCP', port: SERVICE_PORT, targetPort: port, ...(nodePort === 0 ? {} : { nodePort })
    }]
    const entry = await this.#currentService(store)
    if (entry === undefined) {
      const spec = {
        type, ports, clusterIP: allocation.firstAddress, ipFamilyPolicy: 'SingleStack', sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster', ...(nodePort === 0 ? {} : { externalTrafficPolicy: 'Cluster' })
      }
      const metadata = { name: NAME, namespace: target.namespace, labels: { component: 'apiserver', provider: NAME } }
      const object = { kind: 'Service', apiVersion: 'v1', metadata, spec, status: {} } as ApiObject
      await create(store, object, { namespace: target.namespace, name: '' }, this.#context)
        .catch(async (error: unknown) => {
        // Another server created the service, or has allocated its address and is about to.
          if (!isStatusError(error, 'AlreadyExists') &&
          !(isStatusError(error, 'Invalid') && await this.#waitForService(store))) throw error
        })
      return
    }
    const { spec } = store.entries.read(entry) as ApiObject & { spec: ServiceSpec }
    if (spec.type === type && sameValue(spec.ports, ports)) return
    await change(store, target, this.#context, base => {
      const object = base.copy() as ApiObject & { spec: ServiceSpec } // stores of services contain services
      return Object.assign(object, { spec: { ...object.spec, type, ports } })
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error // created at the next run
    })
  }

  #currentService (store: ResourceStore): ReturnType<typeof current> {
    return current(store, store.keys.of(this.#namespace, NAME))
  }

  /** Waits for a service that another server may be creating. */
  async #waitForService (store: ResourceStore): Promise<boolean> {
    for (let checks = 0; checks < MAX_CHECKS; checks++) {
      if (await this.#currentService(store) !== undefined) return true
      await new Promise<void>(resolve => { this.#clock.after(PAUSE_MS, resolve) })
    }
    return false
  }
}

/** Follows the services and endpoints that APIServices name. Without such an APIService nothing is followed. */
import { systemClock } from '../../event-loop/clock.js'
import { isStorageError } from '../../storage/errors.js'
import type { ControllerOptions } from '../controller.js'
import { Informer, type Handler, type ObjectName } from '../informer.js'
import { SERVICE_NAME } from '../../admission/webhooks/ready-endpoints.js'
import type { ResourceStore } from '../../registry/resource-store.js'

const RETRY_MS = 1000

const keyOf = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`

export class ServiceFollower {
  readonly #options: ControllerOptions
  readonly #changed: (name: string) => void
  /** APIServices by service, and their service by APIService. */
  readonly #names = new Map<string, Set<string>>()
  readonly #services = new Map<string, string>()
  /** For services and their Endpoints, which have the same name. */
  readonly #named: Handler = {
    changed: ({ namespace, name }) => { this.#notify({ namespace, name }) },
    removed: name => { this.#notify(name) }
  }

  /** For EndpointSlices, which name their service in a label: of a deleted one the label is not known any more. */
  readonly #ofSlices: Handler = {
    changed: ({ namespace, labels }) => { this.#notify({ namespace, name: labels?.[SERVICE_NAME] ?? '' }) },
    removed: ({ namespace }) => {
      for (const [service, names] of this.#names) {
        if (service.startsWith(`${namespace}/`)) for (const name of names) this.#changed(name)
      }
    }
  }

  #informers: Informer[] = []
  #closed = false

  /** @param changed receives the name of an APIService whose service or endpoints changed */
  constructor (options: ControllerOptions, changed: (name: string) => void) {
    this.#options = options
    this.#changed = changed
  }

  /** @param service undefined if the APIService has none */
  follow (name: string, service: ObjectName | undefined): void {
    const key = service === undefined ? undefined : keyOf(service)
    const before = this.#services.get(name)
    if (key === before) return
    if (before !== undefined) {
      const names = this.#names.get(before)
      names?.delete(name)
      if (names?.size === 0) this.#names.delete(before)
      this.#services.delete(name)
    }
    if (key !== undefined) {
      this.#services.set(name, key)
      this.#names.set(key, (this.#names.get(key) ?? new Set()).add(name))
    }
    if (this.#services.size === 0) this.#stop()
    else if (this.#informers.length === 0 && !this.#closed) this.#start()
  }

  close (): void {
    this.#closed = true
    this.#stop()
  }

  #stop (): void {
    for (const informer of this.#informers) informer.close()
    this.#informers = []
  }

  #start (): void {
    const { resources, log, clock } = this.#options
    const services = resources.find('', 'services')
    const endpoints = services?.gates.enabled('SlicesLocateServices') === true
      ? [resources.find('discovery.orch.io', 'endpointslices'), this.#ofSlices] as const
      : [resources.find('', 'endpoints'), this.#named] as const
    const followed: ReadonlyArray<readonly [ResourceStore | undefined, Handler]> = [[services, this.#named], endpoints]
    this.#informers = followed.flatMap(([store, handler]) => store === undefined
      ? []
      : [new Informer({ store, log, handlers: [handler], ...(clock === undefined ? {} : { clock }) })])
    for (const informer of this.#informers) this.#begin(informer)
  }

  #begin (informer: Informer): void {
    informer.start().catch((error: unknown) => {
      if (isStorageError(error, 'Closed') || !this.#informers.includes(informer)) return
      this.#options.log('the services of APIServices could not be followed, retrying', error)
      ;(this.#options.clock ?? systemClock)
        .after(RETRY_MS, () => { if (this.#informers.includes(informer)) this.#begin(informer) })
    })
  }

  #notify (name: ObjectName): void {
    for (const service of this.#names.get(keyOf(name)) ?? []) this.#changed(service)
  }
}

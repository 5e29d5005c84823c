/**
 * Gives each address of a service its IPAddress, where an earlier release or an ended process left it without, and
 * removes IPAddresses that the allocation made for services that are gone or have another address. Runs at the start,
 * which readiness waits for, and then every few minutes.
 */
import type { Service } from '../../schemas/api/core/services.js'
import type { IPAddress } from '../../schemas/api/networking/v1.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { current } from '../../registry/current.js'
import { EVERYTHING } from '../../registry/verbs/list-request.js'
import { list } from '../../registry/verbs/list.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { isAllocated, makeAddress, removeAddress } from '../../registry/services/address-keys.js'
import { addressesOf } from '../../registry/services/service-values.js'
import type { ControllerOptions } from '../controller.js'
import { Periodic } from '../periodic.js'

export interface AddressObjectsOptions extends ControllerOptions {
  /** Receives notes for the operator. */
  readonly note: (text: string) => void
}

const INTERVAL_MS = 3 * 60_000
/** An object whose service is about to be stored has none yet: milliseconds that one may exist without. */
const GRACE_MS = 60_000

interface Stores { readonly services: ResourceStore, readonly addresses: ResourceStore }

export class AddressObjects extends Periodic<AddressObjectsOptions> {
  protected get interval (): number { return INTERVAL_MS }
  protected get failure (): string { return 'the IPAddresses of services could not be checked' }

  protected async reconcile (): Promise<void> {
    const { resources } = this.options
    const services = resources.find('', 'services')
    const addresses = resources.find('networking.orch.io', 'ipaddresses')
    if (services === undefined || addresses === undefined) return
    await this.#makeMissing({ services, addresses })
    await this.#removeStale({ services, addresses })
  }

  async #makeMissing ({ services, addresses }: Stores): Promise<void> {
    for (const entry of (await list(services, EVERYTHING)).entries) {
      if (this.isClosed) return
      if (turnIsOver()) await nextTurn()
      // stores of services contain services
      const { spec, metadata: { namespace = '', name = '' } } = services.entries.read(entry) as Service
      for (const { name: address } of addressesOf(spec)) {
        if (addresses.cache?.get(addresses.keys.of('', address)) !== undefined) continue
        if (!await makeAddress(addresses, address, { namespace, name })) {
          this.options.note(`another object has ${address}, the address of service ${namespace}/${name}`)
        }
      }
    }
  }

  async #removeStale ({ services, addresses }: Stores): Promise<void> {
    for (const entry of (await list(addresses, EVERYTHING)).entries) {
      if (this.isClosed) return
      if (turnIsOver()) await nextTurn()
      const object = addresses.entries.read(entry) as IPAddress // stores of addresses contain those
      const { creationTimestamp = '' } = object.metadata
      if (!isAllocated(object) || Date.parse(creationTimestamp) + GRACE_MS > this.clock.wall()) continue
      if (!await this.#isHeld(services, object)) await removeAddress(addresses, object)
    }
  }

  async #isHeld (services: ResourceStore, { metadata: { name: address }, spec }: IPAddress): Promise<boolean> {
    const { group = '', resource, namespace = '', name } = spec.parentRef ?? { resource: '', name: '' }
    if (group !== '' || resource !== 'services') return false
    const entry = await current(services, services.keys.of(namespace, name))
    if (entry === undefined) return false
    const service = services.entries.read(entry) as Service // stores of services contain services
    return addressesOf(service.spec).some(owned => owned.name === address)
  }
}

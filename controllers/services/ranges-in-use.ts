/**
 * Tells the allocation of addresses which ranges are in use: those of all ServiceCIDRs that are ready. Runs in every
 * process, since each allocates.
 */
import type { ServiceCIDR } from '../../schemas/api/networking/v1.js'
import { parseRange } from '../../schemas/rules/net.js'
import type { ServiceAllocation } from '../../registry/services/allocation.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { Informer } from '../informer.js'

export interface RangesInUseOptions extends ControllerOptions { readonly allocation: ServiceAllocation }

/** Ranges are used unless they are said not to be ready, or are about to go. */
export const isUsable = ({ metadata, status: { conditions = [] } }: ServiceCIDR): boolean =>
  metadata.deletionTimestamp === undefined &&
  !conditions.some(({ type, status }) => type === 'Ready' && status === 'False')

export class RangesInUse implements Controller {
  readonly #options: RangesInUseOptions
  readonly #ranges = new Map<string, readonly string[]>()
  #started = false
  #informer: Informer | undefined

  constructor (options: RangesInUseOptions) { this.#options = options }

  async start (): Promise<void> {
    const { resources, log, clock } = this.#options
    const store = resources.find('networking.orch.io', 'servicecidrs')
    if (store === undefined) return
    this.#informer?.close()
    this.#informer = new Informer({
      store, log, ...(clock === undefined ? {} : { clock }),
      handlers: [{
        changed: entry => {
          const object = store.entries.read(entry) as ServiceCIDR // stores of ranges contain those
          const { metadata: { name = '' }, spec: { cidrs = [] } } = object
          this.#ranges.set(name, isUsable(object) ? cidrs.filter(cidr => parseRange(cidr) !== undefined) : [])
          this.#use()
        },
        deleted: ({ name }) => {
          this.#ranges.delete(name)
          this.#use()
        }
      }]
    })
    await this.#informer.start()
    this.#started = true
    this.#use()
  }

  async close (): Promise<void> { this.#informer?.close() }

  /** Until the first object is made, the ranges are those that the server was started with. */
  #use (): void {
    if (this.#started && this.#ranges.size > 0) this.#options.allocation.pools.use([...this.#ranges.values()].flat())
  }
}

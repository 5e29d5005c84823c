/**
 * Keeps ServiceCIDRs that are deleted until nobody has an address of theirs, by a finalizer, and says in their
 * condition Ready whether they are in use. Silent where a controller manager leads, which does the same.
 */
import { RANGES_FINALIZER } from '../../schemas/api/networking/servicecidrs.js'
import type { ServiceCIDR } from '../../schemas/api/networking/v1.js'
import { contains, parseAddress, parseRange, type Range } from '../../schemas/rules/net.js'
import { change, changeUnowned } from '../../registry/verbs/change.js'
import { current } from '../../registry/current.js'
import { EVERYTHING } from '../../registry/verbs/list-request.js'
import { list } from '../../registry/verbs/list.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { serverContext, type WriteContext } from '../../registry/write-context.js'
import { nextTurn, turnIsOver } from '../../event-loop/turns.js'
import { isStorageError } from '../../storage/errors.js'
import { isLed } from '../controller-manager.js'
import type { Controller, ControllerOptions } from '../controller.js'
import { Informer } from '../informer.js'
import { ignoring } from '../races.js'
import { WorkQueue, type Verdict } from '../work-queue.js'
import { withReady } from './default-ranges.js'
import { isUsable } from './ranges-in-use.js'

/** Milliseconds until all servers know that a range is about to go, and give no address of it any more. */
const SETTLE_MS = 10_000
/** Milliseconds until ranges in use, or those that a controller manager should have seen to, are looked at again. */
const AGAIN_MS = 30_000
const READY = { status: 'True', reason: '', message: 'The ranges of service addresses are ready' } as const
const TERMINATING = {
  status: 'False', reason: 'Terminating', message: 'There are addresses of these ranges that no other ServiceCIDR has'
} as const

const rangesOf = ({ spec: { cidrs = [] } }: ServiceCIDR): Range[] => cidrs.flatMap(cidr => parseRange(cidr) ?? [])

export class RangeFinalizers implements Controller {
  readonly #options: ControllerOptions
  readonly #queue: WorkQueue
  #informers: readonly Informer[] = []
  readonly #leaving = new Set<string>()

  constructor (options: ControllerOptions) {
    this.#options = options
    this.#queue = new WorkQueue({
      workers: 1,
      work: (name, signal) => this.#reconcile(name, serverContext(signal)),
      failed: (name, error) => {
        if (isStorageError(error, 'Closed')) return
        options.log(`ServiceCIDR ${name} could not be reconciled, retrying`, error)
      },
      name: 'servicecidrs',
      observe: options.observeQueue,
      ...(options.clock === undefined ? {} : { clock: options.clock })
    })
  }

  async start (): Promise<void> {
    const { resources, log, clock } = this.#options
    const ranges = resources.find('networking.orch.io', 'servicecidrs')
    const addresses = resources.find('networking.orch.io', 'ipaddresses')
    if (ranges === undefined || addresses === undefined) return
    for (const informer of this.#informers) informer.close()
    const timed = clock === undefined ? {} : { clock }
    const lookAgain = (): void => { for (const name of this.#leaving) this.#queue.add(name) }
    this.#informers = [
      new Informer({
        store: ranges, log, ...timed, handlers: [{
          changed: ({ name }) => {
            this.#queue.add(name)
            lookAgain()
          }
        }]
      }),
      new Informer({ store: addresses, log, ...timed, handlers: [{ changed: () => {}, removed: lookAgain }] })
    ]
    for (const informer of this.#informers) await informer.start()
  }

  async close (): Promise<void> {
    for (const informer of this.#informers) informer.close()
    await this.#queue.close()
  }

  async #reconcile (name: string, context: WriteContext): Promise<Verdict> {
    const store = this.#options.resources.find('networking.orch.io', 'servicecidrs')
    const entry = store === undefined ? undefined : await current(store, store.keys.of('', name))
    this.#leaving.delete(name)
    if (store === undefined || entry === undefined) return 'done'
    if (await isLed(this.#options)) return this.#later(name, AGAIN_MS)
    const object = store.entries.read(entry) as ServiceCIDR // stores of ranges contain those
    const { metadata: { finalizers = [], deletionTimestamp } } = object
    const isHeld = finalizers.includes(RANGES_FINALIZER)
    if (deletionTimestamp === undefined) {
      if (!isHeld) await this.#setFinalizers(store, name, [...finalizers, RANGES_FINALIZER], context)
      await this.#setReady(store, object, READY, context)
      return 'done'
    }
    if (!isHeld) return 'done'
    if (await this.#isNeeded(store, object)) {
      this.#leaving.add(name)
      await this.#setReady(store, object, TERMINATING, context)
      return this.#later(name, AGAIN_MS)
    }
    const remaining = Date.parse(deletionTimestamp) + SETTLE_MS - store.clock.wall()
    if (remaining > 0) return this.#later(name, remaining)
    await this.#setFinalizers(store, name, finalizers.filter(finalizer => finalizer !== RANGES_FINALIZER), context)
    return 'done'
  }

  #later (name: string, milliseconds: number): Verdict {
    this.#queue.addAfter(name, milliseconds)
    return 'done'
  }

  async #setFinalizers (
    store: ResourceStore, name: string, finalizers: string[], context: WriteContext
  ): Promise<void> {
    await changeUnowned(store, { namespace: '', name }, context, base => {
      const object = base.copy() as ServiceCIDR // stores of ranges contain those
      return { ...object, metadata: { ...object.metadata, finalizers } }
    }).catch(ignoring('NotFound', 'Conflict'))
  }

  async #setReady (
    store: ResourceStore, object: ServiceCIDR, ready: typeof READY | typeof TERMINATING, context: WriteContext
  ): Promise<void> {
    const { metadata: { name = '' }, status: { conditions = [] } } = object
    const before = conditions.find(({ type }) => type === 'Ready')
    if (before?.status === ready.status && (ready.status === 'True' || before.reason === ready.reason)) return
    await change(store, { namespace: '', name, subresource: 'status' }, context, base => withReady(
      base.copy() as ServiceCIDR, // stores of ranges contain those
      ready, store
    )).catch(ignoring('NotFound', 'Conflict'))
  }

  /** Whether an address of the ranges is taken that is in no other ServiceCIDR. */
  async #isNeeded (store: ResourceStore, leaving: ServiceCIDR): Promise<boolean> {
    const own = rangesOf(leaving)
    const others = (await list(store, EVERYTHING)).entries
      .map(entry => store.entries.read(entry) as ServiceCIDR) // stores of ranges contain those
      .filter(range => range.metadata.name !== leaving.metadata.name && isUsable(range)).flatMap(rangesOf)
    const addresses = this.#options.resources.find('networking.orch.io', 'ipaddresses')
    if (addresses === undefined) return false
    for (const { name } of (await list(addresses, EVERYTHING)).entries) {
      if (turnIsOver()) await nextTurn()
      const address = parseAddress(name)
      if (address === undefined) continue
      const isIn = (ranges: readonly Range[]): boolean => ranges.some(range => contains(range, address))
      if (isIn(own) && !isIn(others)) return true
    }
    return false
  }
}

/**
 * Maintains `orch`, the ServiceCIDR with the ranges that the server was started with: made anew within a minute when
 * it is deleted, and given a second range where the server has one. Other ranges than its own change nothing, since
 * services have addresses of it; an event says so.
 */
import type { ServiceCIDR } from '../../schemas/api/networking/v1.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { isStatusError } from '../../schemas/status.js'
import { canonicalForm } from '../../schemas/rules/address-forms.js'
import { create } from '../../registry/verbs/create.js'
import { change, changeUnowned } from '../../registry/verbs/change.js'
import { current } from '../../registry/current.js'
import type { ResourceStore } from '../../registry/resource-store.js'
import { now } from '../../registry/write-context.js'
import type { ControllerOptions } from '../controller.js'
import { Periodic } from '../periodic.js'
import { ignoring } from '../races.js'
import { warningEvent } from '../warning-event.js'

export interface DefaultRangesOptions extends ControllerOptions {
  /** One, or one of each IP family. */
  readonly ranges: readonly string[]
  /** Receives notes for the operator. */
  readonly note: (text: string) => void
}

const DEFAULT_NAME = 'orch'
const INTERVAL_MS = 60_000
const TARGET = { namespace: '', name: DEFAULT_NAME }
const isReady = ({ status: { conditions = [] } }: ServiceCIDR): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True')

/** The object with the condition Ready as it should be. */
export function withReady (
  object: ServiceCIDR, ready: { readonly status: 'True' | 'False', readonly reason: string, readonly message: string },
  store: ResourceStore
): ServiceCIDR {
  const conditions = (object.status.conditions ?? []).filter(({ type }) => type !== 'Ready')
  const condition = { type: 'Ready', ...ready, lastTransitionTime: now(store) }
  return { ...object, status: { conditions: [...conditions, condition] } }
}

export class DefaultRanges extends Periodic<DefaultRangesOptions> {
  readonly #ranges: readonly string[]
  #noted = ''
  #reported = ''

  constructor (options: DefaultRangesOptions) {
    super(options)
    this.#ranges = options.ranges.map(range => canonicalForm(range, 'cidr') ?? range)
  }

  protected get interval (): number { return INTERVAL_MS }
  protected get failure (): string { return 'the default ranges of services are not as they should be' }

  protected async reconcile (): Promise<void> {
    const store = this.options.resources.find('networking.orch.io', 'servicecidrs')
    if (store === undefined) return
    const range = await this.#current(store) ?? await this.#make(store)
    if (range === undefined || range.metadata.deletionTimestamp !== undefined) return
    const { spec: { cidrs = [] } } = range
    const [first, second] = this.#ranges
    if (first === cidrs[0] && second !== undefined && cidrs.length === 1) await this.#widen(store)
    else if (first !== cidrs[0] || (second !== undefined && second !== cidrs[1])) {
      await this.#tell(
        range, `services get addresses of ${cidrs.join(', ')}, as ServiceCIDR ${DEFAULT_NAME} says, and not of the ` +
          `ranges that the server was started with (${this.#ranges.join(', ')})`
      )
    }
    if (isReady(range)) return
    await change(store, { ...TARGET, subresource: 'status' }, this.context, base => withReady(
      base.copy() as ServiceCIDR, // stores of ranges contain those
      { status: 'True', reason: '', message: 'The default ranges of service addresses are ready' }, store
    )).catch(ignoring('NotFound', 'Conflict'))
  }

  async #current (store: ResourceStore): Promise<ServiceCIDR | undefined> {
    const entry = await current(store, store.keys.of('', DEFAULT_NAME))
    return entry === undefined ? undefined : store.entries.read(entry) as ServiceCIDR // stores of ranges contain those
  }

  /** Another server may be faster. */
  async #make (store: ResourceStore): Promise<ServiceCIDR | undefined> {
    const object = {
      kind: 'ServiceCIDR', apiVersion: 'networking.orch.io/v1', metadata: { name: DEFAULT_NAME },
      spec: { cidrs: [...this.#ranges] }, status: {}
    } as ApiObject
    await create(store, object, { namespace: '', name: '' }, this.context).catch(ignoring('AlreadyExists'))
    return await this.#current(store)
  }

  async #widen (store: ResourceStore): Promise<void> {
    await changeUnowned(store, TARGET, this.context, base => {
      const object = base.copy() as ServiceCIDR // stores of ranges contain those
      return { ...object, spec: { cidrs: [...this.#ranges] } }
    }).catch(ignoring('NotFound', 'Conflict', 'Invalid'))
  }

  /** Tells the operator in the log, and by an event, which the next run makes if this one cannot. */
  async #tell ({ metadata: { uid = '' } }: ServiceCIDR, text: string): Promise<void> {
    if (text !== this.#noted) this.options.note(text)
    this.#noted = text
    const store = this.options.resources.find('', 'events')
    if (store === undefined || text === this.#reported) return
    const event = warningEvent({
      about: { kind: 'ServiceCIDR', apiVersion: 'networking.orch.io/v1', namespace: '', name: DEFAULT_NAME, uid },
      reason: 'OrchDefaultServiceCIDRInconsistent', message: text,
      component: 'orch-default-service-cidr-controller', time: now(store)
    })
    try {
      const { namespace } = event.metadata
      await create(store, event as ApiObject, { namespace, name: '' }, this.context)
      this.#reported = text
    } catch (error) {
      if (!isStatusError(error)) throw error
    }
  }
}

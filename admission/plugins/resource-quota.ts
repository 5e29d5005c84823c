/**
 * ResourceQuota: keeps the usage of a namespace within its quotas, with concurrent creates on any number of servers:
 * each object is charged by a conditional update of the quota's status. Dry runs check without charging. The quota
 * controller releases charges of objects that were not written. (Enabled by default.)
 */
import type { ResourceQuota } from '../../schemas/api/core/resourcequotas.js'
import type { ApiObject } from '../../schemas/meta/api-object.js'
import { isStatusError } from '../../schemas/status.js'
import { serverContext } from '../../registry/write-context.js'
import { change } from '../../registry/verbs/change.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { minus, nonZero } from '../amounts.js'
import { usedAfter, chargeFor, type Charge } from '../quota/check.js'
import { evaluatorOf } from '../quota/evaluators.js'
import type { Evaluator } from '../quota/evaluator.js'
import { uncovered, type LimitedResource } from '../quota/limited.js'
import { typed, type AdmissionPlugin, type AdmissionRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

const QUOTAS = 'resourcequotas'
/** Frequent resources that quotas do not limit. */
const EXEMPT: ReadonlySet<string> = new Set([
  '/events', 'events.orch.io/events', '/bindings', 'authorization.orch.io/localsubjectaccessreviews'
])

export function resourceQuota (
  resources: ResourceRegistry, limited: readonly LimitedResource[]
): AdmissionPlugin {
  const accounts = new Accounts(resources, limited)
  /** Objects already charged: a retried write is not charged again. */
  const paid = new WeakSet<object>()
  return {
    name: 'ResourceQuota',
    handles: request => request.namespace !== '' && !(request.group === '' && request.resource === 'namespaces') &&
      !EXEMPT.has(`${request.group}/${request.resource}`) &&
      evaluatorOf(resources, request.group, request.resource).handles(request),
    validate: async request => {
      const { object, namespace, reader } = request
      if (object === undefined || paid.has(object)) return
      // the resource's type
      const quotas = async (): Promise<ResourceQuota[]> => await reader.list('', QUOTAS, namespace) as ResourceQuota[]
      const quotasHere = await quotas()
      if ((quotasHere.length === 0 && limited.length === 0) || accounts.chargesFor(request, quotasHere).length === 0 ||
        request.dryRun) {
        return
      }
      await accounts.serialized(namespace, async () => {
        await accounts.charge(request, accounts.chargesFor(request, await quotas()))
      })
      paid.add(object)
    }
  }
}

/** What the quotas of namespaces are charged. */
class Accounts {
  readonly #resources: ResourceRegistry
  readonly #limited: readonly LimitedResource[]
  /** Serializes charges per namespace, because concurrent ones would conflict. */
  readonly #queues = new Map<string, Promise<void>>()

  constructor (resources: ResourceRegistry, limited: readonly LimitedResource[]) {
    this.#resources = resources
    this.#limited = limited
  }

  async serialized (namespace: string, work: () => Promise<void>): Promise<void> {
    const before = this.#queues.get(namespace) ?? Promise.resolve()
    const mine = before.then(work)
    const settled = mine.catch(() => {})
    this.#queues.set(namespace, settled)
    await mine.finally(() => { if (this.#queues.get(namespace) === settled) this.#queues.delete(namespace) })
  }

  /** @returns the charges of a request. Throws a StatusError if it exceeds a quota */
  chargesFor (request: AdmissionRequest, quotas: readonly ResourceQuota[]): Charge[] {
    const { group, resource, object, oldObject } = typed<ApiObject>(request)
    if (object === undefined) return []
    const evaluator = evaluatorOf(this.#resources, group, resource)
    const now = this.#resources.clock.wall()
    const evaluated = { evaluator, object, old: oldObject, now }
    const charges: Charge[] = []
    for (const quota of quotas) {
      const charge = chargeFor(quota, evaluated)
      if (typeof charge === 'string') throw refusal(request, charge)
      if (charge !== undefined) charges.push(charge)
    }
    const why = this.#limited.length > 0 && takesMore(evaluator, object, oldObject, now)
      ? uncovered(this.#limited, request, evaluated, quotas)
      : undefined
    if (why !== undefined) throw refusal(request, why)
    for (const charge of charges) {
      const quota = quotas.find(({ metadata }) => metadata.name === charge.name)
      const outcome = quota === undefined ? undefined : usedAfter(quota, charge)
      if (request.dryRun && typeof outcome === 'string') throw refusal(request, outcome)
    }
    return charges
  }

  /** Charges all or none. @throws StatusError if one exceeds its quota */
  async charge (request: AdmissionRequest, charges: readonly Charge[]): Promise<void> {
    const done: Charge[] = []
    try {
      for (const charge of charges) {
        await this.#chargeOne(request, charge)
        done.push(charge)
      }
    } catch (error) {
      // otherwise the quota controller releases it
      for (const { name, amounts } of done) {
        await this.#changeUsed(request, name, ({ status }) => minus(status.used ?? {}, amounts)).catch(() => {})
      }
      throw error
    }
  }

  async #chargeOne (request: AdmissionRequest, charge: Charge): Promise<void> {
    await this.#changeUsed(request, charge.name, quota => {
      const outcome = usedAfter(quota, charge)
      if (typeof outcome === 'string') throw refusal(request, outcome)
      return outcome.used
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error // the quota was deleted
    })
  }

  async #changeUsed (
    { namespace, signal }: AdmissionRequest, name: string,
    used: (quota: ResourceQuota) => Readonly<Record<string, string>>
  ): Promise<void> {
    const store = this.#resources.find('', QUOTAS)
    if (store === undefined) return
    await change(store, { namespace, name, subresource: 'status' }, serverContext(signal), base => {
      const quota = base.copy() as ResourceQuota // stores of quotas contain quotas
      quota.status = { ...quota.status, used: { ...used(quota) } }
      return quota
    })
  }
}

/** Whether the object uses more than the one it replaces. */
const takesMore = (evaluator: Evaluator, object: ApiObject, old: ApiObject | undefined, now: number): boolean =>
  old === undefined || Object.keys(nonZero(minus(evaluator.usage(object, now), evaluator.usage(old, now)))).length > 0

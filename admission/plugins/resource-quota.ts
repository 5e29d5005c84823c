/**
 * ResourceQuota: what a namespace uses stays within each of its quotas, however many create in it at once and on however many
 * servers: an object is charged by an update of the quota's status, which fails where another one was first. A dry run is
 * looked at and charges nothing. What was charged for an object that then was not written is given back by the controller of
 * quotas. (Of the default set.)
 */
import type { ResourceQuota } from '../../schemas/api/core/resourcequotas.js'
import type { ApiObject } from '../../schemas/index.js'
import { isStatusError } from '../../schemas/status.js'
import { serverContext } from '../../registry/operations/context.js'
import { change } from '../../registry/operations/update.js'
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { minus, some } from '../amounts.js'
import { chargeFor, charged } from '../quota/check.js'
import type { Charge } from '../quota/check.js'
import { evaluatorOf } from '../quota/evaluators.js'
import type { Evaluator } from '../quota/evaluator.js'
import { uncovered } from '../quota/limited.js'
import type { LimitedResource } from '../quota/limited.js'
import type { AdmissionPlugin, AdmissionRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

const QUOTAS = 'resourcequotas'
/** Of what comes by the thousand, and nobody limits. */
const FREE: ReadonlySet<string> = new Set(['/events', 'events.orch.io/events', '/bindings', 'authorization.orch.io/localsubjectaccessreviews'])

export function resourceQuota (resources: () => ResourceRegistry, limited: readonly LimitedResource[]): AdmissionPlugin {
  /** One at a time for each namespace: they would only meet in its quotas. */
  const turns = new Map<string, Promise<void>>()
  /** Those that were charged: an object that is judged again, as the write of it met something, has paid. */
  const paid = new WeakSet<object>()

  const chargeAll = async (request: AdmissionRequest, charges: readonly Charge[]): Promise<void> => {
    const done: Charge[] = []
    try {
      for (const charge of charges) {
        await charging(request, charge)
        done.push(charge)
      }
    } catch (error) {
      for (const { name, takes } of done) await changeUsed(request, name, ({ status }) => minus(status.used ?? {}, takes)).catch(() => {}) // the controller of quotas gives it back else
      throw error
    }
  }

  const charging = async (request: AdmissionRequest, charge: Charge): Promise<void> => {
    await changeUsed(request, charge.name, quota => {
      const outcome = charged(quota, charge)
      if (typeof outcome === 'string') throw refusal(request, outcome)
      return outcome.used
    }).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) throw error // a quota that has gone limits nothing
    })
  }

  const changeUsed = async ({ namespace, signal }: AdmissionRequest, name: string, used: (quota: ResourceQuota) => Readonly<Record<string, string>>): Promise<void> => {
    const store = resources().find('', QUOTAS)
    if (store === undefined) return
    await change(store, { namespace, name, subresource: 'status' }, serverContext(signal), base => {
      const quota = base.copy() as ResourceQuota // of the store of quotas
      quota.status = { ...quota.status, used: { ...used(quota) } }
      return quota
    })
  }

  /** @returns what it is to be charged with. Throws a StatusError where it does not fit */
  const judge = (request: AdmissionRequest, quotas: readonly ResourceQuota[]): Charge[] => {
    const { group, resource, object, oldObject } = request as unknown as { group: string, resource: string, object: ApiObject, oldObject: ApiObject | undefined }
    const evaluator = evaluatorOf(group, resource)
    const now = Date.now()
    const charges: Charge[] = []
    for (const quota of quotas) {
      const charge = chargeFor(quota, evaluator, object, oldObject, now)
      if (typeof charge === 'string') throw refusal(request, charge)
      if (charge !== undefined) charges.push(charge)
    }
    const why = limited.length > 0 && takesMore(evaluator, object, oldObject, now) ? uncovered(limited, request, evaluator, object, quotas, now) : undefined
    if (why !== undefined) throw refusal(request, why)
    for (const charge of charges) {
      const quota = quotas.find(({ metadata }) => metadata.name === charge.name)
      const outcome = quota === undefined ? undefined : charged(quota, charge)
      if (request.dryRun && typeof outcome === 'string') throw refusal(request, outcome)
    }
    return charges
  }

  const inTurn = async (namespace: string, work: () => Promise<void>): Promise<void> => {
    const before = turns.get(namespace) ?? Promise.resolve()
    const mine = before.then(work)
    const settled = mine.catch(() => {})
    turns.set(namespace, settled)
    await mine.finally(() => { if (turns.get(namespace) === settled) turns.delete(namespace) })
  }

  return {
    name: 'ResourceQuota',
    handles: request => request.namespace !== '' && !(request.group === '' && request.resource === 'namespaces') && !FREE.has(`${request.group}/${request.resource}`) && evaluatorOf(request.group, request.resource).handles(request),
    validate: async request => {
      const { object, namespace, reader } = request
      if (object === undefined || paid.has(object)) return
      const quotas = async (): Promise<ResourceQuota[]> => await reader.list('', QUOTAS, namespace) as ResourceQuota[] // of their type
      const found = await quotas()
      if ((found.length === 0 && limited.length === 0) || judge(request, found).length === 0 || request.dryRun) return
      await inTurn(namespace, async () => { await chargeAll(request, judge(request, await quotas())) })
      paid.add(object)
    }
  }
}

/** Whether an object uses more than the one in whose place it comes. */
const takesMore = (evaluator: Evaluator, object: ApiObject, old: ApiObject | undefined, now: number): boolean =>
  old === undefined || Object.keys(some(minus(evaluator.usage(object, now), evaluator.usage(old, now)))).length > 0

/** What is counted of each resource that is in namespaces. */
import type { ApiObject } from '../../schemas/index.js'
import type { Amounts } from '../admission/amounts.js'
import type { AdmissionRequest } from '../admission/contract.js'
import { claimEvaluator, countEvaluator, serviceEvaluator } from './objects.js'
import { podEvaluator } from './pods.js'
import type { Scope } from './scopes.js'

export interface Evaluator {
  /** Requests that may use more. */
  readonly handles: (request: Pick<AdmissionRequest, 'operation' | 'subresource'>) => boolean
  /** Whether it is what a quota calls so. */
  readonly tracks: (name: string) => boolean
  /** By all the names that it tracks. @param now milliseconds since 1970 */
  readonly usage: (object: ApiObject, now: number) => Amounts
  /** What an object has to say where a quota is about these names; undefined where it does. */
  readonly constraint?: (object: ApiObject, names: readonly string[]) => string | undefined
  readonly isIn: (object: ApiObject, scope: Scope) => boolean
  /** Each object is one, whatever it is. */
  readonly countsOnly?: true
}

const OWN: Readonly<Record<string, Evaluator>> = { '/pods': podEvaluator, '/services': serviceEvaluator, '/persistentvolumeclaims': claimEvaluator }
const counts = new Map<string, Evaluator>()

export function evaluatorOf (group: string, resource: string): Evaluator {
  const key = `${group}/${resource}`
  const own = Object.hasOwn(OWN, key) ? OWN[key] : counts.get(key)
  if (own !== undefined) return own
  const made = countEvaluator(group, resource)
  counts.set(key, made)
  return made
}

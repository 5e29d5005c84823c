/** The evaluator of each namespaced resource. */
import { deviceClaimEvaluator } from './device-claims.js'
import type { Evaluator } from './evaluator.js'
import { claimEvaluator, countEvaluator, serviceEvaluator } from './objects.js'
import { podEvaluator } from './pods.js'

const OWN: Readonly<Record<string, Evaluator>> = {
  '/pods': podEvaluator, '/services': serviceEvaluator, '/persistentvolumeclaims': claimEvaluator,
  'resource.orch.io/resourceclaims': deviceClaimEvaluator
}
const counts = new Map<string, Evaluator>()

export function evaluatorOf (group: string, resource: string): Evaluator {
  const key = `${group}/${resource}`
  const own = Object.hasOwn(OWN, key) ? OWN[key] : counts.get(key)
  if (own !== undefined) return own
  const made = countEvaluator(group, resource)
  counts.set(key, made)
  return made
}

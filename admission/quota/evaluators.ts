/** The evaluator of each namespaced resource. */
import type { ResourceRegistry } from '../../registry/resource-registry.js'
import { deviceClaimEvaluator } from './device-claims.js'
import type { Evaluator } from './evaluator.js'
import { extendedResources } from './extended-resources.js'
import { claimEvaluator, countEvaluator, serviceEvaluator } from './objects.js'
import { podEvaluator } from './pods.js'

type Evaluators = Readonly<Record<string, Evaluator>>

const OWN: Evaluators = {
  '/pods': podEvaluator(), '/services': serviceEvaluator, '/persistentvolumeclaims': claimEvaluator,
  'resource.orch.io/resourceclaims': deviceClaimEvaluator()
}
const counts = new Map<string, Evaluator>()
/** Of registries where devices count by extended resources too. */
const extended = new WeakMap<ResourceRegistry, Evaluators>()

function ownOf (resources: ResourceRegistry): Evaluators {
  const made = extended.get(resources)
  if (made !== undefined) return made
  const ofClasses = extendedResources(resources)
  if (ofClasses === undefined) return OWN
  const evaluators = {
    ...OWN, '/pods': podEvaluator('extended'), 'resource.orch.io/resourceclaims': deviceClaimEvaluator(ofClasses)
  }
  extended.set(resources, evaluators)
  return evaluators
}

export function evaluatorOf (resources: ResourceRegistry, group: string, resource: string): Evaluator {
  const key = `${group}/${resource}`
  const own = Object.hasOwn(OWN, key) ? ownOf(resources)[key] : counts.get(key)
  if (own !== undefined) return own
  const counter = countEvaluator(group, resource)
  counts.set(key, counter)
  return counter
}

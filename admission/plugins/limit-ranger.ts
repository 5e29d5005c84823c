/**
 * LimitRanger: enforces the LimitRanges of a namespace for pods and claims, and sets default requests and limits of
 * containers, which it records in an annotation. (Enabled by default.)
 *
 * Contradictory LimitRanges all apply.
 */
import type { LimitRange } from '../../schemas/api/core/limitranges.js'
import type { PersistentVolumeClaim } from '../../schemas/api/core/persistentvolumeclaims.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import { MAX_VALUES } from '../../schemas/limits.js'
import { listed, tooLarge } from '../../schemas/status.js'
import { typed, type AdmissionRequest, type AdmissionPlugin } from '../../registry/admission.js'
import { claimFindings, podFindings } from './limit-ranger-items.js'
import { refusal } from '../refusal.js'

const ANNOTATION = 'orch.io/limit-ranger'

export const limitRanger: AdmissionPlugin = {
  name: 'LimitRanger',
  // A pod's requests and limits can be changed through pods/resize alone.
  handles: [{ operations: ['CREATE'], groups: [''], resources: ['pods'] }, {
    operations: ['UPDATE'], groups: [''], resources: ['pods/resize']
  }, {
    operations: ['CREATE', 'UPDATE'], groups: [''], resources: ['persistentvolumeclaims']
  }],
  mutate: async request => {
    if (request.resource !== 'pods') return
    const { object } = typed<Pod>(request)
    if (object !== undefined) for (const range of await rangesOf(request)) setDefaults(object, range)
  },
  validate: async request => {
    if (typed(request).oldObject?.metadata.deletionTimestamp !== undefined) return
    for (const { spec: { limits = [] } } of await rangesOf(request)) {
      const findings = [...new Set(request.resource === 'pods'
        ? podFindings(typed<Pod>(request).object, limits)
        : claimFindings(typed<PersistentVolumeClaim>(request).object, limits))]
      if (findings.length > 0) throw refusal(request, listed(findings))
    }
  }
}

async function rangesOf ({ reader, namespace }: AdmissionRequest): Promise<LimitRange[]> {
  return await reader.list('', 'limitranges', namespace) as LimitRange[] // the resource's type
}

function setDefaults ({ metadata, spec }: Pod, { spec: { limits = [] } }: LimitRange): void {
  const ofContainers = limits.filter(({ type }) => type === 'Container')
  const defaults = {
    requests: Object.assign({}, ...ofContainers.map(item => item.defaultRequest)), limits: Object
      .assign({}, ...ofContainers.map(item => item.default))
  } as Record<'requests' | 'limits', Record<string, string>>
  const names = { requests: Object.keys(defaults.requests).sort(), limits: Object.keys(defaults.limits).sort() }
  const descriptions: string[] = []
  let set = 0
  for (const [what, containers = []] of [
    ['container', spec.containers], ['init container', spec.initContainers]
  ] as const) {
    for (const { name, resources } of containers) {
      for (const [member, singular] of [['requests', 'request'], ['limits', 'limit']] as const) {
        const own = resources[member] ?? {}
        const missing = names[member].filter(resource => !Object.hasOwn(own, resource))
        if (missing.length === 0) continue
        set += missing.length
        if (set > MAX_VALUES) {
          throw tooLarge(`the defaults of LimitRanges make more than ${MAX_VALUES} values of the pod's resources`)
        }
        resources[member] = { ...defaults[member], ...own }
        descriptions.push(`${missing.join(', ')} ${singular} for ${what} ${name}`)
      }
    }
  }
  if (descriptions.length > 0) {
    metadata.annotations = {
      ...metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${descriptions.join('; ')}`
    }
  }
}

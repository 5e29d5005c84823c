/**
 * RuntimeClass: the runtime class of a pod must exist; the plugin sets its overhead, refuses other values, and
 * restricts scheduling to the nodes of the runtime. (Enabled by default.)
 */
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import type { RuntimeClass } from '../../schemas/api/node/v1.js'
import { equal } from '../amounts.js'
import { pluginFor, type TypedRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'
import { mergeTolerations } from '../tolerations.js'

const OTHER_OVERHEAD = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

export const runtimeClass = pluginFor<Pod>(pods, {
  name: 'RuntimeClass',
  operations: ['CREATE'],
  mutate: async request => {
    const resolved = await classOf(request)
    if (resolved === undefined || request.object === undefined) return
    const { spec } = request.object
    const { overhead, scheduling } = resolved
    if (overhead !== undefined) {
      if (spec.overhead !== undefined && !equal(spec.overhead, overhead.podFixed ?? {})) {
        throw refusal(request, OTHER_OVERHEAD)
      }
      if (overhead.podFixed === undefined) delete spec.overhead
      else spec.overhead = { ...overhead.podFixed }
    }
    if (scheduling === undefined) return
    const selector = { ...spec.nodeSelector }
    for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
      const own = Object.hasOwn(selector, key) ? selector[key] : undefined
      if (own !== undefined && own !== value) {
        throw refusal(
          request,
          `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`
        )
      }
      selector[key] = value
    }
    if (Object.keys(selector).length > 0) spec.nodeSelector = selector
    const tolerations = mergeTolerations(spec.tolerations ?? [], scheduling.tolerations ?? [])
    if (tolerations.length > 0) spec.tolerations = tolerations
  },
  validate: async request => {
    const { overhead } = request.object?.spec ?? {}
    const defined = (await classOf(request))?.overhead
    if (defined === undefined) {
      if (overhead !== undefined) {
        throw refusal(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')
      }
    } else if (!equal(overhead ?? {}, defined.podFixed ?? {})) throw refusal(request, OTHER_OVERHEAD)
  }
})

async function classOf (request: TypedRequest<Pod>): Promise<RuntimeClass | undefined> {
  const name = request.object?.spec.runtimeClassName
  if (name === undefined) return undefined
  // the resource's type
  const resolved = await request.reader.get('node.orch.io', 'runtimeclasses', '', name) as RuntimeClass | undefined
  if (resolved === undefined) throw refusal(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
  return resolved
}

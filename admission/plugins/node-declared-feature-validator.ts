/**
 * NodeDeclaredFeatureValidator: the agent of a pod's node must say that it can do what a change of the pod asks for.
 * (Enabled by default.)
 */
import type { Node } from '../../schemas/api/core/nodes.js'
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import { isSidecar } from '../../schemas/api/core/rules/restarts.js'
import { sameValue } from '../../schemas/language/values.js'
import { compareQuantities } from '../../schemas/meta/quantity.js'
import { pluginFor, type TypedRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

export const nodeDeclaredFeatureValidator = pluginFor<Pod>(pods, {
  name: 'NodeDeclaredFeatureValidator',
  operations: ['UPDATE'],
  subresources: ['', 'resize'],
  validate: async request => {
    const { object, oldObject } = request
    const { nodeName = '' } = object?.spec ?? {}
    if (object === undefined || nodeName === '' || sameValue(object.spec, oldObject?.spec)) return
    const features = needed(request)
    if (features.length === 0) return
    const named = JSON.stringify(nodeName)
    const node = await request.reader.get('', 'nodes', '', nodeName) as Node | undefined // the resource's type
    if (node === undefined) throw refusal(request, `node ${named} not found`)
    const missing = features.filter(feature => node.status.declaredFeatures?.includes(feature) !== true)
    if (missing.length > 0) {
      throw refusal(
        request, `pod update requires features ${missing.join(', ')} which are not available on node ${named}`
      )
    }
  }
})

/** What the node's agent must be able to do. */
function needed ({ object, oldObject }: TypedRequest<Pod>): string[] {
  const [spec, old] = [object?.spec, oldObject?.spec]
  const changes = (list: 'containers' | 'initContainers', counts: (index: number) => boolean): boolean =>
    spec?.[list]?.some((_, index) => counts(index)) === true
  const cpu = (index: number): boolean => compareQuantities(
    spec?.containers?.[index]?.resources.requests?.['cpu'], old?.containers?.[index]?.resources.requests?.['cpu']
  ) !== 0
  const init = (index: number): boolean => {
    const before = old?.initContainers?.[index]
    return before !== undefined && !isSidecar(before) &&
      !sameValue(before.resources, spec?.initContainers?.[index]?.resources)
  }
  return [
    ...oldObject?.status.qosClass === 'Guaranteed' && changes('containers', cpu) ? ['GuaranteedQoSPodCPUResize'] : [],
    ...changes('initContainers', init) ? ['InPlacePodVerticalScalingInitContainers'] : [],
    ...sameValue(spec?.resources, old?.resources) ? [] : ['InPlacePodLevelResourcesVerticalScaling']
  ]
}

/**
 * PodResizeValidator: what a pod on a node asks for with a resize must be there: the node, on Linux, with as much as is
 * asked for. (Enabled by default.)
 */
import type { Node } from '../../schemas/api/core/nodes.js'
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import { podAmounts } from '../../schemas/api/core/rules/pod-resources.js'
import { sameValue } from '../../schemas/language/values.js'
import { compareQuantities, wholeUnits } from '../../schemas/meta/quantity.js'
import type { StatusError } from '../../schemas/status.js'
import { pluginFor } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

const OS = 'orch.io/os'

export const podResizeValidator = pluginFor<Pod>(pods, {
  name: 'PodResizeValidator',
  operations: ['UPDATE'],
  subresources: ['resize'],
  validate: async request => {
    const { object, oldObject } = request
    const { nodeName = '' } = object?.spec ?? {}
    if (object === undefined || nodeName === '' || sameValue(object.spec, oldObject?.spec)) return
    const node = await request.reader.get('', 'nodes', '', nodeName) as Node | undefined // the resource's type
    const named = JSON.stringify(nodeName)
    if (node === undefined) throw refusal(request, `node ${named} not found`)
    const os = node.metadata.labels?.[OS] ?? 'linux'
    if (os !== 'linux') {
      const why = `pod resize is only supported on linux nodes, node ${named} is ${JSON.stringify(os)}`
      throw withCause(refusal(request, why), 'UnsupportedPlatform')
    }
    const missing = beyond(object, node)
    if (missing !== '') {
      throw withCause(refusal(request, `node didn't have enough allocatable resources: ${missing}`), 'NodeCapacity')
    }
  }
})

function withCause (error: StatusError, reason: string): StatusError {
  const { details } = error.status
  if (details !== undefined) details.causes = [{ reason }]
  return error
}

/** What is asked for and not there. */
function beyond ({ spec }: Pod, { status: { allocatable = {} } }: Node): string {
  const requests = podAmounts(spec, 'requests')
  return ([['cpu', -3], ['memory', 0]] as const)
    .filter(([name]) => compareQuantities(requests.get(name), allocatable[name]) > 0)
    .map(([name, unit]) => {
      const [requested, there] = [requests.get(name), allocatable[name]].map(amount => wholeUnits(amount ?? '0', unit))
      return `${name}, requested: ${requested}, allocatable: ${there}`
    })
    .join('; ')
}

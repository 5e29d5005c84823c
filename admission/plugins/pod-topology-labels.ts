/**
 * PodTopologyLabels: a pod that gets its node gets the labels that say in which zone and region that is, so that what
 * runs in it can ask for them. (Enabled by default.)
 */
import type { Binding } from '../../schemas/api/core/bindings.js'
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import { pluginFor, type TypedRequest } from '../../registry/admission.js'

const LABELS = ['topology.orch.io/zone', 'topology.orch.io/region']

export const podTopologyLabels = pluginFor<Pod | Binding>(pods, {
  name: 'PodTopologyLabels',
  operations: ['CREATE'],
  subresources: ['', 'binding'],
  mutate: async request => {
    const { object } = request
    if (object === undefined) return
    const name = nodeOf(object)
    if (name === '') return
    const labels = await topologyOf(request, name)
    if (Object.keys(labels).length > 0) object.metadata.labels = { ...object.metadata.labels, ...labels }
  }
})

/** Empty if there is none yet. A binding says what it binds to: that is not filled in. */
function nodeOf (object: Pod | Binding): string {
  if (!('target' in object)) return object.spec.nodeName ?? ''
  const { kind, name = '' } = object.target
  return kind === 'Node' ? name : ''
}

/** Empty for a node that is not there: a static pod may come before its node. */
async function topologyOf ({ reader }: TypedRequest<Pod | Binding>, name: string): Promise<Record<string, string>> {
  const node = await reader.get('', 'nodes', '', name)
  const { labels = {} } = node?.metadata ?? {}
  return Object.fromEntries(LABELS.flatMap(label => labels?.[label] === undefined ? [] : [[label, labels[label]]]))
}

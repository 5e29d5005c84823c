/** What a node agent may do with nodes, of NodeRestriction: change its own, and nothing there that draws pods to it. */
import type { Node } from '../../schemas/api/core/nodes.js'
import { sameValue } from '../../schemas/index.js'
import { typed } from '../../registry/admission.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

/** Node agents set these of the labels that belong to the system. */
const OWN_LABELS: ReadonlySet<string> = new Set([
  'orch.io/hostname', 'topology.orch.io/zone', 'topology.orch.io/region', 'failure-domain.beta.orch.io/zone', 'failure-domain.beta.orch.io/region',
  'node.orch.io/instance-type', 'beta.orch.io/instance-type', 'orch.io/os', 'orch.io/arch', 'beta.orch.io/os', 'beta.orch.io/arch', 'node.orch.io/windows-build'
])
/** And all below these names; the second is how the first is spelled where nothing but the domain was renamed. */
const OWN_DOMAINS = ['node-agent.orch.io', 'kubelet.orch.io', 'node.orch.io']
const SYSTEM = 'orch.io'
/** For administrators, to keep pods apart by. */
const RESTRICTED = 'node-restriction.orch.io'

const isIn = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`)

function isForbidden (label: string): boolean {
  const domain = label.includes('/') ? label.slice(0, label.indexOf('/')) : ''
  if (isIn(domain, RESTRICTED)) return true
  return isIn(domain, SYSTEM) && !OWN_LABELS.has(label) && !OWN_DOMAINS.some(own => isIn(domain, own))
}

/** Of those that differ, what the node agent may not touch, by name. */
function forbiddenChanges (labels: Readonly<Record<string, string>> = {}, old: Readonly<Record<string, string>> = {}): string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(old)])
  return [...keys].filter(key => labels[key] !== old[key] && isForbidden(key)).sort()
}

export function admitNode (request: AdmissionRequest, node: string): void {
  const { object, oldObject: old } = typed<Node>(request)
  const refuse = (why: string): never => { throw refusal(request, `node ${JSON.stringify(node)} is not allowed to ${why}`) }
  // '' while it is still to be generated, which is nobody's.
  if (request.name !== node) refuse(`modify node ${JSON.stringify(request.name)}`)
  if (object === undefined) return
  const { metadata, spec } = object
  const changes = forbiddenChanges(metadata.labels, old?.metadata.labels)
  if (old === undefined) {
    if (spec.configSource !== undefined) refuse('create nodes with a configSource')
    if (changes.length > 0) refuse(`set the following labels: ${changes.join(', ')}`)
    return
  }
  // One that does not know the field leaves it out.
  if (spec.configSource !== undefined && !sameValue(spec.configSource, old.spec.configSource)) refuse('change configSource')
  if (!sameValue(spec.taints ?? [], old.spec.taints ?? [])) refuse('modify taints')
  if (changes.length > 0) throw refusal(request, `is not allowed to modify labels: ${changes.join(', ')}`)
}

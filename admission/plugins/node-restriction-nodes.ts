/** NodeRestriction for nodes: a node agent changes only its own Node, and nothing that attracts pods to it. */
import type { Node } from '../../schemas/api/core/nodes.js'
import type { Gates } from '../../schemas/gates.js'
import { sameValue } from '../../schemas/language/values.js'
import { typed, type AdmissionRequest } from '../../registry/admission.js'
import type { AdmissionNames } from '../names.js'
import { refusal } from '../refusal.js'

/** System labels that node agents may set. */
const OWN_LABELS: ReadonlySet<string> = new Set([
  'orch.io/hostname', 'topology.orch.io/zone', 'topology.orch.io/region', 'failure-domain.beta.orch.io/zone',
  'failure-domain.beta.orch.io/region', 'node.orch.io/instance-type', 'beta.orch.io/instance-type', 'orch.io/os',
  'orch.io/arch', 'beta.orch.io/os', 'beta.orch.io/arch', 'node.orch.io/windows-build'
])
/** Domains of labels that node agents may set; the second is upstream's with only the domain renamed. */
const OWN_DOMAINS = ['node-agent.orch.io', 'kubelet.orch.io', 'node.orch.io']
const SYSTEM = 'orch.io'
/** Reserved for administrators, to isolate workloads. */
const RESTRICTED = 'node-restriction.orch.io'

/** More domains than these, where labels have no other name. */
type LabelDomains = AdmissionNames['labelDomains']

const isIn = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`)

function isForbidden (label: string, { system, nodes }: LabelDomains): boolean {
  const domain = label.includes('/') ? label.slice(0, label.indexOf('/')) : ''
  if (isIn(domain, RESTRICTED)) return true
  if (system.some(parent => isIn(domain, parent))) return !nodes.some(parent => isIn(domain, parent))
  return isIn(domain, SYSTEM) && !OWN_LABELS.has(label) && !OWN_DOMAINS.some(own => isIn(domain, own))
}

/** Names of changed labels that node agents must not change, sorted. */
function forbiddenChanges (
  domains: LabelDomains, labels: Readonly<Record<string, string>> = {}, old: Readonly<Record<string, string>> = {}
): string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(old)])
  return [...keys].filter(key => labels[key] !== old[key] && isForbidden(key, domains)).sort()
}

export function admitNode (
  request: AdmissionRequest, node: string, domains: LabelDomains, gates: Pick<Gates, 'enabled'>
): void {
  const { object, oldObject: old } = typed<Node>(request)
  const refuse = (why: string): never => {
    throw refusal(request, `node ${JSON.stringify(node)} is not allowed to ${why}`)
  }
  // The name is '' before it is generated, and then never matches.
  if (request.name !== node) refuse(`modify node ${JSON.stringify(request.name)}`)
  if (object === undefined) return
  const { metadata, spec } = object
  const changes = forbiddenChanges(domains, metadata.labels, old?.metadata.labels)
  if (old === undefined) {
    if (spec.configSource !== undefined) refuse('create nodes with a configSource')
    if (changes.length > 0) refuse(`set the following labels: ${changes.join(', ')}`)
    return
  }
  // Node agents that do not know the field omit it.
  if (spec.configSource !== undefined && !sameValue(spec.configSource, old.spec.configSource)) {
    refuse('change configSource')
  }
  const [owners, oldOwners] = [metadata.ownerReferences ?? [], old.metadata.ownerReferences ?? []]
  if (gates.enabled('NodeKeepsOwners') && !sameValue(owners, oldOwners)) {
    refuse('modify ownerReferences')
  }
  if (!sameValue(spec.taints ?? [], old.spec.taints ?? [])) refuse('modify taints')
  if (changes.length > 0) throw refusal(request, `is not allowed to modify labels: ${changes.join(', ')}`)
}

/** Table columns of nodes. */
import type { Ages } from '../../meta/duration.js'
import { age, join, name, NONE, since, text, until, wideOnly, type Column } from '../../columns.js'
import type { Node } from './nodes.js'

const ROLE_PREFIX = 'node-role.orch.io/'
const ROLE = 'orch.io/role'

/** Roles from the keys of role labels, and from the value of the older label. */
function rolesOf ({ metadata }: Node, _ages: Ages, named: (own: string) => string): string {
  const [prefix, role] = [named(ROLE_PREFIX), named(ROLE)]
  const roles = new Set<string>()
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith(prefix)) roles.add(key.slice(prefix.length))
    else if (key === role) roles.add(value)
  }
  roles.delete('')
  return join([...roles].sort()) || NONE
}

function statusOf ({ spec, status }: Node): string {
  const ready = status.conditions?.findLast(({ type }) => type === 'Ready')
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  return spec.unschedulable === true ? `${state},SchedulingDisabled` : state
}

const addressOf = (wanted: string) =>
  ({ status }: Node): string => status.addresses?.find(({ type }) => type === wanted)?.address ?? NONE
const UNKNOWN = '<unknown>'

const kernelOf = ({ status }: Node): string => status.nodeInfo.kernelVersion || UNKNOWN
const architectureOf = ({ status: { nodeInfo: { architecture = '' } } }: Node): string =>
  architecture === '' ? '' : ` (${architecture})`

export const nodeColumns: ReadonlyArray<Column<Node>> = [
  name,
  text('Status', 'Whether it can run pods, and takes new ones.', statusOf),
  text('Roles', 'What the node is for.', rolesOf),
  age,
  text('Version', 'Version of the node agent.', ({ status }) => status.nodeInfo.kubeletVersion),
  wideOnly(text('Internal-IP', 'First address within the cluster.', addressOf('InternalIP'))),
  wideOnly(text('External-IP', 'First address for those outside.', addressOf('ExternalIP'))),
  wideOnly(text('OS-Image', 'Operating system of the node.', ({ status }) => status.nodeInfo.osImage || UNKNOWN)),
  until('1.36', wideOnly(text('Kernel-Version', 'Version of its kernel.', kernelOf))),
  since('1.36', wideOnly(text('Kernel-Version', 'Version of its kernel, and its architecture.', node =>
    `${kernelOf(node)}${architectureOf(node)}`))),
  wideOnly(text('Container-Runtime', 'Name and version of its container runtime.', ({ status }) =>
    status.nodeInfo.containerRuntimeVersion || UNKNOWN))
]

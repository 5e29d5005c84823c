/** Default stages of nodes: they become Ready, and renew their leases. */
import type { Node, NodeCondition } from '../../schemas/api/core/v1.js'
import type { Lease } from '../../schemas/api/coordination/v1.js'
import type { Simulated, Stage, StageContext } from './stage.js'

const LEASES = 'orch-node-lease'
const NOT_READY = 'node.orch.io/not-ready'
const LEASE_SECONDS = 40
const CAPACITY = { cpu: '32', memory: '256Gi', pods: '110', 'ephemeral-storage': '1Ti' }

/** A node that a simulation has from the start. */
export const nodeNamed = (name: string): object => ({
  metadata: { name, labels: { 'orch.io/hostname': name, 'orch.io/os': 'linux', 'orch.io/arch': 'amd64' } }
})

export const isReady = ({ status }: Pick<Node, 'status'>): boolean =>
  (status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')

const node = { apiVersion: 'v1', kind: 'Node' }

/** Timestamps with microseconds, as leases have them. */
const micro = (now: string): string => now.replace(/Z$/, '.000000Z')

/** @param address one that no node has */
export const nodeStages = (address: () => string): Stage[] => [
  {
    name: 'node-initialize',
    resource: node,
    when: object => !isReady(object as object as Node),
    next: {
      type: 'strategic',
      patch: object => ({
        spec: { taints: ((object as object as Node).spec?.taints ?? []).filter(({ key }) => key !== NOT_READY) }
      }),
      status: (object, context) => statusOf(object as object as Node, context, address),
      create: ({ metadata: { name, uid } }, { now }) => ({
        apiVersion: 'coordination.orch.io/v1', kind: 'Lease',
        metadata: { name, namespace: LEASES, ownerReferences: [{ ...node, name, uid }] },
        spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime: micro(now) }
      })
    }
  },
  {
    name: 'node-heartbeat',
    resource: { apiVersion: 'coordination.orch.io/v1', kind: 'Lease' },
    when: object => {
      const { metadata: { name, namespace, ownerReferences = [] }, spec } = object as Simulated & Lease
      return namespace === LEASES && spec?.holderIdentity === name &&
        ownerReferences.some(({ kind }) => kind === 'Node')
    },
    delay: '10s',
    next: { patch: (_lease, { now }) => ({ spec: { renewTime: micro(now) } }) }
  }
]

function statusOf (
  { metadata: { name = '' } = {}, status }: Node, { now }: StageContext,
  address: () => string
): object {
  const { addresses, capacity, allocatable } = status ?? {}
  const condition = (type: NodeCondition['type'], status: string, reason: string): object =>
    ({ type, status, reason, lastHeartbeatTime: now, lastTransitionTime: now })
  return {
    conditions: [
      condition('Ready', 'True', 'KubeletReady'), condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID')
    ],
    addresses: addresses ?? [{ type: 'InternalIP', address: address() }, { type: 'Hostname', address: name }],
    capacity: capacity ?? CAPACITY,
    allocatable: allocatable ?? capacity ?? CAPACITY,
    nodeInfo: { architecture: 'amd64', operatingSystem: 'linux', containerRuntimeVersion: 'simulated' }
  }
}

/** NetworkPolicy (v1): which traffic pods may receive and send. */
import type { Gates } from '../../gates.js'
import { age, name, selector, text, type Column } from '../../columns.js'
import { int32, one, string, list, type Static } from '../../language/declare.js'
import { clone } from '../../language/values.js'
import { metadata } from '../../meta/object.js'
import { Condition } from '../../meta/answers.js'
import { IntOrString } from '../../meta/int-or-string.js'
import { LabelSelector } from '../../meta/options.js'
import { resource } from '../../resource.js'
import {
  DIRECTIONS, PROTOCOLS, validateBlock, validateNetworkPolicySpec, validatePeer, validatePolicyPort
} from './rules/networkpolicies.js'
import { kind, message } from './package.js'

export type NetworkPolicyPort = Static<typeof NetworkPolicyPort>
export const NetworkPolicyPort = message('NetworkPolicyPort', 'A port or range of ports traffic may use.', {
  protocol: string(1, 'Transport protocol: TCP, UDP or SCTP; by default TCP.', {
    pointer: true, values: PROTOCOLS, closed: true, ruled: true, default: 'TCP'
  }),
  port: one(2, 'Number or name of the port; by default all ports.', IntOrString, { pointer: true }),
  endPort: int32(3, 'Last port of a range that begins with port.', { pointer: true, gate: 'NetworkPolicyEndPort' })
}, { validate: (object, at, report) => { validatePolicyPort(object, at, report) } })

export type IPBlock = Static<typeof IPBlock>
export const IPBlock = message('IPBlock', 'An address range without some parts of it.', {
  cidr: string(1, 'Address range, such as 192.168.1.0/24 or 2001:db8::/64.', { required: true, holds: 'cidr' }),
  except: list(2, 'Ranges inside cidr that are left out.', 'string', { holds: 'cidr' })
}, { validate: (object, at, report) => { validateBlock(object, at, report) } })

export type NetworkPolicyPeer = Static<typeof NetworkPolicyPeer>
export const NetworkPolicyPeer = message('NetworkPolicyPeer', 'Pods or addresses traffic may come from or go to.', {
  podSelector: one(1, 'Labels of the pods; empty selects all of them.', LabelSelector, { pointer: true }),
  namespaceSelector: one(
    2, 'Labels of the namespaces; by default only that of the policy.', LabelSelector, { pointer: true }
  ),
  ipBlock: one(3, 'Address range; not together with the selectors.', IPBlock, { pointer: true })
}, { validate: (object, at, report) => { validatePeer(object, at, report) } })

export type NetworkPolicyIngressRule = Static<typeof NetworkPolicyIngressRule>
export const NetworkPolicyIngressRule =
  message('NetworkPolicyIngressRule', 'Traffic that may come in; it must match ports and from.', {
    ports: list(1, 'Ports traffic may come in at; empty allows all.', NetworkPolicyPort),
    from: list(2, 'Peers traffic may come from; empty allows all.', NetworkPolicyPeer)
  })

export type NetworkPolicyEgressRule = Static<typeof NetworkPolicyEgressRule>
export const NetworkPolicyEgressRule =
  message('NetworkPolicyEgressRule', 'Traffic that may leave; it must match ports and to.', {
    ports: list(1, 'Ports traffic may go to; empty allows all.', NetworkPolicyPort),
    to: list(2, 'Peers traffic may go to; empty allows all.', NetworkPolicyPeer)
  })

export type NetworkPolicySpec = Static<typeof NetworkPolicySpec>
export const NetworkPolicySpec = message('NetworkPolicySpec', 'The pods of a policy and the traffic they may have.', {
  podSelector: one(1, 'Labels of the pods the policy is for; empty selects all.', LabelSelector, { required: true }),
  ingress: list(2, 'Rules for traffic that comes in; without any, none may.', NetworkPolicyIngressRule),
  egress: list(3, 'Rules for traffic that goes out, where policyTypes has Egress.', NetworkPolicyEgressRule),
  policyTypes: list(4, 'Directions the policy is about: Ingress, Egress or both.', 'string', {
    values: DIRECTIONS, closed: true, ruled: true
  })
}, {
  defaults: spec => {
    if ((spec.policyTypes ?? []).length === 0) {
      spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress']
    }
  },
  validate: (object, at, report) => { validateNetworkPolicySpec(object, at, report) }
})

export type NetworkPolicyStatus = Static<typeof NetworkPolicyStatus>
export const NetworkPolicyStatus = message('NetworkPolicyStatus', 'What is observed of a network policy.', {
  conditions: list(1, 'What was found about the policy.', Condition, {
    listType: 'map', listMapKeys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type'
  })
})

export type NetworkPolicy = Static<typeof NetworkPolicy>
export const NetworkPolicy = kind('NetworkPolicy', 'Which traffic a set of pods may have.', {
  metadata,
  spec: one(2, 'The pods and the traffic that is allowed.', NetworkPolicySpec),
  status: one(3, 'What is observed of the policy; written by the system.', NetworkPolicyStatus, { removed: '1.28' })
})

const columns: ReadonlyArray<Column<NetworkPolicy>> = [
  name,
  text('Pod-Selector', 'Labels of the pods the policy is for.', ({ spec }) => selector(spec.podSelector)),
  age
]

/** While the feature gate of the status is off, an update may remove its conditions, but not set them. */
function dropGated (policy: NetworkPolicy, old: NetworkPolicy | undefined, gates: Gates): void {
  // Releases that do not have the field leave it out.
  const { conditions } = policy.status as NetworkPolicyStatus | undefined ?? {}
  if (gates.enabled('NetworkPolicyStatus') || (conditions ?? []).length === 0) return
  policy.status = clone(old?.status) ?? {}
}

export const networkPolicies = resource(NetworkPolicy, {
  plural: 'networkpolicies',
  shortNames: ['netpol'],
  namespaced: true,
  subresources: [
    {
      name: 'status',
      removed: '1.28',
      verbs: ['get', 'patch', 'update'],
      changes: ['status'],
      notOnUpdate: ['generateName', 'finalizers']
    }
  ],
  generation: ({ spec }) => spec,
  strategy: { dropGated },
  columns
})

/** Node and pod affinity, tolerations and topology spread constraints. */
import { int32, int64, one, string, list, type Static } from '../../language/declare.js'
import { LabelSelector } from '../../meta/options.js'
import { message } from './package.js'
import {
  validateNodeSelector, validateNodeSelectorTerm, validatePodAffinityTerm, validateSpread, validateToleration,
  validateWeight
} from './rules/scheduling.js'

export type NodeSelectorRequirement = Static<typeof NodeSelectorRequirement>
export const NodeSelectorRequirement =
  message('NodeSelectorRequirement', 'A requirement on the labels or fields of a node.', {
    key: string(1, 'Label key or field the requirement is about.', { required: true, ruled: true }),
    operator: string(2, 'How the values are compared: In, NotIn, Exists, DoesNotExist, Gt or Lt.', {
      required: true, ruled: true, values: ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'], closed: true
    }),
    values: list(3, 'Values to compare with; one integer for Gt and Lt.', 'string')
  })

export type NodeSelectorTerm = Static<typeof NodeSelectorTerm>
export const NodeSelectorTerm =
  message('NodeSelectorTerm', 'Requirements a node must all fulfil; an empty term matches nothing.', {
    matchExpressions: list(1, 'Requirements on the labels of the node.', NodeSelectorRequirement),
    matchFields: list(2, 'Requirements on the fields of the node.', NodeSelectorRequirement)
  }, { structType: 'atomic', validate: (term, at, report) => { validateNodeSelectorTerm(term, at, report) } })

export type NodeSelector = Static<typeof NodeSelector>
export const NodeSelector = message('NodeSelector', 'Terms that select nodes; any one of them is enough.', {
  nodeSelectorTerms: list(1, 'Terms of which one must match.', NodeSelectorTerm, { required: true })
}, { structType: 'atomic', validate: (selector, at, report) => { validateNodeSelector(selector, at, report) } })

export type PreferredSchedulingTerm = Static<typeof PreferredSchedulingTerm>
export const PreferredSchedulingTerm =
  message('PreferredSchedulingTerm', 'A preference for nodes; an empty one prefers all.', {
    weight: int32(1, 'Weight of the term, from 1 to 100.', { required: true }),
    preference: one(2, 'Term that selects the preferred nodes.', NodeSelectorTerm, { required: true })
  }, { validate: (term, at, report) => { validateWeight(term, at, report) } })

export type NodeAffinity = Static<typeof NodeAffinity>
export const NodeAffinity = message('NodeAffinity', 'Rules on the nodes a pod may run on.', {
  requiredDuringSchedulingIgnoredDuringExecution: one(
    1, 'What a node must fulfil for the pod to be scheduled on it.', NodeSelector, { pointer: true }
  ),
  preferredDuringSchedulingIgnoredDuringExecution: list(
    2, 'What nodes are preferred, by weight, when the pod is scheduled.', PreferredSchedulingTerm
  )
})

export type PodAffinityTerm = Static<typeof PodAffinityTerm>
export const PodAffinityTerm = message('PodAffinityTerm', 'Selects pods, and says where being beside them counts.', {
  labelSelector: one(1, 'Labels of the pods that are meant.', LabelSelector, { pointer: true }),
  namespaces: list(2, 'Namespaces of the pods; by default that of this pod.', 'string'),
  topologyKey: string(3, 'Node label whose equal values make up one place; not empty.', {
    required: true, missing: 'can not be empty'
  }),
  namespaceSelector: one(
    4, 'Labels of further namespaces to look in; empty selects all.', LabelSelector, { pointer: true }
  ),
  matchLabelKeys: list(5, 'Labels of this pod whose values the pods must have too.', 'string', {
    listType: 'atomic', gate: 'MatchLabelKeysInPodAffinity', since: '1.29'
  }),
  mismatchLabelKeys: list(6, 'Labels of this pod whose values the pods must not have.', 'string', {
    listType: 'atomic', gate: 'MatchLabelKeysInPodAffinity', since: '1.29'
  })
}, { validate: (term, at, report) => { validatePodAffinityTerm(term, at, report) } })

export type WeightedPodAffinityTerm = Static<typeof WeightedPodAffinityTerm>
export const WeightedPodAffinityTerm =
  message('WeightedPodAffinityTerm', 'A preference for or against being beside pods.', {
    weight: int32(1, 'Weight of the term, from 1 to 100.', { required: true }),
    podAffinityTerm: one(2, 'The pods and the place that are meant.', PodAffinityTerm, { required: true })
  }, { validate: (term, at, report) => { validateWeight(term, at, report) } })

export type PodAffinity = Static<typeof PodAffinity>
export const PodAffinity = message('PodAffinity', 'Pods a pod should share a node or zone with.', {
  requiredDuringSchedulingIgnoredDuringExecution: list(
    1, 'Terms that must all be met for the pod to be scheduled.', PodAffinityTerm
  ),
  preferredDuringSchedulingIgnoredDuringExecution: list(
    2, 'Terms that are preferred, by weight, when the pod is scheduled.', WeightedPodAffinityTerm
  )
})

export type PodAntiAffinity = Static<typeof PodAntiAffinity>
export const PodAntiAffinity = message('PodAntiAffinity', 'Pods a pod should not share a node or zone with.', {
  requiredDuringSchedulingIgnoredDuringExecution: list(
    1, 'Terms that must all be met for the pod to be scheduled.', PodAffinityTerm
  ),
  preferredDuringSchedulingIgnoredDuringExecution: list(
    2, 'Terms that are preferred, by weight, when the pod is scheduled.', WeightedPodAffinityTerm
  )
})

export type Affinity = Static<typeof Affinity>
export const Affinity = message('Affinity', 'Rules on which nodes, and beside which pods, a pod may run.', {
  nodeAffinity: one(1, 'Rules on the nodes the pod may run on.', NodeAffinity, { pointer: true }),
  podAffinity: one(2, 'Pods this pod should share a node or zone with.', PodAffinity, { pointer: true }),
  podAntiAffinity: one(3, 'Pods this pod should not share a node or zone with.', PodAntiAffinity, { pointer: true })
})

export type Toleration = Static<typeof Toleration>
export const Toleration = message('Toleration', 'Taints a pod puts up with.', {
  key: string(1, 'Key of the taint; empty with Exists matches all keys.'),
  operator: string(2, 'How the value is compared, Exists or Equal; by default Equal.', {
    values: ['Exists', 'Equal'], closed: 'ruled', laterValues: { since: '1.35', values: ['Lt', 'Gt'] }
  }),
  value: string(3, 'Value of the taint; empty with Exists.'),
  effect: string(4, 'Effect of the taint; empty matches all effects.', {
    values: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'], closed: 'ruled'
  }),
  tolerationSeconds: int64(5, 'Seconds a NoExecute taint is tolerated; unset means forever.', { pointer: true })
}, { validate: (toleration, at, report) => { validateToleration(toleration, at, report) } })

const INCLUSION = 'NodeInclusionPolicyInPodTopologySpread'

export type TopologySpreadConstraint = Static<typeof TopologySpreadConstraint>
export const TopologySpreadConstraint =
  message('TopologySpreadConstraint', 'How pods are spread over zones or nodes.', {
    maxSkew: int32(1, 'How far pod counts of two domains may differ.', { required: true }),
    topologyKey: string(2, 'Node label whose equal values make up one domain.', {
      required: true, missing: 'can not be empty'
    }),
    whenUnsatisfiable: string(3, 'What to do if it cannot hold: DoNotSchedule or ScheduleAnyway.', {
      required: true, ruled: true, values: ['DoNotSchedule', 'ScheduleAnyway'], closed: true
    }),
    labelSelector: one(4, 'Labels of the pods that are counted.', LabelSelector, { pointer: true }),
    minDomains: int32(5, 'Least number of domains; with fewer, the global minimum counts as zero.', {
      pointer: true, gate: 'MinDomainsInPodTopologySpread'
    }),
    nodeAffinityPolicy: string(6, 'Whether affinity and selector of the pod limit the nodes: Honor or Ignore.', {
      pointer: true, values: ['Ignore', 'Honor'], closed: true, gate: INCLUSION, since: '1.25'
    }),
    nodeTaintsPolicy: string(7, 'Whether taints limit the nodes: Honor or Ignore.', {
      pointer: true, values: ['Ignore', 'Honor'], closed: true, gate: INCLUSION, since: '1.25'
    }),
    matchLabelKeys: list(8, 'Labels of this pod whose values the counted pods must have too.', 'string', {
      listType: 'atomic', gate: 'MatchLabelKeysInPodTopologySpread', since: '1.25'
    })
  }, { validate: (constraint, at, report) => { validateSpread(constraint, at, report) } })

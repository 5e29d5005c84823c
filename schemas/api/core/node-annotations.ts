/** Types stored as JSON in node annotations. */
import { map, one, string, list, type Static } from '../../language/declare.js'
import { Quantity } from '../../meta/quantity.js'
import { Time } from '../../meta/scalars.js'
import { OwnerReference } from '../../meta/v1.js'
import { message } from './package.js'

export type PodSignature = Static<typeof PodSignature>
export const PodSignature = message('PodSignature', 'The pods an entry to avoid is about.', {
  podController: one(1, 'Controller whose pods are meant.', OwnerReference, { pointer: true })
})

export type PreferAvoidPodsEntry = Static<typeof PreferAvoidPodsEntry>
export const PreferAvoidPodsEntry = message('PreferAvoidPodsEntry', 'Pods to avoid on a node, with a reason.', {
  podSignature: one(1, 'The pods that are meant.', PodSignature, { required: true }),
  evictionTime: one(2, 'When the entry was added.', Time),
  reason: string(3, 'Why the entry was added, in one word.'),
  message: string(4, 'Why the entry was added, for a person.')
})

export type AvoidPods = Static<typeof AvoidPods>
export const AvoidPods = message('AvoidPods', 'Pods a node would rather not run, kept in an annotation.', {
  preferAvoidPods: list(1, 'Entries that each name pods to avoid, with a reason.', PreferAvoidPodsEntry)
})

export type NodeResources = Static<typeof NodeResources>
export const NodeResources = message('NodeResources', 'Resources of a node.', {
  capacity: map(1, 'Resources the node has, by resource name.', Quantity, { required: true })
})

export type Preconditions = Static<typeof Preconditions>
export const Preconditions = message('Preconditions', 'What must hold before an operation is carried out.', {
  uid: string(1, 'UID the object must have.', { pointer: true })
})

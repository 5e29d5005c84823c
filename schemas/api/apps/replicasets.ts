/** ReplicaSet (apps/v1): keeps a number of pods running. */
import { age, containerColumns, integer, name, selector, text, wideOnly, type Column } from '../../columns.js'
import { int32, int64, one, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { PodTemplateSpec } from '../core/pod-spec.js'
import { dropOfTemplate } from '../core/rules/gated-fields.js'
import { templateWarnings } from '../core/rules/pod-warnings.js'
import { LabelSelector } from '../../meta/options.js'
import { Time } from '../../meta/scalars.js'
import { resource } from '../../resource.js'
import { scale } from '../autoscaling/scale-view.js'
import { kind, message } from './package.js'
import { checkReplicated, validateReplicaStatus } from '../core/rules/workloads.js'

export type ReplicaSetSpec = Static<typeof ReplicaSetSpec>
export const ReplicaSetSpec = message('ReplicaSetSpec', 'How many pods of what kind are wanted.', {
  replicas: int32(1, 'Number of pods that are wanted; by default 1.', { pointer: true, default: 1 }),
  minReadySeconds: int32(4, 'Seconds a new pod must be ready before it counts as available.'),
  selector: one(2, 'Labels of the pods that belong to it, as in the template.', LabelSelector, {
    required: true, pointer: true, immutable: true
  }),
  template: one(3, 'Template of the pods that are created.', PodTemplateSpec, { ruled: true })
}, { validate: (spec, at, report) => { checkReplicated(spec, at, report) } })

export type ReplicaSetCondition = Static<typeof ReplicaSetCondition>
export const ReplicaSetCondition = message('ReplicaSetCondition', 'A finding about a replica set.', {
  type: string(1, 'Type of the condition, such as ReplicaFailure.', {
    required: true, mayBeEmpty: true, values: ['ReplicaFailure']
  }),
  status: string(2, 'Whether it holds: True, False or Unknown.', {
    required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
  }),
  lastTransitionTime: one(3, 'When status last changed.', Time),
  reason: string(4, 'One word for a machine.'),
  message: string(5, 'A sentence for a person.')
})

export type ReplicaSetStatus = Static<typeof ReplicaSetStatus>
export const ReplicaSetStatus = message('ReplicaSetStatus', 'What is observed of a replica set.', {
  replicas: int32(1, 'Number of pods there are.', { required: true }),
  fullyLabeledReplicas: int32(2, 'Number of pods with all the labels of the template.'),
  readyReplicas: int32(4, 'Number of pods that are ready.'),
  availableReplicas: int32(5, 'Number of pods ready for at least minReadySeconds.'),
  terminatingReplicas: int32(7, 'Number of pods that are being deleted.', {
    pointer: true, gate: 'DeploymentReplicaSetTerminatingReplicas', since: '1.33'
  }),
  observedGeneration: int64(3, 'Generation of the spec the controller last acted on.'),
  conditions: list(6, 'What was found about the replica set.', ReplicaSetCondition, {
    patchStrategy: 'merge', patchMergeKey: 'type'
  })
})

export type ReplicaSet = Static<typeof ReplicaSet>
export const ReplicaSet = kind('ReplicaSet', 'Keeps a number of pods running.', {
  metadata,
  spec: one(2, 'How many pods of what kind are wanted.', ReplicaSetSpec),
  status: one(3, 'What is observed of the replica set; written by the system.', ReplicaSetStatus)
})

const columns: ReadonlyArray<Column<ReplicaSet>> = [
  name,
  integer('Desired', 'Number of pods that are wanted.', ({ spec }) => spec.replicas),
  integer('Current', 'Number of pods there are.', ({ status }) => status.replicas),
  integer('Ready', 'Number of pods that are ready.', ({ status }) => status.readyReplicas),
  age,
  ...containerColumns<ReplicaSet>(({ spec }) => spec.template.spec).map(wideOnly),
  wideOnly(text('Selector', 'Labels of the pods that belong to it.', ({ spec }) => selector(spec.selector)))
]

export const replicaSets = resource(ReplicaSet, {
  plural: 'replicasets',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  subresources: [
    scale<ReplicaSet>(({ spec }) => spec.selector),
    {
      name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], validateUpdate: (
        object, _old, report
      ) => {
        validateReplicaStatus(object as ReplicaSet, report)
      }
    }
  ],
  generation: ({ spec }) => spec,
  strategy: {
    dropGated: dropOfTemplate,
    warnings: templateWarnings<ReplicaSet>('spec.template', ({ spec }) => spec.template, true)
  },
  columns
})

/** ReplicationController (v1). */
import { age, containerColumns, integer, labels, name, text, wideOnly, type Column } from '../../columns.js'
import { int32, int64, map, one, list, string, type Static } from '../../language/declare.js'
import { metadata, type ObjectMeta } from '../../meta/object.js'
import { PodTemplateSpec } from './pod-spec.js'
import { dropOfTemplate } from './rules/gated-fields.js'
import { templateWarnings } from './rules/pod-warnings.js'
import { Time } from '../../meta/scalars.js'
import { resource } from '../../resource.js'
import { scale } from '../autoscaling/scale-view.js'
import { kind, message } from './package.js'
import { validateControllerSpec, validateReplicaStatus } from './rules/workloads.js'

export type ReplicationControllerCondition = Static<typeof ReplicationControllerCondition>
export const ReplicationControllerCondition =
  message('ReplicationControllerCondition', 'A finding about a replication controller.', {
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

export type ReplicationControllerSpec = Static<typeof ReplicationControllerSpec>
export const ReplicationControllerSpec =
  message('ReplicationControllerSpec', 'How many pods of what kind are wanted.', {
    replicas: int32(1, 'Number of pods that are wanted; by default 1.', { pointer: true, default: 1 }),
    minReadySeconds: int32(4, 'Seconds a new pod must be ready before it counts as available.'),
    selector: map(
      2, 'Labels of the pods that count; by default those of the template.', 'string', { mapType: 'atomic' }
    ),
    template: one(3, 'Template of the pods that are created.', PodTemplateSpec, { pointer: true, ruled: true })
  }, { validate: (spec, at, report) => { validateControllerSpec(spec, at, report) } })

export type ReplicationControllerStatus = Static<typeof ReplicationControllerStatus>
export const ReplicationControllerStatus =
  message('ReplicationControllerStatus', 'What is observed of a replication controller.', {
    replicas: int32(1, 'Number of pods there are.', { required: true }),
    fullyLabeledReplicas: int32(2, 'Number of pods with all the labels of the template.'),
    readyReplicas: int32(4, 'Number of pods that are ready.'),
    availableReplicas: int32(5, 'Number of pods ready for at least minReadySeconds.'),
    observedGeneration: int64(3, 'Generation of the spec the controller last acted on.'),
    conditions: list(6, 'What was found about the controller.', ReplicationControllerCondition, {
      patchStrategy: 'merge', patchMergeKey: 'type'
    })
  })

/** Selector and labels default to the labels of the template. */
function followTemplate ({ metadata, spec }: { metadata: ObjectMeta, spec: ReplicationControllerSpec }): void {
  const labels = spec.template?.metadata.labels
  if (labels === undefined) return
  if (isEmpty(spec.selector)) spec.selector = { ...labels }
  if (isEmpty(metadata.labels)) metadata.labels = { ...labels }
}

const isEmpty = (map: object | undefined): boolean => map === undefined || Object.keys(map).length === 0

export type ReplicationController = Static<typeof ReplicationController>
export const ReplicationController = kind('ReplicationController', 'Keeps a number of pods running.', {
  metadata,
  spec: one(2, 'How many pods of what kind are wanted.', ReplicationControllerSpec),
  status: one(3, 'What is observed of the controller; written by the system.', ReplicationControllerStatus)
}, { defaults: followTemplate })

const columns: ReadonlyArray<Column<ReplicationController>> = [
  name,
  integer('Desired', 'Number of pods that are wanted.', ({ spec }) => spec.replicas),
  integer('Current', 'Number of pods there are.', ({ status }) => status.replicas),
  integer('Ready', 'Number of pods that are ready.', ({ status }) => status.readyReplicas),
  age,
  ...containerColumns<ReplicationController>(({ spec }) => spec.template?.spec).map(wideOnly),
  wideOnly(text('Selector', 'Labels of the pods that count.', ({ spec }) => labels(spec.selector)))
]

export const replicationControllers = resource(ReplicationController, {
  plural: 'replicationcontrollers',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  subresources: [
    scale<ReplicationController>(({ spec }) =>
      spec.selector === undefined ? undefined : { matchLabels: spec.selector }),
    {
      name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], validateUpdate: (
        object, _old, report
      ) => {
        validateReplicaStatus(object as ReplicationController, report)
      }
    }
  ],
  storagePrefix: 'controllers',
  columns,
  generation: ({ spec }) => spec,
  selectableFields: { 'status.replicas': ({ status }) => String(status.replicas) },
  strategy: {
    dependents: 'orphaned', dropGated: dropOfTemplate,
    warnings: templateWarnings<ReplicationController>('spec.template', ({ spec }) => spec.template, true)
  }
})

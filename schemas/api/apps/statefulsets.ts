/** StatefulSet (apps/v1): replicas with stable names and storage. */
import { age, containerColumns, name, text, wideOnly, type Column } from '../../columns.js'
import { int32, int64, one, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { PersistentVolumeClaim } from '../core/persistentvolumeclaims.js'
import { PodTemplateSpec } from '../core/pod-spec.js'
import { dropOfTemplate } from '../core/rules/gated-fields.js'
import { templateWarnings } from '../core/rules/pod-warnings.js'
import { IntOrString } from '../../meta/int-or-string.js'
import { LabelSelector } from '../../meta/options.js'
import { Time } from '../../meta/scalars.js'
import { resource } from '../../resource.js'
import { scale } from '../autoscaling/scale-view.js'
import { kind, message } from './package.js'
import {
  validateStatefulSetSpec, validateStatefulSetStatus, validateStatefulSetUpdate, validateTemplates
} from './rules/statefulsets.js'
import { allWarnings, warnedLater } from '../../rules/warned.js'
import { warnOfClaim } from '../core/rules/object-warnings.js'

export type RollingUpdateStatefulSetStrategy = Static<typeof RollingUpdateStatefulSetStrategy>
export const RollingUpdateStatefulSetStrategy =
  message('RollingUpdateStatefulSetStrategy', 'Settings of the rolling update of a stateful set.', {
    partition: int32(1, 'Ordinal from which on pods are updated; by default 0.', { pointer: true }),
    maxUnavailable: one(2, 'Pods that may be unavailable, number or percentage; by default 1.', IntOrString, {
      pointer: true, gate: { name: 'MaxUnavailableStatefulSet', given: 1 }
    })
  })

/** Sets rollingUpdate only if the type is unset too. */
function defaultStrategy (
  strategy: { type?: string | undefined, rollingUpdate?: RollingUpdateStatefulSetStrategy | undefined }
): void {
  if (strategy.type === undefined) {
    strategy.type = 'RollingUpdate'
    strategy.rollingUpdate ??= {}
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate !== undefined) strategy.rollingUpdate.partition ??= 0
}

export type StatefulSetUpdateStrategy = Static<typeof StatefulSetUpdateStrategy>
export const StatefulSetUpdateStrategy =
  message('StatefulSetUpdateStrategy', 'How the pods of a stateful set are replaced.', {
    type: string(1, 'Strategy, RollingUpdate or OnDelete; by default RollingUpdate.', {
      values: ['RollingUpdate', 'OnDelete'], closed: true, ruled: true
    }),
    rollingUpdate: one(2, 'Settings for type RollingUpdate.', RollingUpdateStatefulSetStrategy, { pointer: true })
  }, { defaults: defaultStrategy })

const RETENTION = { name: 'StatefulSetAutoDeletePVC', given: 'Retain' } as const

export type StatefulSetPersistentVolumeClaimRetentionPolicy =
  Static<typeof StatefulSetPersistentVolumeClaimRetentionPolicy>
export const StatefulSetPersistentVolumeClaimRetentionPolicy =
  message('StatefulSetPersistentVolumeClaimRetentionPolicy', 'What happens to claims made from the templates.', {
    whenDeleted: string(1, 'Whether claims stay when the set is deleted: Retain or Delete.', {
      values: ['Retain', 'Delete'], gate: RETENTION
    }),
    whenScaled: string(2, 'Whether claims stay when the set is scaled down: Retain or Delete.', {
      values: ['Retain', 'Delete'], gate: RETENTION
    })
  })

export type StatefulSetOrdinals = Static<typeof StatefulSetOrdinals>
export const StatefulSetOrdinals = message('StatefulSetOrdinals', 'How the pods of a stateful set are numbered.', {
  start: int32(1, 'Number of the first pod.', { written: true })
})

export type StatefulSetSpec = Static<typeof StatefulSetSpec>
export const StatefulSetSpec = message('StatefulSetSpec', 'What pods are wanted, with what names and storage.', {
  replicas: int32(1, 'Number of pods that are wanted; by default 1.', { pointer: true, default: 1 }),
  selector: one(2, 'Labels of the pods that belong to it, as in the template.', LabelSelector, {
    required: true, pointer: true, immutable: 'ruled'
  }),
  template: one(3, 'Template of the pods that are created.', PodTemplateSpec, { required: true, ruled: true }),
  volumeClaimTemplates: list(4, 'Claims made for each pod, which keeps them.', PersistentVolumeClaim, {
    immutable: 'ruled', ruled: true
  }),
  serviceName: string(5, 'Headless service under which the pods have their names.', {
    required: true, mayBeEmpty: true, immutable: 'ruled'
  }),
  podManagementPolicy: string(6, 'How pods are created and removed: OrderedReady or Parallel.', {
    immutable: 'ruled', values: ['OrderedReady', 'Parallel'], closed: true, ruled: true, default: 'OrderedReady'
  }),
  updateStrategy: one(7, 'How pods are replaced when the template changes.', StatefulSetUpdateStrategy),
  revisionHistoryLimit: int32(8, 'Number of old revisions kept for rolling back; by default 10.', {
    pointer: true, immutable: 'ruled', default: 10
  }),
  minReadySeconds: int32(9, 'Seconds a new pod must be ready before it counts as available.', {
    gate: 'StatefulSetMinReadySeconds'
  }),
  persistentVolumeClaimRetentionPolicy: one(
    10, 'What happens to claims made from the templates; by default all stay.',
    StatefulSetPersistentVolumeClaimRetentionPolicy, { pointer: true, gate: { name: RETENTION.name, given: {} } }
  ),
  ordinals: one(11, 'Numbers of the pods; by default from 0.', StatefulSetOrdinals, { pointer: true, since: '1.26' })
}, {
  // Unlike other embedded objects, claims have kind and apiVersion.
  defaults: spec => {
    for (const claim of spec.volumeClaimTemplates ?? []) {
      Object.assign(claim, { kind: 'PersistentVolumeClaim', apiVersion: 'v1' })
    }
  },
  validate: (spec, at, report) => { validateStatefulSetSpec(spec, at, report) },
  validateUpdate: (spec, old, at, report) => { validateStatefulSetUpdate(spec, old, at, report) }
})

export type StatefulSetCondition = Static<typeof StatefulSetCondition>
export const StatefulSetCondition = message('StatefulSetCondition', 'A finding about a stateful set.', {
  type: string(1, 'Type of the condition.', { required: true, mayBeEmpty: true }),
  status: string(2, 'Whether it holds: True, False or Unknown.', {
    required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
  }),
  lastTransitionTime: one(3, 'When status last changed.', Time),
  reason: string(4, 'One word for a machine.'),
  message: string(5, 'A sentence for a person.')
})

export type StatefulSetStatus = Static<typeof StatefulSetStatus>
export const StatefulSetStatus = message('StatefulSetStatus', 'What is observed of a stateful set.', {
  observedGeneration: int64(1, 'Generation of the spec the controller last acted on.'),
  replicas: int32(2, 'Number of pods there are.', { required: true }),
  readyReplicas: int32(3, 'Number of pods that are ready.'),
  currentReplicas: int32(4, 'Number of pods of the current revision.'),
  updatedReplicas: int32(5, 'Number of pods of the update revision.'),
  currentRevision: string(6, 'Revision of the pods not yet updated.'),
  updateRevision: string(7, 'Revision of the pods already updated.'),
  collisionCount: int32(9, 'Number of hash collisions, used to name the next revision.', { pointer: true }),
  conditions: list(10, 'What was found about the stateful set.', StatefulSetCondition, {
    patchStrategy: 'merge', patchMergeKey: 'type'
  }),
  availableReplicas: int32(11, 'Number of pods ready for at least minReadySeconds.', { written: true })
})

export type StatefulSet = Static<typeof StatefulSet>
export const StatefulSet = kind('StatefulSet', 'Runs pods with stable names and storage of their own.', {
  metadata,
  spec: one(2, 'What pods are wanted, with what names and storage.', StatefulSetSpec),
  status: one(3, 'What is observed of the stateful set; written by the system.', StatefulSetStatus)
}, {
  validateCreate: (set, _at, report) => { validateTemplates(set, undefined, report) },
  validateUpdate: (set, old, _at, report) => { validateTemplates(set, old, report) }
})

const columns: ReadonlyArray<Column<StatefulSet>> = [
  name,
  text('Ready', 'How many of the wanted pods are ready.', ({ spec, status }) =>
    `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`),
  age,
  ...containerColumns<StatefulSet>(({ spec }) => spec.template.spec).map(wideOnly)
]

const statefulSetWarnings = warnedLater<StatefulSet>(({ spec }, _old, warn) => {
  for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries()) {
    warnOfClaim(claim.spec, `spec.volumeClaimTemplates[${index}].spec`, warn)
  }
  if ((spec.revisionHistoryLimit ?? 0) < 0) {
    warn('spec.revisionHistoryLimit: a negative value keeps all revisions; it should be at least 0')
  }
})

export const statefulSets = resource(StatefulSet, {
  plural: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  subresources: [
    scale<StatefulSet>(({ spec }) => spec.selector),
    {
      name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], validateUpdate: (object, old, report) => {
        validateStatefulSetStatus(object as StatefulSet, old as StatefulSet, report)
      }
    }
  ],
  generation: ({ spec }) => spec,
  strategy: {
    dropGated: dropOfTemplate, warnings: allWarnings(
      templateWarnings<StatefulSet>('spec.template', ({ spec }) => spec.template), statefulSetWarnings
    )
  },
  columns
})

/** DaemonSet (apps/v1): a pod on every node. */
import { age, containerColumns, integer, labels, name, selector, text, wideOnly, type Column } from '../../columns.js'
import { int32, int64, one, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { PodTemplateSpec } from '../core/pod-spec.js'
import { dropOfTemplate } from '../core/rules/gated-fields.js'
import { podWarnings } from '../core/rules/pod-warnings.js'
import { IntOrString } from '../../meta/int-or-string.js'
import { LabelSelector } from '../../meta/options.js'
import { Time } from '../../meta/scalars.js'
import { resource } from '../../resource.js'
import { kind, message } from './package.js'
import { validateDaemonSetSpec, validateDaemonSetStatus } from './rules/daemonsets.js'
import { beginCount, countTemplate, hasSameTemplate, keepCount } from './rules/template-generation.js'

export type RollingUpdateDaemonSet = Static<typeof RollingUpdateDaemonSet>
export const RollingUpdateDaemonSet =
  message('RollingUpdateDaemonSet', 'Settings of the rolling update of a daemon set.', {
    maxUnavailable: one(
      1, 'Pods that may be unavailable, number or percentage; by default 1.', IntOrString, { pointer: true }
    ),
    maxSurge: one(2, 'Nodes that may run old and new pod together; by default 0.', IntOrString, {
      pointer: true, gate: { name: 'DaemonSetUpdateSurge', otherwise: 0 }
    })
  })

export type DaemonSetUpdateStrategy = Static<typeof DaemonSetUpdateStrategy>
export const DaemonSetUpdateStrategy =
  message('DaemonSetUpdateStrategy', 'How the pods of a daemon set are replaced.', {
    type: string(1, 'Strategy, RollingUpdate or OnDelete; by default RollingUpdate.', {
      values: ['RollingUpdate', 'OnDelete'], closed: true, ruled: true, default: 'RollingUpdate'
    }),
    rollingUpdate: one(2, 'Settings for type RollingUpdate.', RollingUpdateDaemonSet, { pointer: true })
  }, {
    defaults: strategy => {
      const isRolling = strategy.type === 'RollingUpdate'
      // rollingUpdate of another strategy has no effect, but gets defaults if it is present.
      if (isRolling || strategy.rollingUpdate !== undefined) {
        strategy.rollingUpdate = { maxUnavailable: isRolling ? 1 : 0, maxSurge: 0, ...strategy.rollingUpdate }
      }
    }
  })

export type DaemonSetSpec = Static<typeof DaemonSetSpec>
export const DaemonSetSpec = message('DaemonSetSpec', 'What pods a daemon set runs.', {
  selector: one(1, 'Labels of the pods that belong to it, as in the template.', LabelSelector, {
    required: true, pointer: true, immutable: true
  }),
  template: one(2, 'Template of the pods, which also says on which nodes they run.', PodTemplateSpec, {
    required: true, ruled: true
  }),
  updateStrategy: one(3, 'How pods are replaced when the template changes.', DaemonSetUpdateStrategy),
  minReadySeconds: int32(4, 'Seconds a new pod must be ready before it counts as available.'),
  revisionHistoryLimit: int32(6, 'Number of old revisions kept for rolling back; by default 10.', {
    pointer: true, default: 10
  })
}, { validate: (spec, at, report) => { validateDaemonSetSpec(spec, at, report) } })

export type DaemonSetCondition = Static<typeof DaemonSetCondition>
export const DaemonSetCondition = message('DaemonSetCondition', 'A finding about a daemon set.', {
  type: string(1, 'Type of the condition.', { required: true, mayBeEmpty: true }),
  status: string(2, 'Whether it holds: True, False or Unknown.', {
    required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
  }),
  lastTransitionTime: one(3, 'When status last changed.', Time),
  reason: string(4, 'One word for a machine.'),
  message: string(5, 'A sentence for a person.')
})

export type DaemonSetStatus = Static<typeof DaemonSetStatus>
export const DaemonSetStatus = message('DaemonSetStatus', 'What is observed of a daemon set.', {
  currentNumberScheduled: int32(1, 'Number of nodes that run the pod and should.', { required: true }),
  numberMisscheduled: int32(2, 'Number of nodes that run the pod and should not.', { required: true }),
  desiredNumberScheduled: int32(3, 'Number of nodes that should run the pod.', { required: true }),
  numberReady: int32(4, 'Number of nodes with a pod that is ready.', { required: true }),
  observedGeneration: int64(5, 'Generation of the spec the controller last acted on.'),
  updatedNumberScheduled: int32(6, 'Number of nodes that run the pod as updated.'),
  numberAvailable: int32(7, 'Number of nodes with a pod ready for at least minReadySeconds.'),
  numberUnavailable: int32(8, 'Number of nodes that should have an available pod and have none.'),
  collisionCount: int32(9, 'Number of hash collisions, used to name the next revision.', { pointer: true }),
  conditions: list(10, 'What was found about the daemon set.', DaemonSetCondition, {
    patchStrategy: 'merge', patchMergeKey: 'type'
  })
})

export type DaemonSet = Static<typeof DaemonSet>
export const DaemonSet = kind('DaemonSet', 'Runs a pod on each node, or on some of them.', {
  metadata,
  spec: one(2, 'What pods are wanted on which nodes.', DaemonSetSpec),
  status: one(3, 'What is observed of the daemon set; written by the system.', DaemonSetStatus)
}, { defaults: ({ metadata }) => { beginCount(metadata) } })

const columns: ReadonlyArray<Column<DaemonSet>> = [
  name,
  integer('Desired', 'Number of nodes that should run the pod.', ({ status }) => status.desiredNumberScheduled),
  integer('Current', 'Number of nodes that run the pod and should.', ({ status }) => status.currentNumberScheduled),
  integer('Ready', 'Number of nodes with a pod that is ready.', ({ status }) => status.numberReady),
  integer('Up-to-date', 'Number of nodes that run the pod as updated.', ({ status }) => status.updatedNumberScheduled),
  integer('Available', 'Number of nodes with an available pod.', ({ status }) => status.numberAvailable),
  text('Node Selector', 'Labels of the nodes that should run the pod.', ({ spec }) =>
    labels(spec.template.spec.nodeSelector)),
  age,
  ...containerColumns<DaemonSet>(({ spec }) => spec.template.spec).map(wideOnly),
  wideOnly(text('Selector', 'Labels of the pods that belong to it.', ({ spec }) => selector(spec.selector)))
]

export const daemonSets = resource(DaemonSet, {
  plural: 'daemonsets',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  subresources: [
    {
      name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], validateUpdate: (object, old, report) => {
        validateDaemonSetStatus(object as DaemonSet, old as DaemonSet, report)
      }
    }
  ],
  generation: ({ spec }) => spec,
  strategy: {
    dropGated: dropOfTemplate, prepareForCreate: set => { keepCount(set) }, prepareForUpdate: keepCount,
    settle: countTemplate, warnings: (set, old, gates) =>
      old !== undefined && hasSameTemplate(set, old) ? [] : podWarnings(set.spec.template, 'spec.template', gates)
  },
  columns
})

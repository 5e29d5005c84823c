/** Deployment (apps/v1): replicas of a pod, and the strategy for replacing them. */
import { age, containerColumns, name, text, wideOnly, type Column } from '../../columns.js'
import { int32, int64, one, bool, list, string, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { PodTemplateSpec } from '../core/pod-spec.js'
import { dropOfTemplate } from '../core/rules/gated-fields.js'
import { templateWarnings } from '../core/rules/pod-warnings.js'
import { IntOrString } from '../../meta/int-or-string.js'
import { LabelSelector } from '../../meta/options.js'
import { Time } from '../../meta/scalars.js'
import { selectorText } from '../../selectors/objects.js'
import { resource } from '../../resource.js'
import { scale } from '../autoscaling/scale-view.js'
import { kind, message } from './package.js'
import { validateDeploymentSpec, validateDeploymentStatus } from './rules/deployments.js'

export type RollingUpdateDeployment = Static<typeof RollingUpdateDeployment>
export const RollingUpdateDeployment =
  message('RollingUpdateDeployment', 'Settings of the rolling update of a deployment.', {
    maxUnavailable: one(1, 'Pods that may be unavailable, number or percentage; by default 25%.', IntOrString, {
      pointer: true, default: '25%'
    }),
    maxSurge: one(2, 'Pods above the wanted number, number or percentage; by default 25%.', IntOrString, {
      pointer: true, default: '25%'
    })
  })

export type DeploymentStrategy = Static<typeof DeploymentStrategy>
export const DeploymentStrategy = message('DeploymentStrategy', 'How the pods of a deployment are replaced.', {
  type: string(1, 'Strategy, Recreate or RollingUpdate; by default RollingUpdate.', {
    values: ['Recreate', 'RollingUpdate'], closed: true, ruled: true, default: 'RollingUpdate'
  }),
  rollingUpdate: one(2, 'Settings for type RollingUpdate.', RollingUpdateDeployment, { pointer: true })
}, {
  defaults: strategy => {
    if (strategy.type === 'RollingUpdate') {
      strategy.rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%', ...strategy.rollingUpdate }
    }
  }
})

export type DeploymentSpec = Static<typeof DeploymentSpec>
export const DeploymentSpec = message('DeploymentSpec', 'How many pods of what kind are wanted.', {
  replicas: int32(1, 'Number of pods that are wanted; by default 1.', { pointer: true, default: 1 }),
  selector: one(2, 'Labels of the pods that belong to it, as in the template.', LabelSelector, {
    required: true, pointer: true, immutable: true
  }),
  template: one(3, 'Template of the pods that are created.', PodTemplateSpec, { required: true, ruled: true }),
  strategy: one(4, 'How old pods are replaced by new ones.', DeploymentStrategy, { patchStrategy: 'retainKeys' }),
  minReadySeconds: int32(5, 'Seconds a new pod must be ready before it counts as available.'),
  revisionHistoryLimit: int32(6, 'Number of old replica sets kept for rolling back; by default 10.', {
    pointer: true, default: 10
  }),
  paused: bool(7, 'Whether the rollout is paused.'),
  progressDeadlineSeconds: int32(9, 'Seconds without progress until the rollout counts as failed; by default 600.', {
    pointer: true, default: 600
  })
}, { validate: (spec, at, report) => { validateDeploymentSpec(spec, at, report) } })

export type DeploymentCondition = Static<typeof DeploymentCondition>
export const DeploymentCondition = message('DeploymentCondition', 'A finding about a deployment.', {
  type: string(1, 'Type of the condition: Available, Progressing or ReplicaFailure.', {
    required: true, mayBeEmpty: true, values: ['Available', 'Progressing', 'ReplicaFailure']
  }),
  status: string(2, 'Whether it holds: True, False or Unknown.', {
    required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
  }),
  lastUpdateTime: one(6, 'When the condition was last updated.', Time),
  lastTransitionTime: one(7, 'When status last changed.', Time),
  reason: string(4, 'One word for a machine.'),
  message: string(5, 'A sentence for a person.')
})

export type DeploymentStatus = Static<typeof DeploymentStatus>
export const DeploymentStatus = message('DeploymentStatus', 'What is observed of a deployment.', {
  observedGeneration: int64(1, 'Generation of the spec the controller last acted on.'),
  replicas: int32(2, 'Number of pods there are.'),
  updatedReplicas: int32(3, 'Number of pods of the current template.'),
  readyReplicas: int32(7, 'Number of pods that are ready.'),
  availableReplicas: int32(4, 'Number of pods ready for at least minReadySeconds.'),
  unavailableReplicas: int32(5, 'Number of pods still missing for full availability.'),
  terminatingReplicas: int32(9, 'Number of pods that are being deleted.', {
    pointer: true, gate: 'DeploymentReplicaSetTerminatingReplicas', since: '1.33'
  }),
  conditions: list(6, 'What was found about the deployment.', DeploymentCondition, {
    patchStrategy: 'merge', patchMergeKey: 'type'
  }),
  collisionCount: int32(8, 'Number of hash collisions, used to name the next replica set.', { pointer: true })
})

export type Deployment = Static<typeof Deployment>
export const Deployment = kind('Deployment', 'Keeps a number of pods running and updates them step by step.', {
  metadata,
  spec: one(2, 'How many pods of what kind are wanted.', DeploymentSpec),
  status: one(3, 'What is observed of the deployment; written by the system.', DeploymentStatus)
})

const columns: ReadonlyArray<Column<Deployment>> = [
  name,
  text('Ready', 'How many of the wanted pods are ready.', ({ spec, status }) =>
    `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`),
  text('Up-to-date', 'Number of pods of the current template.', ({ status }) => status.updatedReplicas ?? 0),
  text('Available', 'Number of available pods.', ({ status }) => status.availableReplicas ?? 0),
  age,
  ...containerColumns<Deployment>(({ spec }) => spec.template.spec).map(wideOnly),
  wideOnly(
    text('Selector', 'Labels of the pods that belong to it.', ({ spec }) => selectorText(spec.selector) ?? '<invalid>')
  )
]

export const deployments = resource(Deployment, {
  plural: 'deployments',
  shortNames: ['deploy'],
  categories: ['all'],
  notOnUpdate: ['generateName'],
  namespaced: true,
  subresources: [
    scale<Deployment>(({ spec }) => spec.selector),
    {
      name: 'status', verbs: ['get', 'patch', 'update'], changes:
        ['status'], keepsMetadata: ['labels'], validateUpdate: (object, old, report) => {
        validateDeploymentStatus(object as Deployment, old as Deployment, report)
      }
    }
  ],
  // The controller copies annotations to the ReplicaSets.
  generation: ({ spec, metadata }) => [spec, metadata.annotations],
  strategy: {
    dropGated: dropOfTemplate,
    warnings: templateWarnings<Deployment>('spec.template', ({ spec }) => spec.template, true)
  },
  columns
})

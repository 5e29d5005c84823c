/** PersistentVolumeClaim (v1): a request for storage. */
import { map, one, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { TypedLocalObjectReference, TypedObjectReference } from './references-to-data.js'
import { VolumeResourceRequirements } from './resource-requirements.js'
import { claimColumns } from './volume-columns.js'
import { LabelSelector } from '../../meta/options.js'
import { Quantity, roundToMilli } from '../../meta/quantity.js'
import { Time } from '../../meta/scalars.js'
import { resource } from '../../resource.js'
import { refuseAlone } from './rules/persistentvolumes.js'
import {
  dropSource, prepareClaim, prepareClaimUpdate, validateClaimSpec, validateClaimStatus, validateClaimUpdate
} from './rules/persistentvolumeclaims.js'
import { kind, message } from './package.js'
import { claimWarnings } from './rules/object-warnings.js'

export type PersistentVolumeClaimCondition = Static<typeof PersistentVolumeClaimCondition>
export const PersistentVolumeClaimCondition = message('PersistentVolumeClaimCondition', 'A finding about a claim.', {
  type: string(1, 'Type of the condition: Resizing or FileSystemResizePending.', {
    required: true, mayBeEmpty: true, values: ['Resizing', 'FileSystemResizePending']
  }),
  status: string(2, 'Whether it holds: True, False or Unknown.', {
    required: true, mayBeEmpty: true, values: ['True', 'False', 'Unknown']
  }),
  lastProbeTime: one(3, 'When it was last checked.', Time),
  lastTransitionTime: one(4, 'When status last changed.', Time),
  reason: string(5, 'One word for a machine.'),
  message: string(6, 'A sentence for a person.')
})

const ATTRIBUTES = { gate: 'VolumeAttributesClass', since: '1.29' } as const

export type ModifyVolumeStatus = Static<typeof ModifyVolumeStatus>
export const ModifyVolumeStatus = message('ModifyVolumeStatus', 'How a change of attributes is getting on.', {
  targetVolumeAttributesClassName: string(1, 'The class that is to be reached.'),
  status: string(2, 'Pending, InProgress or Infeasible.', {
    required: true, mayBeEmpty: true, values: ['Pending', 'InProgress', 'Infeasible'], closed: 'ruled'
  })
})

export type PersistentVolumeClaimSpec = Static<typeof PersistentVolumeClaimSpec>
export const PersistentVolumeClaimSpec = message('PersistentVolumeClaimSpec', 'What a claim asks for.', {
  accessModes: list(1, 'How the volume must be mountable, such as ReadWriteOnce.', 'string', {
    values: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'], closed: 'ruled'
  }),
  selector: one(4, 'Labels a volume must have to be considered.', LabelSelector, { pointer: true }),
  resources: one(2, 'Least storage the volume must have.', VolumeResourceRequirements),
  volumeName: string(3, 'Name of the volume the claim is bound to.'),
  storageClassName: string(5, 'Storage class the volume must be of; empty for none.', { pointer: true }),
  volumeMode: string(6, 'Whether a Filesystem or a raw Block device is claimed.', {
    pointer: true, values: ['Block', 'Filesystem'], closed: true, default: 'Filesystem'
  }),
  dataSource: one(7, 'Snapshot or claim the volume is filled from.', TypedLocalObjectReference, { pointer: true }),
  dataSourceRef: one(8, 'Object of any kind the volume is filled from.', TypedObjectReference, {
    pointer: true, gate: 'AnyVolumeDataSource'
  }),
  volumeAttributesClassName: string(9, 'Class of attributes that the volume is to have.', {
    pointer: true, ...ATTRIBUTES
  })
}, { validate: (spec, at, report) => { validateClaimSpec(spec, at, report) } })

const RECOVERY = 'RecoverVolumeExpansionFailure'

export type PersistentVolumeClaimStatus = Static<typeof PersistentVolumeClaimStatus>
export const PersistentVolumeClaimStatus = message('PersistentVolumeClaimStatus', 'What is observed of a claim.', {
  phase: string(1, 'Where the claim stands: Pending, Bound or Lost.', {
    values: ['Pending', 'Bound', 'Lost'], closed: 'ruled'
  }),
  accessModes: list(2, 'Access modes of the bound volume.', 'string', {
    values: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'], closed: 'ruled'
  }),
  capacity: map(3, 'Actual resources of the bound volume, by resource name.', Quantity),
  conditions: list(4, 'What was found about the claim, such as a resize under way.', PersistentVolumeClaimCondition, {
    patchStrategy: 'merge', patchMergeKey: 'type'
  }),
  allocatedResources: map(
    5, 'Storage set aside for the claim, more than capacity during a resize.', Quantity, { gate: RECOVERY }
  ),
  resizeStatus: string(
    6, 'How the expansion of the volume is getting on.',
    {
      pointer: true, gate: RECOVERY, removed: '1.28', values: [
        '', 'ControllerExpansionInProgress', 'ControllerExpansionFailed', 'NodeExpansionPending',
        'NodeExpansionInProgress', 'NodeExpansionFailed'
      ], closed: 'ruled'
    }
  ),
  allocatedResourceStatuses: map(7, 'How the expansion is getting on, by resource name.', 'string', {
    mapType: 'granular', since: '1.28', closed: 'ruled', values: [
      'ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizePending', 'NodeResizeInProgress',
      'NodeResizeInfeasible'
    ]
  }),
  currentVolumeAttributesClassName: string(8, 'Class of attributes that the volume has.', {
    pointer: true, ...ATTRIBUTES
  }),
  modifyVolumeStatus: one(9, 'How a change of attributes is getting on.', ModifyVolumeStatus, {
    pointer: true, ...ATTRIBUTES
  })
}, {
  defaults: ({ capacity, allocatedResources }) => {
    for (const amounts of [capacity, allocatedResources]) roundToMilli(amounts)
  },
  validate: (status, at, report) => { validateClaimStatus(status, at, report) }
})

export type PersistentVolumeClaim = Static<typeof PersistentVolumeClaim>
export const PersistentVolumeClaim = kind('PersistentVolumeClaim', 'A claim to storage, for pods to use as a volume.', {
  metadata,
  spec: one(2, 'The storage that is claimed.', PersistentVolumeClaimSpec, { immutable: 'ruled' }),
  status: one(3, 'What is observed of the claim; written by the system.', PersistentVolumeClaimStatus)
}, {
  defaults: claim => { claim.status.phase ??= 'Pending' },
  validateCreate: ({ spec }, _at, report) => { refuseAlone(spec.accessModes, [], report) },
  validateUpdate: (claim, old, _at, report) => { validateClaimUpdate(claim, old, report) }
})

export const persistentVolumeClaims = resource(PersistentVolumeClaim, {
  plural: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  namespaced: true,
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'] }
  ],
  deleteReturns: 'Object',
  columns: claimColumns,
  strategy: {
    dropGated: dropSource,
    prepareForCreate: (claim, _user, gates) => { prepareClaim(claim, gates) },
    prepareForUpdate: (claim, old, subresource, gates) => {
      if (subresource === '') prepareClaimUpdate(claim, old, gates)
    },
    warnings: claimWarnings
  }
})

/** StorageClass (v1): how volumes are provisioned. */
import { age, flag, name, text, type Column } from '../../columns.js'
import { map, bool, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { TopologySelectorTerm } from '../core/topology.js'
import { resource } from '../../resource.js'
import { validateStorageClass, validateStorageClassUpdate } from './rules/storageclasses.js'
import { kind } from './package.js'
import { warnedLater } from '../../rules/warned.js'
import { warnOfLabels } from '../core/rules/object-warnings.js'

export type StorageClass = Static<typeof StorageClass>
export const StorageClass = kind('StorageClass', 'A class of storage and how volumes of it are made.', {
  metadata,
  provisioner: string(2, 'Name of the provisioner that makes the volumes.', { required: true, immutable: 'ruled' }),
  parameters: map(3, 'Parameters for the provisioner.', 'string', { keepsEmpty: true, immutable: 'ruled' }),
  reclaimPolicy: string(4, 'What happens to volumes without claim, Delete or Retain; by default Delete.', {
    pointer: true, immutable: 'ruled', values: ['Recycle', 'Delete', 'Retain'], closed: true, ruled: true,
    default: 'Delete'
  }),
  mountOptions: list(5, 'Mount options of the volumes; not checked beforehand.', 'string'),
  allowVolumeExpansion: bool(6, 'Whether volumes may be made larger.', { pointer: true }),
  volumeBindingMode: string(7, 'When claims are bound, Immediate or WaitForFirstConsumer; by default Immediate.', {
    pointer: true, immutable: 'ruled', values: ['Immediate', 'WaitForFirstConsumer'], closed: true, default: 'Immediate'
  }),
  allowedTopologies: list(
    8, 'Where volumes may be made; empty means anywhere.', TopologySelectorTerm, { listType: 'atomic' }
  )
}, {
  validate: (object, _at, report) => { validateStorageClass(object, report) },
  validateUpdate: (object, old, _at, report) => { validateStorageClassUpdate(object, old, report) }
})

/** The current and the beta annotation. */
const DEFAULT = ['storageclass.orch.io/is-default-class', 'storageclass.beta.orch.io/is-default-class']
const isDefault = ({ metadata }: StorageClass, named: (own: string) => string): boolean =>
  DEFAULT.some(annotation => metadata.annotations?.[named(annotation)] === 'true')

const columns: ReadonlyArray<Column<StorageClass>> = [
  {
    ...name, cell: (storageClass, _now, named) =>
    `${storageClass.metadata.name ?? ''}${isDefault(storageClass, named) ? ' (default)' : ''}`
  },
  text('Provisioner', 'Who makes the volumes.', ({ provisioner }) => provisioner),
  text('ReclaimPolicy', 'What happens to volumes without claim.', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete'),
  text('VolumeBindingMode', 'When claims are bound.', ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate'),
  {
    ...flag<StorageClass>('AllowVolumeExpansion', 'Whether volumes may be made larger.', ({ allowVolumeExpansion }) =>
      allowVolumeExpansion), type: 'string'
  },
  age
]

const storageClassWarnings = warnedLater<StorageClass>(({ allowedTopologies = [] }, _old, warn) => {
  warnOfLabels(allowedTopologies.flatMap(({ matchLabelExpressions = [] }, index) =>
    matchLabelExpressions.map(({ key }, place) =>
      [key, `allowedTopologies[${index}].matchLabelExpressions[${place}].key`] as const)), warn)
})

export const storageClasses = resource(StorageClass, {
  plural: 'storageclasses',
  shortNames: ['sc'],
  namespaced: false,
  deleteReturns: 'Object',
  strategy: { warnings: storageClassWarnings },
  columns
})

/** Table columns of persistent volumes and claims. */
import type { Ages } from '../../meta/duration.js'
import { age, join, name, since, text, UNSET, wideOnly, type Column } from '../../columns.js'
import type { ObjectMeta } from '../../meta/object.js'
import type { PersistentVolumeClaim } from './persistentvolumeclaims.js'
import type { PersistentVolume } from './persistentvolumes.js'

const SHORT =
  [['ReadWriteOnce', 'RWO'], ['ReadOnlyMany', 'ROX'], ['ReadWriteMany', 'RWX'], ['ReadWriteOncePod', 'RWOP']] as const
const CLASS = 'volume.beta.orch.io/storage-class'

const accessModes = (modes: readonly string[] = []): string =>
  join(SHORT.filter(([mode]) => modes.includes(mode)).map(([, short]) => short))
const storage = (amounts: Readonly<Record<string, string>> | undefined): string => amounts?.['storage'] ?? '0'
const phase = (
  { metadata, status }: { metadata: ObjectMeta, status: { phase?: string | undefined } }
): string | undefined => metadata.deletionTimestamp === undefined ? status.phase : 'Terminating'
/** The annotation takes precedence over the field. */
const classOf = (
  { metadata, spec }: { metadata: ObjectMeta, spec: { storageClassName?: string | undefined } }, _ages: Ages,
  named: (own: string) => string
): string | undefined => metadata.annotations?.[named(CLASS)] ?? spec.storageClassName

export const volumeColumns: ReadonlyArray<Column<PersistentVolume>> = [
  name,
  text('Capacity', 'How much storage it has.', ({ spec }) => storage(spec.capacity)),
  text('Access Modes', 'Ways it can be mounted.', ({ spec }) => accessModes(spec.accessModes)),
  text('Reclaim Policy', 'What happens when the claim is deleted.', ({ spec }) => spec.persistentVolumeReclaimPolicy),
  text('Status', 'Where the volume stands.', phase),
  text('Claim', 'Claim it is bound to.', ({ spec: { claimRef } }) =>
    claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`),
  text('StorageClass', 'Its storage class.', classOf),
  since('1.29', text('VolumeAttributesClass', 'Its class of attributes.', ({ spec }) =>
    spec.volumeAttributesClassName ?? UNSET)),
  text('Reason', 'Why it failed, in one word.', ({ status }) => status.reason),
  age,
  wideOnly(
    text('VolumeMode', 'Whether it is a filesystem or a raw block device.', ({ spec }) => spec.volumeMode ?? UNSET)
  )
]

const isBound = ({ spec }: PersistentVolumeClaim): boolean => (spec.volumeName ?? '') !== ''

export const claimColumns: ReadonlyArray<Column<PersistentVolumeClaim>> = [
  name,
  text('Status', 'Where the claim stands.', phase),
  text('Volume', 'Volume it is bound to.', ({ spec }) => spec.volumeName),
  text('Capacity', 'How much storage the volume has.', claim => isBound(claim) ? storage(claim.status.capacity) : ''),
  text('Access Modes', 'Ways the volume can be mounted.', claim =>
    isBound(claim) ? accessModes(claim.status.accessModes) : ''),
  text('StorageClass', 'Storage class it asks for.', classOf),
  since('1.29', text('VolumeAttributesClass', 'Class of attributes it asks for.', ({ spec }) =>
    spec.volumeAttributesClassName ?? UNSET)),
  age,
  wideOnly(
    text('VolumeMode', 'Whether a filesystem or a raw block device is claimed.', ({ spec }) => spec.volumeMode ?? UNSET)
  )
]

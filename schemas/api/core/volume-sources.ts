/** Volume sources shared by pods and PersistentVolumes. */
import { int32, bool, string, list, apiPackage, type Static } from '../../language/declare.js'
import {
  validateAzureDisk, validateFC, validateFlocker, validateHostPath, validateNFS, validatePartition, validateQuobyte
} from './rules/disks.js'

export const API_VERSION = '/v1'

const { message } = apiPackage('', 'v1', 'io.orch.api.core.v1')

export type AWSElasticBlockStoreVolumeSource = Static<typeof AWSElasticBlockStoreVolumeSource>
export const AWSElasticBlockStoreVolumeSource =
  message('AWSElasticBlockStoreVolumeSource', 'A disk of AWS Elastic Block Store.', {
    volumeID: string(1, 'ID of the volume in AWS.', { required: true }),
    fsType: string(2, 'Filesystem type to mount, such as ext4 or xfs.'),
    partition: int32(3, 'Number of the partition to mount; zero means the whole disk.'),
    readOnly: bool(4, 'Whether the volume is mounted read-only.')
  }, { validate: (disk, at, report) => { validatePartition(disk, at, report) } })

export type AzureDiskVolumeSource = Static<typeof AzureDiskVolumeSource>
export const AzureDiskVolumeSource = message('AzureDiskVolumeSource', 'A data disk of Azure.', {
  diskName: string(1, 'Name of the disk in blob storage.', { required: true }),
  diskURI: string(2, 'URI of the disk in blob storage, or of the managed disk.', { required: true }),
  cachingMode: string(3, 'How the host caches: None, ReadOnly or ReadWrite.', {
    pointer: true, values: ['None', 'ReadOnly', 'ReadWrite'], closed: true, default: 'ReadWrite'
  }),
  fsType: string(4, 'Filesystem type to mount, such as ext4 or xfs.', { pointer: true, default: 'ext4' }),
  readOnly: bool(5, 'Whether the volume is mounted read-only.', { pointer: true, default: false }),
  kind: string(6, 'Kind of disk: Shared, Dedicated or Managed.', {
    pointer: true, values: ['Shared', 'Dedicated', 'Managed'], closed: true, default: 'Shared'
  })
}, { validate: (disk, at, report) => { validateAzureDisk(disk, at, report) } })

export type FCVolumeSource = Static<typeof FCVolumeSource>
export const FCVolumeSource = message('FCVolumeSource', 'A Fibre Channel disk.', {
  targetWWNs: list(1, 'World wide names of the targets.', 'string'),
  lun: int32(2, 'Number of the logical unit at the target.', { pointer: true }),
  fsType: string(3, 'Filesystem type to mount, such as ext4 or xfs.'),
  readOnly: bool(4, 'Whether the volume is mounted read-only.'),
  wwids: list(5, 'World wide identifiers of the volume, instead of targetWWNs and lun.', 'string')
}, { validate: (disk, at, report) => { validateFC(disk, at, report) } })

export type FlockerVolumeSource = Static<typeof FlockerVolumeSource>
export const FlockerVolumeSource = message('FlockerVolumeSource', 'A dataset managed by Flocker.', {
  datasetName: string(1, 'Deprecated: name of the dataset; use datasetUUID.'),
  datasetUUID: string(2, 'UUID of the dataset.')
}, { validate: (dataset, at, report) => { validateFlocker(dataset, at, report) } })

export type GCEPersistentDiskVolumeSource = Static<typeof GCEPersistentDiskVolumeSource>
export const GCEPersistentDiskVolumeSource =
  message('GCEPersistentDiskVolumeSource', 'A persistent disk of Google Compute Engine.', {
    pdName: string(1, 'Name of the disk in GCE.', { required: true }),
    fsType: string(2, 'Filesystem type to mount, such as ext4 or xfs.'),
    partition: int32(3, 'Number of the partition to mount; zero means the whole disk.'),
    readOnly: bool(4, 'Whether the volume is mounted read-only.')
  }, { validate: (disk, at, report) => { validatePartition(disk, at, report) } })

export type HostPathVolumeSource = Static<typeof HostPathVolumeSource>
export const HostPathVolumeSource = message('HostPathVolumeSource', 'A file or directory of the node.', {
  path: string(1, 'Path on the node; symbolic links are followed.', { required: true }),
  type: string(2, 'What must be at the path, such as Directory; empty skips the check.', {
    pointer: true,
    values: ['', 'DirectoryOrCreate', 'Directory', 'FileOrCreate', 'File', 'Socket', 'CharDevice', 'BlockDevice'],
    closed: true, default: ''
  })
}, { validate: (volume, at, report) => { validateHostPath(volume, at, report) } })

export type NFSVolumeSource = Static<typeof NFSVolumeSource>
export const NFSVolumeSource = message('NFSVolumeSource', 'A mount of an NFS server.', {
  server: string(1, 'Host name or address of the NFS server.', { required: true }),
  path: string(2, 'Path the server exports.', { required: true }),
  readOnly: bool(3, 'Whether the volume is mounted read-only.')
}, { validate: (mount, at, report) => { validateNFS(mount, at, report) } })

export type PhotonPersistentDiskVolumeSource = Static<typeof PhotonPersistentDiskVolumeSource>
export const PhotonPersistentDiskVolumeSource =
  message('PhotonPersistentDiskVolumeSource', 'A persistent disk of a Photon Controller.', {
    pdID: string(1, 'ID of the disk in the Photon Controller.', { required: true }),
    fsType: string(2, 'Filesystem type to mount, such as ext4 or xfs.')
  })

export type PortworxVolumeSource = Static<typeof PortworxVolumeSource>
export const PortworxVolumeSource = message('PortworxVolumeSource', 'A volume of Portworx.', {
  volumeID: string(1, 'ID of the Portworx volume.', { required: true }),
  fsType: string(2, 'Filesystem type to mount, ext4 or xfs.'),
  readOnly: bool(3, 'Whether the volume is mounted read-only.')
})

export type QuobyteVolumeSource = Static<typeof QuobyteVolumeSource>
export const QuobyteVolumeSource = message('QuobyteVolumeSource', 'A mount of Quobyte.', {
  registry: string(1, 'Registries of Quobyte as host:port, separated by commas.', {
    required: true, missing: 'must be a host:port pair or multiple pairs separated by commas'
  }),
  volume: string(2, 'Name of the Quobyte volume.', { required: true }),
  readOnly: bool(3, 'Whether the volume is mounted read-only.'),
  user: string(4, 'User the volume is mounted as; by default that of the service account.'),
  group: string(5, 'Group the volume is mounted as; by default none.'),
  tenant: string(6, 'Tenant that owns the volume in the backend.')
}, { validate: (mount, at, report) => { validateQuobyte(mount, at, report) } })

export type VsphereVirtualDiskVolumeSource = Static<typeof VsphereVirtualDiskVolumeSource>
export const VsphereVirtualDiskVolumeSource = message('VsphereVirtualDiskVolumeSource', 'A virtual disk of vSphere.', {
  volumePath: string(1, 'Path of the virtual disk file (vmdk).', { required: true }),
  fsType: string(2, 'Filesystem type to mount, such as ext4 or xfs.'),
  storagePolicyName: string(3, 'Name of the storage policy profile.'),
  storagePolicyID: string(4, 'ID of the storage policy profile.')
})

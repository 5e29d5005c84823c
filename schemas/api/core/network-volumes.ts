/** Network volume sources of pods. */
import { int32, map, one, bool, list, string, type Static } from '../../language/declare.js'
import { LocalObjectReference } from './references.js'
import { message } from './package.js'
import {
  validateCSIVolume, validateFlexVolume, validateISCSI, validateMonitors, validateScaleIO, validateSecretRef,
  validateStorageOS
} from './rules/network-volumes.js'

export type AzureFileVolumeSource = Static<typeof AzureFileVolumeSource>
export const AzureFileVolumeSource = message('AzureFileVolumeSource', 'A share of Azure Files.', {
  secretName: string(1, 'Name of the secret with the storage account name and key.', { required: true }),
  shareName: string(2, 'Name of the Azure share.', { required: true }),
  readOnly: bool(3, 'Whether the volume is mounted read-only.')
})

export type CSIVolumeSource = Static<typeof CSIVolumeSource>
export const CSIVolumeSource = message('CSIVolumeSource', 'Ephemeral storage a CSI driver provides for one pod.', {
  driver: string(1, 'Name of the CSI driver.', { required: true }),
  readOnly: bool(2, 'Whether the volume is mounted read-only.', { pointer: true }),
  fsType: string(3, 'Filesystem type to mount, such as ext4 or xfs.', { pointer: true }),
  volumeAttributes: map(4, 'Properties passed to the driver as they are.', 'string'),
  nodePublishSecretRef: one(
    5, 'Secret passed to the driver when it mounts or unmounts the volume.', LocalObjectReference, { pointer: true }
  )
}, { validate: (volume, at, report) => { validateCSIVolume(volume, at, report) } })

export type CephFSVolumeSource = Static<typeof CephFSVolumeSource>
export const CephFSVolumeSource = message('CephFSVolumeSource', 'A Ceph filesystem that lasts longer than the pod.', {
  monitors: list(1, 'Addresses of the Ceph monitors.', 'string', { required: true }),
  path: string(2, 'Directory to mount as root; by default /.'),
  user: string(3, 'Ceph user name; by default admin.'),
  secretFile: string(4, 'Path of the key ring file; by default /etc/ceph/user.secret.'),
  secretRef: one(
    5, 'Secret with the authentication key of the user, used instead of secretFile.', LocalObjectReference,
    { pointer: true }
  ),
  readOnly: bool(6, 'Whether the volume is mounted read-only.')
}, { validate: (volume, at, report) => { validateMonitors(volume, at, report) } })

export type CinderVolumeSource = Static<typeof CinderVolumeSource>
export const CinderVolumeSource = message('CinderVolumeSource', 'A Cinder volume of OpenStack.', {
  volumeID: string(1, 'ID of the volume in Cinder.', { required: true }),
  fsType: string(2, 'Filesystem type to mount, such as ext4 or xfs.'),
  readOnly: bool(3, 'Whether the volume is mounted read-only.'),
  secretRef: one(4, 'Secret with the parameters to connect to OpenStack.', LocalObjectReference, { pointer: true })
}, { validate: (volume, at, report) => { validateSecretRef(volume, at, report) } })

export type FlexVolumeSource = Static<typeof FlexVolumeSource>
export const FlexVolumeSource = message('FlexVolumeSource', 'Storage of a FlexVolume driver.', {
  driver: string(1, 'Name of the FlexVolume driver.', { required: true }),
  fsType: string(2, 'Filesystem type to mount; the default depends on the driver.'),
  secretRef: one(3, 'Secret passed to the scripts of the driver.', LocalObjectReference, { pointer: true }),
  readOnly: bool(4, 'Whether the volume is mounted read-only.'),
  options: map(5, 'Further options of the driver.', 'string')
}, { validate: (volume, at, report) => { validateFlexVolume(volume, at, report) } })

export type GlusterfsVolumeSource = Static<typeof GlusterfsVolumeSource>
export const GlusterfsVolumeSource =
  message('GlusterfsVolumeSource', 'A Glusterfs mount that lasts longer than the pod.', {
    endpoints: string(1, 'Name of the Endpoints object that lists the Glusterfs servers.', { required: true }),
    path: string(2, 'Path of the Glusterfs volume.', { required: true }),
    readOnly: bool(3, 'Whether the volume is mounted read-only.')
  })

export type ISCSIVolumeSource = Static<typeof ISCSIVolumeSource>
export const ISCSIVolumeSource = message('ISCSIVolumeSource', 'An iSCSI disk.', {
  targetPortal: string(1, 'Address of the target, with the port unless it is the default.', { required: true }),
  iqn: string(2, 'Qualified name of the target.', { required: true }),
  lun: int32(3, 'Number of the logical unit at the target.', { required: true }),
  iscsiInterface: string(
    4, 'Name of the interface that uses an iSCSI transport; by default tcp.', { default: 'default' }
  ),
  fsType: string(5, 'Filesystem type to mount, such as ext4 or xfs.'),
  readOnly: bool(6, 'Whether the volume is mounted read-only.'),
  portals: list(7, 'Further addresses of the target, for multipath.', 'string'),
  chapAuthDiscovery: bool(8, 'Whether discovery authenticates with CHAP.'),
  chapAuthSession: bool(11, 'Whether sessions authenticate with CHAP.'),
  secretRef: one(
    10, 'Secret for CHAP authentication of the target and the initiator.', LocalObjectReference, { pointer: true }
  ),
  initiatorName: string(12, 'Qualified name of the initiator, in place of that of the node.', { pointer: true })
}, { validate: (disk, at, report) => { validateISCSI(disk, at, report) } })

export type RBDVolumeSource = Static<typeof RBDVolumeSource>
export const RBDVolumeSource = message('RBDVolumeSource', 'A block device of Ceph (RBD).', {
  monitors: list(1, 'Addresses of the Ceph monitors.', 'string', { required: true }),
  image: string(2, 'Name of the RBD image.', { required: true }),
  fsType: string(3, 'Filesystem type to mount, such as ext4 or xfs.'),
  pool: string(4, 'Name of the RBD pool; by default rbd.', { default: 'rbd' }),
  user: string(5, 'Ceph user name; by default admin.', { default: 'admin' }),
  keyring: string(6, 'Path of the key ring; by default /etc/ceph/keyring.', { default: '/etc/ceph/keyring' }),
  secretRef: one(
    7, 'Secret with the authentication key of the user, used instead of keyring.', LocalObjectReference,
    { pointer: true }
  ),
  readOnly: bool(8, 'Whether the volume is mounted read-only.')
}, { validate: (volume, at, report) => { validateMonitors(volume, at, report) } })

export type ScaleIOVolumeSource = Static<typeof ScaleIOVolumeSource>
export const ScaleIOVolumeSource = message('ScaleIOVolumeSource', 'A volume of ScaleIO that exists already.', {
  gateway: string(1, 'Host address of the ScaleIO API gateway.', { required: true }),
  system: string(2, 'Name of the storage system in ScaleIO.', { required: true }),
  secretRef: one(3, 'Secret with the user and password for logging in.', LocalObjectReference, {
    required: true, pointer: true
  }),
  sslEnabled: bool(4, 'Whether the gateway is reached over TLS; by default not.'),
  protectionDomain: string(5, 'Protection domain of the storage.'),
  storagePool: string(6, 'Storage pool in the protection domain.'),
  storageMode: string(7, 'Whether storage is ThickProvisioned or ThinProvisioned; by default thin.', {
    default: 'ThinProvisioned'
  }),
  volumeName: string(8, 'Name of a volume that exists in ScaleIO.'),
  fsType: string(9, 'Filesystem type to mount; by default xfs.', { default: 'xfs' }),
  readOnly: bool(10, 'Whether the volume is mounted read-only.')
}, { validate: (volume, at, report) => { validateScaleIO(volume, at, report) } })

export type StorageOSVolumeSource = Static<typeof StorageOSVolumeSource>
export const StorageOSVolumeSource = message('StorageOSVolumeSource', 'A volume of StorageOS.', {
  volumeName: string(1, 'Name of the StorageOS volume, unique in its namespace.'),
  volumeNamespace: string(2, 'Namespace of the volume in StorageOS; by default that of the pod.'),
  fsType: string(3, 'Filesystem type to mount, such as ext4 or xfs.'),
  readOnly: bool(4, 'Whether the volume is mounted read-only.'),
  secretRef: one(5, 'Secret with the credentials for the StorageOS API.', LocalObjectReference, { pointer: true })
}, { validate: (volume, at, report) => { validateStorageOS(volume, at, report) } })

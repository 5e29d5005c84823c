/** Network volume sources of PersistentVolumes. */
import { int32, map, one, bool, list, string, type Static } from '../../language/declare.js'
import { required } from '../../rules/findings.js'
import { validateFlexVolume, validateScaleIO } from './rules/network-volumes.js'
import {
  validateCsiVolume, validateEndpointsNamespace, validateIscsiVolume, validateLocalVolume, validateSecretPlace,
  validateSome, validateStorageOSVolume
} from './rules/persistent-sources.js'
import { ObjectReference } from './references.js'
import { SecretReference } from './references-to-data.js'
import { message } from './package.js'

export type AzureFilePersistentVolumeSource = Static<typeof AzureFilePersistentVolumeSource>
export const AzureFilePersistentVolumeSource =
  message('AzureFilePersistentVolumeSource', 'A share of Azure Files, for a persistent volume.', {
    secretName: string(1, 'Name of the secret with the storage account name and key.', { required: true }),
    shareName: string(2, 'Name of the Azure share.', { required: true }),
    readOnly: bool(3, 'Whether the volume is mounted read-only.'),
    secretNamespace: string(4, 'Namespace of the secret; by default that of the pod.', { written: true, pointer: true })
  }, {
    validate: ({ secretNamespace }, at, report) => {
      if (secretNamespace === '') required(report, `${at}.secretNamespace`)
    }
  })

export type CSIPersistentVolumeSource = Static<typeof CSIPersistentVolumeSource>
export const CSIPersistentVolumeSource =
  message('CSIPersistentVolumeSource', 'Storage of a CSI driver, for a persistent volume.', {
    driver: string(1, 'Name of the CSI driver.', { required: true }),
    volumeHandle: string(2, 'Name the driver gave the volume, used in all later calls.', { required: true }),
    readOnly: bool(3, 'Whether the volume is mounted read-only.'),
    fsType: string(4, 'Filesystem type to mount, such as ext4 or xfs.'),
    volumeAttributes: map(5, 'Properties the driver gave the volume.', 'string'),
    controllerPublishSecretRef: one(
      6, 'Secret passed to the driver when it attaches or detaches the volume.', SecretReference, { pointer: true }
    ),
    nodeStageSecretRef: one(
      7, 'Secret passed to the driver when it stages the volume on a node.', SecretReference, { pointer: true }
    ),
    nodePublishSecretRef: one(
      8, 'Secret passed to the driver when it mounts or unmounts the volume.', SecretReference, { pointer: true }
    ),
    controllerExpandSecretRef: one(
      9, 'Secret passed to the driver when it expands the volume.', SecretReference, { pointer: true }
    ),
    nodeExpandSecretRef: one(
      10, 'Secret passed to the driver when it expands the volume on a node.', SecretReference,
      { pointer: true, since: '1.25' }
    )
  }, { validate: (volume, at, report) => { validateCsiVolume(volume, at, report) } })

export type CephFSPersistentVolumeSource = Static<typeof CephFSPersistentVolumeSource>
export const CephFSPersistentVolumeSource =
  message('CephFSPersistentVolumeSource', 'A Ceph filesystem, for a persistent volume.', {
    monitors: list(1, 'Addresses of the Ceph monitors.', 'string', { required: true }),
    path: string(2, 'Directory to mount as root; by default /.'),
    user: string(3, 'Ceph user name; by default admin.'),
    secretFile: string(4, 'Path of the key ring file; by default /etc/ceph/user.secret.'),
    secretRef: one(
      5, 'Secret with the authentication key of the user, used instead of secretFile.', SecretReference,
      { pointer: true }
    ),
    readOnly: bool(6, 'Whether the volume is mounted read-only.')
  }, { validate: (volume, at, report) => { validateSome(volume.monitors, `${at}.monitors`, report) } })

export type CinderPersistentVolumeSource = Static<typeof CinderPersistentVolumeSource>
export const CinderPersistentVolumeSource =
  message('CinderPersistentVolumeSource', 'A Cinder volume of OpenStack, for a persistent volume.', {
    volumeID: string(1, 'ID of the volume in Cinder.', { required: true }),
    fsType: string(2, 'Filesystem type to mount, such as ext4 or xfs.'),
    readOnly: bool(3, 'Whether the volume is mounted read-only.'),
    secretRef: one(4, 'Secret with the parameters to connect to OpenStack.', SecretReference, { pointer: true })
  }, { validate: (volume, at, report) => { validateSecretPlace(volume, at, report) } })

export type FlexPersistentVolumeSource = Static<typeof FlexPersistentVolumeSource>
export const FlexPersistentVolumeSource =
  message('FlexPersistentVolumeSource', 'Storage of a FlexVolume driver, for a persistent volume.', {
    driver: string(1, 'Name of the FlexVolume driver.', { required: true }),
    fsType: string(2, 'Filesystem type to mount; the default depends on the driver.'),
    secretRef: one(3, 'Secret passed to the scripts of the driver.', SecretReference, { pointer: true }),
    readOnly: bool(4, 'Whether the volume is mounted read-only.'),
    options: map(5, 'Further options of the driver.', 'string')
  }, { validate: (volume, at, report) => { validateFlexVolume(volume, at, report) } })

export type GlusterfsPersistentVolumeSource = Static<typeof GlusterfsPersistentVolumeSource>
export const GlusterfsPersistentVolumeSource =
  message('GlusterfsPersistentVolumeSource', 'A Glusterfs mount, for a persistent volume.', {
    endpoints: string(1, 'Name of the Endpoints object that lists the Glusterfs servers.', { required: true }),
    path: string(2, 'Path of the Glusterfs volume.', { required: true }),
    readOnly: bool(3, 'Whether the volume is mounted read-only.'),
    endpointsNamespace: string(
      4, 'Namespace of the Endpoints object; by default that of the bound claim.', { pointer: true }
    )
  }, {
    validate: (volume, at, report) => {
      validateEndpointsNamespace(volume.endpointsNamespace, `${at}.endpointsNamespace`, report)
    }
  })

export type ISCSIPersistentVolumeSource = Static<typeof ISCSIPersistentVolumeSource>
export const ISCSIPersistentVolumeSource =
  message('ISCSIPersistentVolumeSource', 'An iSCSI disk, for a persistent volume.', {
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
      10, 'Secret for CHAP authentication of the target and the initiator.', SecretReference, { pointer: true }
    ),
    initiatorName: string(12, 'Qualified name of the initiator, in place of that of the node.', { pointer: true })
  }, { validate: (volume, at, report) => { validateIscsiVolume(volume, at, report) } })

export type LocalVolumeSource = Static<typeof LocalVolumeSource>
export const LocalVolumeSource = message('LocalVolumeSource', 'A disk or directory local to one node.', {
  path: string(1, 'Path of the device or directory on the node.', { required: true }),
  fsType: string(2, 'Filesystem type to mount if the path is a block device.', { pointer: true })
}, { validate: (volume, at, report) => { validateLocalVolume(volume, at, report) } })

export type RBDPersistentVolumeSource = Static<typeof RBDPersistentVolumeSource>
export const RBDPersistentVolumeSource =
  message('RBDPersistentVolumeSource', 'A block device of Ceph (RBD), for a persistent volume.', {
    monitors: list(1, 'Addresses of the Ceph monitors.', 'string', { required: true }),
    image: string(2, 'Name of the RBD image.', { required: true }),
    fsType: string(3, 'Filesystem type to mount, such as ext4 or xfs.'),
    pool: string(4, 'Name of the RBD pool; by default rbd.', { default: 'rbd' }),
    user: string(5, 'Ceph user name; by default admin.', { default: 'admin' }),
    keyring: string(6, 'Path of the key ring; by default /etc/ceph/keyring.', { default: '/etc/ceph/keyring' }),
    secretRef: one(
      7, 'Secret with the authentication key of the user, used instead of keyring.', SecretReference, { pointer: true }
    ),
    readOnly: bool(8, 'Whether the volume is mounted read-only.')
  }, { validate: (volume, at, report) => { validateSome(volume.monitors, `${at}.monitors`, report) } })

export type ScaleIOPersistentVolumeSource = Static<typeof ScaleIOPersistentVolumeSource>
export const ScaleIOPersistentVolumeSource =
  message('ScaleIOPersistentVolumeSource', 'A volume of ScaleIO, for a persistent volume.', {
    gateway: string(1, 'Host address of the ScaleIO API gateway.', { required: true }),
    system: string(2, 'Name of the storage system in ScaleIO.', { required: true }),
    secretRef: one(3, 'Secret with the user and password for logging in.', SecretReference, {
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

export type StorageOSPersistentVolumeSource = Static<typeof StorageOSPersistentVolumeSource>
export const StorageOSPersistentVolumeSource =
  message('StorageOSPersistentVolumeSource', 'A volume of StorageOS, for a persistent volume.', {
    volumeName: string(1, 'Name of the StorageOS volume, unique in its namespace.'),
    volumeNamespace: string(2, 'Namespace of the volume in StorageOS; by default that of the pod.'),
    fsType: string(3, 'Filesystem type to mount, such as ext4 or xfs.'),
    readOnly: bool(4, 'Whether the volume is mounted read-only.'),
    secretRef: one(5, 'Secret with the credentials for the StorageOS API.', ObjectReference, { pointer: true })
  }, { validate: (volume, at, report) => { validateStorageOSVolume(volume, at, report) } })

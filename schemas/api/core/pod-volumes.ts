/** Volumes of pods. */
import { lacksDropped } from '../../language/gated.js'
import { int32, int64, one, inline, bool, list, map, string, Facts, type Static } from '../../language/declare.js'
import {
  AzureFileVolumeSource, CSIVolumeSource, CephFSVolumeSource, CinderVolumeSource, FlexVolumeSource,
  GlusterfsVolumeSource, ISCSIVolumeSource, RBDVolumeSource, ScaleIOVolumeSource, StorageOSVolumeSource
} from './network-volumes.js'
import { PersistentVolumeClaimSpec } from './persistentvolumeclaims.js'
import { LocalObjectReference } from './references.js'
import { KeyToPath, ObjectFieldSelector, ResourceFieldSelector } from './references-to-data.js'
import {
  AWSElasticBlockStoreVolumeSource, AzureDiskVolumeSource, FCVolumeSource, FlockerVolumeSource,
  GCEPersistentDiskVolumeSource, HostPathVolumeSource, NFSVolumeSource, PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource, QuobyteVolumeSource, VsphereVirtualDiskVolumeSource
} from './volume-sources.js'
import { ObjectMeta } from '../../meta/object.js'
import { LabelSelector } from '../../meta/options.js'
import { Quantity } from '../../meta/quantity.js'
import { required } from '../../rules/findings.js'
import { tagOf } from './images.js'
import { message } from './package.js'
import { validateEphemeralVolume } from './rules/claim-templates.js'
import { validateEmptyDir, validateGitRepo } from './rules/disks.js'
import {
  validateConfigMapVolume, validateDownwardAPIVolume, validateProjectedVolume, validateSecretVolume
} from './rules/projections.js'

export type ConfigMapVolumeSource = Static<typeof ConfigMapVolumeSource>
export const ConfigMapVolumeSource = message('ConfigMapVolumeSource', 'A config map shown as files in a volume.', {
  localObjectReference: inline(1, 'The config map to read.', LocalObjectReference),
  items: list(2, 'Keys to show and their paths; all keys if empty.', KeyToPath),
  defaultMode: int32(3, 'Permission bits of files without a mode of their own; by default 0644.', {
    pointer: true, default: 420
  }),
  optional: bool(4, 'Whether the config map or its keys may be missing.', { pointer: true })
}, { validate: (volume, at, report) => { validateConfigMapVolume(volume, at, report) } })

export type SecretVolumeSource = Static<typeof SecretVolumeSource>
export const SecretVolumeSource = message('SecretVolumeSource', 'A secret shown as files in a volume.', {
  secretName: string(1, 'Name of the secret, in the namespace of the pod.'),
  items: list(2, 'Keys to show and their paths; all keys if empty.', KeyToPath),
  defaultMode: int32(3, 'Permission bits of files without a mode of their own; by default 0644.', {
    pointer: true, default: 420
  }),
  optional: bool(4, 'Whether the secret or its keys may be missing.', { pointer: true })
}, { validate: (volume, at, report) => { validateSecretVolume(volume, at, report) } })

export type DownwardAPIVolumeFile = Static<typeof DownwardAPIVolumeFile>
export const DownwardAPIVolumeFile = message('DownwardAPIVolumeFile', 'A file that shows a field of the pod.', {
  path: string(1, 'Relative path of the file, without .. in it.', { required: true }),
  fieldRef: one(2, 'Field of the pod to show, such as its labels.', ObjectFieldSelector, { pointer: true }),
  resourceFieldRef: one(
    3, 'Resource limit or request of a container to show.', ResourceFieldSelector, { pointer: true }
  ),
  mode: int32(4, 'Permission bits of the file; by default those of the volume.', { pointer: true })
})

export type DownwardAPIVolumeSource = Static<typeof DownwardAPIVolumeSource>
export const DownwardAPIVolumeSource =
  message('DownwardAPIVolumeSource', 'Fields of the pod shown as files in a volume.', {
    items: list(1, 'Files to show.', DownwardAPIVolumeFile, { ruled: true }),
    defaultMode: int32(2, 'Permission bits of files without a mode of their own; by default 0644.', {
      pointer: true, default: 420
    })
  }, { validate: (volume, at, report) => { validateDownwardAPIVolume(volume, at, report) } })

export type EmptyDirVolumeSource = Static<typeof EmptyDirVolumeSource>
export const EmptyDirVolumeSource =
  message('EmptyDirVolumeSource', 'An empty directory that lasts as long as the pod.', {
    medium: string(1, 'Storage medium: empty for that of the node, Memory or HugePages.', {
      values: ['', 'Memory', 'HugePages', 'HugePages-']
    }),
    sizeLimit: one(2, 'Amount of storage the volume may use.', Quantity, {
      pointer: true, gate: 'LocalStorageCapacityIsolation'
    })
  }, { validate: (volume, at, report) => { validateEmptyDir(volume, at, report) } })

export type GitRepoVolumeSource = Static<typeof GitRepoVolumeSource>
export const GitRepoVolumeSource =
  message('GitRepoVolumeSource', 'Deprecated: a directory filled from a git repository.', {
    repository: string(1, 'URL of the repository.', { required: true }),
    revision: string(2, 'Commit hash to check out.'),
    directory: string(3, 'Directory to clone into, without .. in it.')
  }, { validate: (volume, at, report) => { validateGitRepo(volume, at, report) } })

export type PersistentVolumeClaimVolumeSource = Static<typeof PersistentVolumeClaimVolumeSource>
export const PersistentVolumeClaimVolumeSource =
  message('PersistentVolumeClaimVolumeSource', 'A claim in the namespace of the pod, used as a volume.', {
    claimName: string(1, 'Name of the claim, in the namespace of the pod.', { required: true }),
    readOnly: bool(2, 'Whether the volume is mounted read-only.')
  })

export type ConfigMapProjection = Static<typeof ConfigMapProjection>
export const ConfigMapProjection =
  message('ConfigMapProjection', 'A config map shown as files in a projected volume.', {
    localObjectReference: inline(1, 'The config map to read.', LocalObjectReference),
    items: list(2, 'Keys to show and their paths; all keys if empty.', KeyToPath),
    optional: bool(4, 'Whether the config map or its keys may be missing.', { pointer: true })
  })

export type SecretProjection = Static<typeof SecretProjection>
export const SecretProjection = message('SecretProjection', 'A secret shown as files in a projected volume.', {
  localObjectReference: inline(1, 'The secret to read.', LocalObjectReference),
  items: list(2, 'Keys to show and their paths; all keys if empty.', KeyToPath),
  optional: bool(4, 'Whether the secret or its keys may be missing.', { pointer: true })
})

export type DownwardAPIProjection = Static<typeof DownwardAPIProjection>
export const DownwardAPIProjection =
  message('DownwardAPIProjection', 'Fields of the pod shown as files in a projected volume.', {
    items: list(1, 'Files to show.', DownwardAPIVolumeFile, { ruled: true })
  })

export type ServiceAccountTokenProjection = Static<typeof ServiceAccountTokenProjection>
export const ServiceAccountTokenProjection =
  message('ServiceAccountTokenProjection', 'A token of the service account shown as a file.', {
    audience: string(1, 'Who the token is meant for; by default the API server.'),
    expirationSeconds: int64(2, 'Seconds the token is valid, at least 600; by default 3600.', {
      pointer: true, default: 3600
    }),
    path: string(3, 'Path of the token file, relative to the mount point.', { required: true, ruled: true })
  })

export type ClusterTrustBundleProjection = Static<typeof ClusterTrustBundleProjection>
/** Nothing here makes bundles: the field is known, and dropped. */
export const ClusterTrustBundleProjection =
  message('ClusterTrustBundleProjection', 'Trusted certificates shown as a file in a projected volume.', {
    name: string(1, 'Name of one bundle.', { pointer: true }),
    signerName: string(2, 'Signer of the bundles to join.', { pointer: true }),
    labelSelector: one(3, 'Labels of the bundles of the signer.', LabelSelector, { pointer: true }),
    optional: bool(5, 'Whether the bundles may be missing.', { pointer: true }),
    path: string(4, 'Path of the file, relative to the mount point.', { required: true, ruled: true })
  })

export type PodCertificateProjection = Static<typeof PodCertificateProjection>
/** Nothing here signs for pods: the field is known, and dropped. */
export const PodCertificateProjection =
  message('PodCertificateProjection', 'A key and certificate of the pod shown as files in a projected volume.', {
    signerName: string(1, 'Signer that the certificate is requested of.', { required: true, ruled: true }),
    keyType: string(2, 'Kind of the key.', { required: true, ruled: true }),
    maxExpirationSeconds: int32(3, 'Longest validity to ask for, in seconds.', { pointer: true }),
    credentialBundlePath: string(4, 'Path of a file with the key and the certificates.'),
    keyPath: string(5, 'Path of a file with the key.'),
    certificateChainPath: string(6, 'Path of a file with the certificates.'),
    userAnnotations: map(7, 'What the signer is told besides.', 'string')
  })

export type VolumeProjection = Static<typeof VolumeProjection>
export const VolumeProjection = message('VolumeProjection', 'One source of a projected volume; one member is set.', {
  secret: one(1, 'Secret to show.', SecretProjection, { pointer: true }),
  downwardAPI: one(2, 'Fields of the pod to show.', DownwardAPIProjection, { pointer: true }),
  configMap: one(3, 'Config map to show.', ConfigMapProjection, { pointer: true }),
  serviceAccountToken: one(4, 'Token of the service account to show.', ServiceAccountTokenProjection, {
    pointer: true
  }),
  clusterTrustBundle: one(5, 'Trusted certificates to show.', ClusterTrustBundleProjection, {
    pointer: true, gate: 'ClusterTrustBundleProjection', since: '1.29'
  }),
  podCertificate: one(6, 'Key and certificate of the pod to show.', PodCertificateProjection, {
    pointer: true, gate: 'PodCertificateRequest', since: '1.34'
  })
})

export type ProjectedVolumeSource = Static<typeof ProjectedVolumeSource>
export const ProjectedVolumeSource =
  message('ProjectedVolumeSource', 'Several sources shown together in one directory.', {
    sources: list(1, 'Sources to show together.', VolumeProjection, { written: true }),
    defaultMode: int32(2, 'Permission bits of files without a mode of their own; by default 0644.', {
      pointer: true, default: 420
    })
  }, { validate: (volume, at, report) => { validateProjectedVolume(volume, at, report) } })

export type PersistentVolumeClaimTemplate = Static<typeof PersistentVolumeClaimTemplate>
export const PersistentVolumeClaimTemplate =
  message('PersistentVolumeClaimTemplate', 'Template of a claim made for one pod.', {
    metadata: one(1, 'Labels and annotations copied to the claim.', ObjectMeta, { ruled: true }),
    spec: one(2, 'What the claim asks for, copied as it is.', PersistentVolumeClaimSpec, { required: true })
  })

export type EphemeralVolumeSource = Static<typeof EphemeralVolumeSource>
export const EphemeralVolumeSource =
  message('EphemeralVolumeSource', 'A volume claimed for one pod and deleted with it.', {
    volumeClaimTemplate: one(
      1, 'Template of the claim made for the pod.', PersistentVolumeClaimTemplate, { pointer: true }
    )
  }, { validate: (volume, at, report) => { validateEphemeralVolume(volume, at, report) } })

export type ImageVolumeSource = Static<typeof ImageVolumeSource>
export const ImageVolumeSource = message('ImageVolumeSource', 'An image or artifact shown as a directory.', {
  reference: string(1, 'Name of the image, as of a container.'),
  pullPolicy: string(2, 'When the image is pulled: Always, Never or IfNotPresent; by default as for containers.', {
    values: ['Always', 'Never', 'IfNotPresent'], closed: true
  })
}, {
  defaults: source => { source.pullPolicy ||= tagOf(source.reference ?? '') === 'latest' ? 'Always' : 'IfNotPresent' },
  validate: ({ reference = '' }, at, report) => { if (reference === '') required(report, `${at}.reference`) }
})

export type VolumeSource = Static<typeof VolumeSource>
export const VolumeSource = message('VolumeSource', 'Where a volume comes from; one member is set.', {
  hostPath: one(1, 'File or directory of the node.', HostPathVolumeSource, { pointer: true }),
  emptyDir: one(2, 'Empty directory that lasts as long as the pod.', EmptyDirVolumeSource, { pointer: true }),
  gcePersistentDisk: one(3, 'Disk of Google Compute Engine.', GCEPersistentDiskVolumeSource, { pointer: true }),
  awsElasticBlockStore: one(4, 'Disk of AWS Elastic Block Store.', AWSElasticBlockStoreVolumeSource, { pointer: true }),
  gitRepo: one(5, 'Deprecated: directory filled from a git repository.', GitRepoVolumeSource, { pointer: true }),
  secret: one(6, 'Secret shown as files.', SecretVolumeSource, { pointer: true }),
  nfs: one(7, 'Mount of an NFS server.', NFSVolumeSource, { pointer: true }),
  iscsi: one(8, 'Disk reached over iSCSI.', ISCSIVolumeSource, { pointer: true }),
  glusterfs: one(9, 'Mount of Glusterfs.', GlusterfsVolumeSource, { pointer: true }),
  persistentVolumeClaim: one(
    10, 'Claim in the namespace of the pod.', PersistentVolumeClaimVolumeSource, { pointer: true }
  ),
  rbd: one(11, 'Block device of Ceph (RBD).', RBDVolumeSource, { pointer: true }),
  flexVolume: one(12, 'Storage of a FlexVolume driver.', FlexVolumeSource, { pointer: true }),
  cinder: one(13, 'Cinder volume of OpenStack.', CinderVolumeSource, { pointer: true }),
  cephfs: one(14, 'Filesystem of Ceph.', CephFSVolumeSource, { pointer: true }),
  flocker: one(15, 'Dataset managed by Flocker.', FlockerVolumeSource, { pointer: true }),
  downwardAPI: one(16, 'Fields of the pod shown as files.', DownwardAPIVolumeSource, { pointer: true }),
  fc: one(17, 'Disk reached over Fibre Channel.', FCVolumeSource, { pointer: true }),
  azureFile: one(18, 'Share of Azure Files.', AzureFileVolumeSource, { pointer: true }),
  configMap: one(19, 'Config map shown as files.', ConfigMapVolumeSource, { pointer: true }),
  vsphereVolume: one(20, 'Virtual disk of vSphere.', VsphereVirtualDiskVolumeSource, { pointer: true }),
  quobyte: one(21, 'Mount of Quobyte.', QuobyteVolumeSource, { pointer: true }),
  azureDisk: one(22, 'Data disk of Azure.', AzureDiskVolumeSource, { pointer: true }),
  photonPersistentDisk: one(23, 'Disk of a Photon Controller.', PhotonPersistentDiskVolumeSource, { pointer: true }),
  projected: one(26, 'Several sources shown in one directory.', ProjectedVolumeSource, { pointer: true }),
  portworxVolume: one(24, 'Volume of Portworx.', PortworxVolumeSource, { pointer: true }),
  scaleIO: one(25, 'Volume of ScaleIO.', ScaleIOVolumeSource, { pointer: true }),
  storageos: one(27, 'Volume of StorageOS.', StorageOSVolumeSource, { pointer: true }),
  csi: one(28, 'Ephemeral storage of a CSI driver.', CSIVolumeSource, { pointer: true, gate: 'CSIInlineVolume' }),
  ephemeral: one(29, 'Volume claimed for this pod and deleted with it.', EphemeralVolumeSource, { pointer: true }),
  image: one(30, 'Content of an image, read-only.', ImageVolumeSource, {
    pointer: true, gate: 'ImageVolume', since: '1.31'
  })
})

const VOLUME_SOURCES = Object.keys(VolumeSource[Facts].fields) as Array<keyof VolumeSource>

export type Volume = Static<typeof Volume>
export const Volume = message('Volume', 'A directory or device the containers of a pod may use.', {
  name: string(1, 'Name of the volume, unique in the pod.', { required: true }),
  volumeSource: inline(2, 'Where the content of the volume comes from.', VolumeSource)
}, {
  defaults: volume => {
    if (VOLUME_SOURCES.every(source => volume[source] === undefined) && !lacksDropped(volume)) volume.emptyDir = {}
  }
})

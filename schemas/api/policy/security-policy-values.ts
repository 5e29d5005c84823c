/** What fields of a PodSecurityPolicy may say, in the order in which findings tell it. */
export const USER_RULES = ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny']
/** Those of `runAsGroup` are the same in another order. */
export const GROUP_RULES_OF_CONTAINERS = ['MustRunAs', 'RunAsAny', 'MayRunAs']
export const GROUP_RULES = ['MayRunAs', 'MustRunAs', 'RunAsAny']
export const SELINUX_RULES = ['MustRunAs', 'RunAsAny']
export const PROC_MOUNTS = ['Default', 'Unmasked']
/** Types of volume; findings tell them in the order of the alphabet. */
export const FS_TYPES = [
  'azureFile', 'flocker', 'flexVolume', 'hostPath', 'emptyDir', 'gcePersistentDisk', 'awsElasticBlockStore', 'gitRepo', 'secret', 'nfs', 'iscsi', 'glusterfs',
  'persistentVolumeClaim', 'rbd', 'cinder', 'cephFS', 'downwardAPI', 'fc', 'configMap', 'vsphereVolume', 'quobyte', 'azureDisk', 'photonPersistentDisk', 'storageos',
  'projected', 'portworxVolume', 'scaleIO', 'csi', 'ephemeral', '*'
]

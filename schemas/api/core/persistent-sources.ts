/** Sources of PersistentVolumes. */
import { one, type Static } from '../../language/declare.js'
import { message } from './package.js'
import {
  AzureFilePersistentVolumeSource, CSIPersistentVolumeSource, CephFSPersistentVolumeSource,
  CinderPersistentVolumeSource, FlexPersistentVolumeSource, GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource, LocalVolumeSource, RBDPersistentVolumeSource, ScaleIOPersistentVolumeSource,
  StorageOSPersistentVolumeSource
} from './persistent-network-volumes.js'
import {
  AWSElasticBlockStoreVolumeSource, AzureDiskVolumeSource, FCVolumeSource, FlockerVolumeSource,
  GCEPersistentDiskVolumeSource, HostPathVolumeSource, NFSVolumeSource, PhotonPersistentDiskVolumeSource,
  PortworxVolumeSource, QuobyteVolumeSource, VsphereVirtualDiskVolumeSource
} from './volume-sources.js'

export type PersistentVolumeSource = Static<typeof PersistentVolumeSource>
export const PersistentVolumeSource =
  message('PersistentVolumeSource', 'What a persistent volume is made of; one member is set.', {
    gcePersistentDisk: one(1, 'Disk of Google Compute Engine.', GCEPersistentDiskVolumeSource, { pointer: true }),
    awsElasticBlockStore: one(
      2, 'Disk of AWS Elastic Block Store.', AWSElasticBlockStoreVolumeSource, { pointer: true }
    ),
    hostPath: one(3, 'Directory of the node, for tests on one node only.', HostPathVolumeSource, { pointer: true }),
    glusterfs: one(4, 'Mount of Glusterfs.', GlusterfsPersistentVolumeSource, { pointer: true }),
    nfs: one(5, 'Mount of an NFS server.', NFSVolumeSource, { pointer: true }),
    rbd: one(6, 'Block device of Ceph (RBD).', RBDPersistentVolumeSource, { pointer: true }),
    iscsi: one(7, 'Disk reached over iSCSI.', ISCSIPersistentVolumeSource, { pointer: true }),
    cinder: one(8, 'Cinder volume of OpenStack.', CinderPersistentVolumeSource, { pointer: true }),
    cephfs: one(9, 'Filesystem of Ceph.', CephFSPersistentVolumeSource, { pointer: true }),
    fc: one(10, 'Disk reached over Fibre Channel.', FCVolumeSource, { pointer: true }),
    flocker: one(11, 'Dataset managed by Flocker.', FlockerVolumeSource, { pointer: true }),
    flexVolume: one(12, 'Storage of a FlexVolume driver.', FlexPersistentVolumeSource, { pointer: true }),
    azureFile: one(13, 'Share of Azure Files.', AzureFilePersistentVolumeSource, { pointer: true }),
    vsphereVolume: one(14, 'Virtual disk of vSphere.', VsphereVirtualDiskVolumeSource, { pointer: true }),
    quobyte: one(15, 'Mount of Quobyte.', QuobyteVolumeSource, { pointer: true }),
    azureDisk: one(16, 'Data disk of Azure.', AzureDiskVolumeSource, { pointer: true }),
    photonPersistentDisk: one(17, 'Disk of a Photon Controller.', PhotonPersistentDiskVolumeSource, { pointer: true }),
    portworxVolume: one(18, 'Volume of Portworx.', PortworxVolumeSource, { pointer: true }),
    scaleIO: one(19, 'Volume of ScaleIO.', ScaleIOPersistentVolumeSource, { pointer: true }),
    local: one(20, 'Disk or directory local to one node.', LocalVolumeSource, { pointer: true }),
    storageos: one(21, 'Volume of StorageOS.', StorageOSPersistentVolumeSource, { pointer: true }),
    csi: one(22, 'Storage of a CSI driver.', CSIPersistentVolumeSource, { pointer: true })
  })

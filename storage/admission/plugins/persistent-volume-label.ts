/**
 * PersistentVolumeLabel: volumes in a cloud are told where they are by labels. That takes a cloud provider, and this server has none:
 * a volume of one is refused, as convention where the provider is not there, unless it was provisioned with its labels. All others
 * are as they are. (Off by default; deprecated.)
 */
import { persistentVolumes } from '../../../schemas/api/core/persistentvolumes.js'
import type { PersistentVolume } from '../../../schemas/api/core/persistentvolumes.js'
import { pluginFor } from '../contract.js'
import { refusal } from '../refusal.js'

const PROVISIONED = 'pv.orch.io/provisioned-by'
const LABELS: ReadonlyArray<readonly [zone: string, region: string]> = [
  ['topology.orch.io/zone', 'topology.orch.io/region'], ['failure-domain.beta.orch.io/zone', 'failure-domain.beta.orch.io/region']
]

export const persistentVolumeLabel = pluginFor<PersistentVolume>(persistentVolumes, {
  name: 'PersistentVolumeLabel',
  operations: ['CREATE'],
  mutate: request => {
    if (request.object === undefined) return
    const { metadata: { labels = {}, annotations = {} }, spec } = request.object
    const isLabelled = LABELS.some(pair => pair.every(label => Object.hasOwn(labels, label)))
    if (isLabelled && Object.hasOwn(annotations, PROVISIONED)) return
    const refuse = (volume: string, provider: string): never => { throw refusal(request, `error querying ${volume}: unable to build ${provider}`) }
    const { awsElasticBlockStore: aws, gcePersistentDisk: gce, azureDisk: azure, cinder, vsphereVolume: vsphere } = spec
    if (aws !== undefined) refuse(`AWS EBS volume ${aws.volumeID}`, 'AWS cloud provider for EBS')
    if (gce !== undefined) refuse(`GCE PD volume ${gce.pdName}`, 'GCE cloud provider for PD')
    if (azure !== undefined) refuse(`AzureDisk volume ${azure.diskName}`, 'Azure cloud provider for AzureDisk')
    if (cinder !== undefined) refuse(`Cinder volume ${cinder.volumeID}`, 'OpenStack cloud provider for Cinder')
    if (vsphere !== undefined) refuse(`vSphere Volume ${vsphere.volumePath}`, 'vSphere cloud provider')
  }
})

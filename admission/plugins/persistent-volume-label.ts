/**
 * PersistentVolumeLabel: volumes in a cloud are told where they are by labels, and are used there alone. To find that out takes a cloud
 * provider, and this server has none: a volume of one is refused, as convention where the provider is not there, unless it was
 * provisioned with its labels or is only being provisioned. All others are as they are. (Off by default; deprecated.)
 */
import type { NodeSelectorTerm } from '../../schemas/api/core/affinity.js'
import { persistentVolumes } from '../../schemas/api/core/persistentvolumes.js'
import type { PersistentVolume } from '../../schemas/api/core/persistentvolumes.js'
import { pluginFor } from '../../registry/admission.js'
import type { TypedRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

const PROVISIONED = 'pv.orch.io/provisioned-by'
/** The name of a volume that is not there yet. */
const PLACEHOLDER = 'placeholder-for-provisioning'
/** Between the zones of one label. */
const BETWEEN = '__'
const LABELS: ReadonlyArray<readonly [zone: string, region: string]> = [
  ['topology.orch.io/zone', 'topology.orch.io/region'], ['failure-domain.beta.orch.io/zone', 'failure-domain.beta.orch.io/region']
]

export const persistentVolumeLabel = pluginFor<PersistentVolume>(persistentVolumes, {
  name: 'PersistentVolumeLabel',
  operations: ['CREATE'],
  mutate: request => {
    if (request.object === undefined) return
    const { metadata: { labels = {}, annotations = {} }, spec } = request.object
    const known = LABELS.find(pair => pair.every(label => Object.hasOwn(labels, label)))
    if (known !== undefined && Object.hasOwn(annotations, PROVISIONED)) return keepTo(request, spec, labels, known)
    const refuse = (kind: string, volume: string, provider: string): never => { throw refusal(request, `error querying ${kind} ${volume}: unable to build ${provider}`) }
    const { awsElasticBlockStore: aws, gcePersistentDisk: gce, azureDisk: azure, cinder, vsphereVolume: vsphere } = spec
    const [named] = [aws?.volumeID, gce?.pdName, azure?.diskName, cinder?.volumeID].filter(name => name !== undefined)
    if (named === PLACEHOLDER) return
    if (aws !== undefined) refuse('AWS EBS volume', aws.volumeID, 'AWS cloud provider for EBS')
    if (gce !== undefined) refuse('GCE PD volume', gce.pdName, 'GCE cloud provider for PD')
    if (azure !== undefined) refuse('AzureDisk volume', azure.diskName, 'Azure cloud provider for AzureDisk')
    if (cinder !== undefined) refuse('Cinder volume', cinder.volumeID, 'OpenStack cloud provider for Cinder disk')
    if (vsphere !== undefined) refuse('vSphere Volume', vsphere.volumePath, 'vSphere cloud provider')
  }
})

/** Adds to each term of its affinity where its labels say that it is, unless one of them says something of that itself. */
function keepTo (request: TypedRequest<PersistentVolume>, spec: PersistentVolume['spec'], labels: Readonly<Record<string, string>>, [zone, region]: typeof LABELS[number]): void {
  const zones = (labels[zone] ?? '').split(BETWEEN).map(one => one.trim())
  if (zones.includes('')) throw refusal(request, `failed to convert label string for Zone: ${labels[zone] ?? ''} to a Set`)
  const where = [{ key: zone, operator: 'In' as const, values: [...new Set(zones)].sort() }, { key: region, operator: 'In' as const, values: [labels[region] ?? ''] }]
  const { nodeSelectorTerms: given = [] } = spec.nodeAffinity?.required ?? {}
  const terms = given.length === 0 ? [{}] : given
  if (terms.some(({ matchExpressions = [] }: NodeSelectorTerm) => matchExpressions.some(({ key }) => key === zone || key === region))) return
  spec.nodeAffinity = { required: { nodeSelectorTerms: terms.map((term: NodeSelectorTerm) => ({ ...term, matchExpressions: [...term.matchExpressions ?? [], ...where] })) } }
}

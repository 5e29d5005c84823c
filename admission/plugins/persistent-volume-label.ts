/**
 * PersistentVolumeLabel: cloud volumes get labels and node affinity for their location, which requires a cloud
 * provider. This server has none, so cloud volumes are refused, as upstream without a provider, unless they were
 * provisioned with labels or are being provisioned. (Off by default; deprecated.)
 */
import type { NodeSelectorTerm } from '../../schemas/api/core/affinity.js'
import { persistentVolumes, type PersistentVolume } from '../../schemas/api/core/persistentvolumes.js'
import { pluginFor, type TypedRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

const PROVISIONED = 'pv.orch.io/provisioned-by'
/** The name of a volume that is being provisioned. */
const PLACEHOLDER = 'placeholder-for-provisioning'
/** Separates several zones in a label. */
const BETWEEN = '__'
const LABELS: ReadonlyArray<readonly [zone: string, region: string]> = [
  ['topology.orch.io/zone', 'topology.orch.io/region'],
  ['failure-domain.beta.orch.io/zone', 'failure-domain.beta.orch.io/region']
]

export const persistentVolumeLabel = pluginFor<PersistentVolume>(persistentVolumes, {
  name: 'PersistentVolumeLabel',
  operations: ['CREATE'],
  mutate: request => {
    if (request.object === undefined) return
    const { metadata: { labels = {}, annotations = {} }, spec } = request.object
    const zone = LABELS.find(pair => pair.every(label => Object.hasOwn(labels, label)))
    if (zone !== undefined && Object.hasOwn(annotations, PROVISIONED)) return setAffinity(request, spec, labels, zone)
    const refuse = (kind: string, volume: string, provider: string): never => {
      throw refusal(request, `error querying ${kind} ${volume}: unable to build ${provider}`)
    }
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

/** Adds the location in the labels to each term of the node affinity, unless a term already mentions it. */
function setAffinity (
  request: TypedRequest<PersistentVolume>, spec: PersistentVolume['spec'], labels: Readonly<Record<string, string>>,
  [zone, region]: typeof LABELS[number]
): void {
  const zones = (labels[zone] ?? '').split(BETWEEN).map(zoneName => zoneName.trim())
  if (zones.includes('')) {
    throw refusal(request, `failed to convert label string for Zone: ${labels[zone] ?? ''} to a Set`)
  }
  const expressions = [{ key: zone, operator: 'In' as const, values: [...new Set(zones)].sort() }, {
    key: region, operator: 'In' as const, values: [labels[region] ?? '']
  }]
  const { nodeSelectorTerms: given = [] } = spec.nodeAffinity?.required ?? {}
  const terms = given.length === 0 ? [{}] : given
  if (terms.some(({ matchExpressions = [] }: NodeSelectorTerm) =>
    matchExpressions.some(({ key }) => key === zone || key === region))) {
    return
  }
  spec.nodeAffinity = {
    required: {
      nodeSelectorTerms: terms.map((term: NodeSelectorTerm) =>
        ({ ...term, matchExpressions: [...term.matchExpressions ?? [], ...expressions] }))
    }
  }
}

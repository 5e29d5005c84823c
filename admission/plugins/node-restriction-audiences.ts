/**
 * NodeRestriction for audiences of tokens: those that the pod asks for, by its volumes or the drivers of them, and
 * those that are granted.
 */
import { allows } from '../../auth/refusal.js'
import { resourceRequest } from '../../auth/request-info.js'
import type { PersistentVolumeClaim } from '../../schemas/api/core/persistentvolumeclaims.js'
import type { PersistentVolume } from '../../schemas/api/core/persistentvolumes.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import type { CSIDriver } from '../../schemas/api/storage/csidrivers.js'
import type { AdmissionRequest } from '../../registry/admission.js'
import type { AdmissionTools } from '../options.js'
import { refusal } from '../refusal.js'

const VERB = 'request-serviceaccounts-token-audience'

/** Drivers that mount volumes of kinds that were built in. */
const MIGRATED: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'ebs.csi.aws.com', azureDisk: 'disk.csi.azure.com', azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org', gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com', vsphereVolume: 'csi.vsphere.vmware.com'
}

type Source = Readonly<Record<string, unknown>> & { readonly csi?: { readonly driver?: string } }

/** @throws StatusError 403 */
export async function admitAudiences (
  request: AdmissionRequest, audiences: readonly string[], pod: Pod, authorize: AdmissionTools['authorize']
): Promise<void> {
  const [audience = ''] = audiences
  if (audiences.length > 1) throw refusal(request, 'node may only request 0 or 1 audiences')
  if (isProjected(pod, audience) || await isOfDriver(request, pod, audience)) return
  const { user, namespace, name } = request
  const granted = user !== undefined && allows(await authorize({
    user, info: resourceRequest({ verb: VERB, group: '', version: 'v1', resource: audience, namespace, name })
  }))
  if (!granted) throw refusal(request, `audience ${JSON.stringify(audience)} not found in pod spec volume`)
}

const isProjected = ({ spec }: Pod, audience: string): boolean =>
  spec.volumes?.some(({ projected }) => projected?.sources?.some(({ serviceAccountToken: token }) =>
    token !== undefined && (token.audience ?? '') === audience)) === true

async function isOfDriver ({ reader, namespace }: AdmissionRequest, pod: Pod, audience: string): Promise<boolean> {
  for (const volume of pod.spec.volumes ?? []) {
    const claim = volume.persistentVolumeClaim?.claimName ??
      (volume.ephemeral === undefined ? '' : `${pod.metadata.name ?? ''}-${volume.name}`)
    const driver = claim === ''
      ? driverOf(volume as unknown as Source) // its sources are members
      : await driverBehind(reader, namespace, claim)
    if (driver === '') continue
    const object = await reader.get('storage.orch.io', 'csidrivers', '', driver) as CSIDriver | undefined // its type
    if (object?.spec.tokenRequests?.some(request => (request.audience ?? '') === audience) === true) return true
  }
  return false
}

async function driverBehind (reader: AdmissionRequest['reader'], namespace: string, name: string): Promise<string> {
  // The types of the resources.
  const claim = await reader.get('', 'persistentvolumeclaims', namespace, name) as PersistentVolumeClaim | undefined
  const { volumeName = '' } = claim?.spec ?? {}
  if (volumeName === '') return ''
  const volume = await reader.get('', 'persistentvolumes', '', volumeName) as PersistentVolume | undefined
  return volume === undefined ? '' : driverOf(volume.spec as unknown as Source)
}

function driverOf (source: Source): string {
  const kind = Object.keys(MIGRATED).find(name => source[name] !== undefined)
  return source.csi?.driver ?? (kind === undefined ? '' : MIGRATED[kind] ?? '')
}

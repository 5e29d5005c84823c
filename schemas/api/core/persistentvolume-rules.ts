/** What a PersistentVolume has to keep to, and a volume that a VolumeAttachment gives in place. */
import type { Report } from '../../language/types.js'
import { sameValue } from '../../language/values.js'
import { dnsSubdomain } from '../../names.js'
import { forbidden, invalid, named, notSupported, required } from '../../rules/findings.js'
import { isNegative, validatePositiveAmount } from '../../rules/quantities.js'
import type { PersistentVolumeSpec } from './persistentvolumes.js'

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce']
const ALONE = 'ReadWriteOncePod'
const INLINE = 'may not be specified in the context of inline volumes'
const SOURCES = [
  'hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'glusterfs', 'flocker', 'nfs', 'rbd', 'quobyte', 'cephfs', 'iscsi', 'cinder', 'fc', 'flexVolume', 'azureFile',
  'vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk', 'scaleIO', 'local', 'storageos', 'csi'
] as const

/** At least one, each known, and one that excludes others alone. */
export function validateAccessModes (modes: readonly string[], field: string, report: Report, none = ''): void {
  if (modes.length === 0) required(report, field, none)
  for (const mode of modes) if (!ACCESS_MODES.includes(mode) && mode !== ALONE) notSupported(report, field, mode, ACCESS_MODES)
  if (modes.includes(ALONE) && modes.some(mode => mode !== ALONE && ACCESS_MODES.includes(mode))) forbidden(report, field, `may not use ${ALONE} with other access modes`)
}

/** Of objects that have not had it: `ReadWriteOncePod` belongs to a feature that is off in this release. */
export function refuseAlone (modes: readonly string[] = [], old: readonly string[] = [], report: Report): void {
  if (modes.includes(ALONE) && !old.includes(ALONE)) notSupported(report, 'spec.accessModes', ALONE, ACCESS_MODES)
}

export function validateVolumeSpec (spec: PersistentVolumeSpec, at: string, report: Report): void {
  validateAccessModes(spec.accessModes ?? [], `${at}.accessModes`, report)
  validateCapacity(spec, at, report)
  validateSources(spec, at, report)
  if (spec.nodeAffinity !== undefined && spec.nodeAffinity.required === undefined) required(report, `${at}.nodeAffinity.required`, 'must specify required node constraints')
  if (spec.local !== undefined && spec.nodeAffinity === undefined) required(report, `${at}.nodeAffinity`, 'Local volume requires node affinity')
  if (spec.storageClassName) named(report, `${at}.storageClassName`, spec.storageClassName, dnsSubdomain)
}

/** Of a volume that is no object of its own. */
export function validateInlineVolumeSpec (spec: PersistentVolumeSpec, at: string, report: Report): void {
  validateAccessModes(spec.accessModes ?? [], `${at}.accessModes`, report)
  if (spec.claimRef !== undefined) forbidden(report, `${at}.claimRef`, INLINE)
  if (Object.keys(spec.capacity ?? {}).length > 0) forbidden(report, `${at}.capacity`, INLINE)
  if (spec.csi === undefined) required(report, `${at}.csi`, 'has to be specified in the context of inline volumes')
  if ((spec.persistentVolumeReclaimPolicy ?? 'Retain') !== 'Retain') forbidden(report, `${at}.persistentVolumeReclaimPolicy`, 'may only be Retain in the context of inline volumes')
  if (spec.nodeAffinity !== undefined) forbidden(report, `${at}.nodeAffinity`, INLINE)
  if (spec.storageClassName) forbidden(report, `${at}.storageClassName`, INLINE)
  if ((spec.volumeMode ?? 'Filesystem') !== 'Filesystem') forbidden(report, `${at}.volumeMode`, 'may not specify volumeMode other than Filesystem in the context of inline volumes')
  validateSources(spec, at, report)
}

function validateCapacity ({ capacity = {} }: PersistentVolumeSpec, at: string, report: Report): void {
  const names = Object.keys(capacity)
  if (names.length === 0) required(report, `${at}.capacity`)
  if (names.length !== 1 || names[0] !== 'storage') notSupported(report, `${at}.capacity`, capacity, ['storage'])
  for (const [name, amount] of Object.entries(capacity)) {
    if (isNegative(amount)) invalid(report, `${at}.capacity[${name}]`, amount, 'must be a valid resource quantity')
    validatePositiveAmount(report, `${at}.capacity[${name}]`, amount)
  }
}

function validateSources (spec: PersistentVolumeSpec, at: string, report: Report): void {
  const [first, ...others] = SOURCES.filter(source => spec[source] !== undefined)
  if (first === undefined) required(report, at, 'must specify a volume type')
  for (const other of others) forbidden(report, `${at}.${other === 'cephfs' ? 'cephFS' : other}`, 'may not specify more than 1 volume type')
  if (spec.hostPath !== undefined && spec.persistentVolumeReclaimPolicy === 'Recycle' && isRoot(spec.hostPath.path)) {
    forbidden(report, `${at}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'")
  }
}

const isRoot = (path: string): boolean => path.startsWith('/') && path.split('/').every(part => part === '' || part === '.')

const sourceOf = (spec: PersistentVolumeSpec): unknown => SOURCES.map(source => spec[source])

/** What a volume is made of stays; how it is expanded may be said later. */
export function validateVolumeUpdate (spec: PersistentVolumeSpec, old: PersistentVolumeSpec, report: Report): void {
  let compared = spec
  if (spec.csi?.controllerExpandSecretRef !== undefined && old.csi !== undefined && old.csi.controllerExpandSecretRef === undefined) {
    const { controllerExpandSecretRef: _, ...csi } = spec.csi
    compared = { ...spec, csi }
  }
  if (!sameValue(sourceOf(compared), sourceOf(old))) forbidden(report, 'spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')
  if (!sameValue(spec.volumeMode, old.volumeMode)) invalid(report, 'volumeMode', spec.volumeMode, 'field is immutable')
  if (old.nodeAffinity !== undefined && !sameValue(spec.nodeAffinity, old.nodeAffinity)) invalid(report, 'nodeAffinity', spec.nodeAffinity, 'field is immutable')
}

/** Validation of PersistentVolumes, and of inline volumes in VolumeAttachments. */
import { isOn } from '../../../gates.js'
import { Facts, type Report, type Message } from '../../../language/types.js'
import { validatePart } from '../../../language/validation.js'
import { sameValue } from '../../../language/values.js'
import { dnsSubdomain } from '../../../names.js'
import { forbidden, forgiving, invalid, checkName, notSupported, required } from '../../../rules/findings.js'
import { isNegative, validatePositiveAmount } from '../../../rules/quantities.js'
import { NodeSelector } from '../affinity.js'
import { PersistentVolumeSource } from '../persistent-sources.js'
import type { PersistentVolumeSpec } from '../persistentvolumes.js'
import { newName } from './node-labels.js'

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce']
const ALONE = 'ReadWriteOncePod'
const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain']
const VOLUME_MODES = ['Block', 'Filesystem']
const INITIATOR_AND_PORTAL_MAX = 64
const INLINE = 'may not be specified in the context of inline volumes'
const SOURCES = [
  'hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'glusterfs', 'flocker', 'nfs', 'rbd', 'quobyte', 'cephfs',
  'iscsi', 'cinder', 'fc', 'flexVolume', 'azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume',
  'azureDisk', 'scaleIO', 'local', 'storageos', 'csi'
] as const

/** At least one known mode; ReadWriteOncePod excludes others. */
export function validateAccessModes (modes: readonly string[], field: string, report: Report, none = ''): void {
  if (modes.length === 0) required(report, field, none)
  for (const mode of modes) {
    if (!ACCESS_MODES.includes(mode) && mode !== ALONE) notSupported(report, field, mode, ACCESS_MODES)
  }
  if (modes.includes(ALONE) && modes.some(mode => mode !== ALONE && ACCESS_MODES.includes(mode))) {
    forbidden(report, field, `may not use ${ALONE} with other access modes`)
  }
}

/** While the feature gate ReadWriteOncePod is off, only objects that already have this access mode may keep it. */
export function refuseAlone (
  modes: readonly string[] = [], old: readonly string[] = [], report: Report, field = 'spec.accessModes'
): void {
  if (modes.includes(ALONE) && !old.includes(ALONE) && !isOn(report, 'ReadWriteOncePod')) {
    notSupported(forgiving(report), field, ALONE, ACCESS_MODES)
  }
}

export function validateVolumeSpec (spec: PersistentVolumeSpec, name: string, at: string, report: Report): void {
  const { persistentVolumeReclaimPolicy: policy, nodeAffinity, volumeMode } = spec
  validateAccessModes(spec.accessModes ?? [], `${at}.accessModes`, report)
  validateCapacity(spec, at, report)
  if (policy !== undefined && !RECLAIM_POLICIES.includes(policy)) {
    notSupported(report, `${at}.persistentVolumeReclaimPolicy`, policy, RECLAIM_POLICIES)
  }
  if (nodeAffinity?.required !==
    undefined) validatePart(NodeSelector, nodeAffinity.required, `${at}.nodeAffinity.required`, report)
  else if (nodeAffinity !== undefined) {
    required(report, `${at}.nodeAffinity.required`, 'must specify required node constraints')
  }
  validateSources(spec, name, at, report)
  if (spec.storageClassName) checkName(report, `${at}.storageClassName`, spec.storageClassName, dnsSubdomain)
  if (volumeMode !== undefined && !VOLUME_MODES.includes(volumeMode)) {
    notSupported(report, `${at}.volumeMode`, volumeMode, VOLUME_MODES)
  }
  const { volumeAttributesClassName: attributes } = spec
  if (attributes === undefined) return
  const field = `${at}.volumeAttributesClassName`
  if (attributes === '') required(report, field, 'an empty string is disallowed')
  else checkName(report, field, attributes, dnsSubdomain)
  if (spec.csi === undefined) {
    required(report, `${at}.csi`, 'has to be specified when using volumeAttributesClassName')
  }
}

/** An inline volume of a VolumeAttachment. */
export function validateInlineVolumeSpec (spec: PersistentVolumeSpec, at: string, report: Report): void {
  if (spec.claimRef !== undefined) forbidden(report, `${at}.claimRef`, INLINE)
  if (Object.keys(spec.capacity ?? {}).length > 0) forbidden(report, `${at}.capacity`, INLINE)
  if (spec.csi === undefined) required(report, `${at}.csi`, 'has to be specified in the context of inline volumes')
  validateAccessModes(spec.accessModes ?? [], `${at}.accessModes`, report)
  if ((spec.persistentVolumeReclaimPolicy ?? 'Retain') !== 'Retain') {
    forbidden(report, `${at}.persistentVolumeReclaimPolicy`, 'may only be Retain in the context of inline volumes')
  }
  if (spec.nodeAffinity !== undefined) forbidden(report, `${at}.nodeAffinity`, INLINE)
  validateSources(spec, '', at, report)
  if (spec.storageClassName) forbidden(report, `${at}.storageClassName`, INLINE)
  if ((spec.volumeMode ?? 'Filesystem') !== 'Filesystem') {
    forbidden(
      report, `${at}.volumeMode`, 'may not specify volumeMode other than Filesystem in the context of inline volumes'
    )
  }
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

/** Exactly one source. Further ones are forbidden and not validated; as upstream, flexVolume is an exception. */
function validateSources (spec: PersistentVolumeSpec, name: string, at: string, report: Report): void {
  let isFound = false
  for (const source of SOURCES) {
    const value = spec[source]
    if (value === undefined) continue
    if (isFound &&
      source !==
        'flexVolume') {
      forbidden(
        report, `${at}.${source === 'cephfs' ? 'cephFS' : source}`, 'may not specify more than 1 volume type'
      )
    } else validateSource(spec, source, value, name, at, report)
    isFound = true
  }
  if (!isFound) required(report, at, 'must specify a volume type')
  if (spec.hostPath !== undefined && spec.persistentVolumeReclaimPolicy === 'Recycle' && isRoot(spec.hostPath.path)) {
    forbidden(report, `${at}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'")
  }
}

function validateSource (
  spec: PersistentVolumeSpec, source: typeof SOURCES[number], value: object, name: string, at: string, report: Report
): void {
  // Every source field is a message. The path `persistentDisk` is upstream's.
  validatePart(
    PersistentVolumeSource[Facts].fields[source]?.[Facts].of as Message<object>, value,
    `${at}.${source === 'gcePersistentDisk' ? 'persistentDisk' : source}`, report
  )
  if (source === 'iscsi' && spec.iscsi?.initiatorName !== undefined &&
    `${name}:${spec.iscsi.targetPortal}`.length > INITIATOR_AND_PORTAL_MAX) {
    invalid(
      report, `${at}.iscsi.targetportal`, spec.iscsi.targetPortal,
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is ' +
        'specified.'
    )
  }
  if (source === 'local' && spec.nodeAffinity === undefined) {
    required(report, `${at}.nodeAffinity`, 'Local volume requires node affinity')
  }
}

/** Whether the path is the root. `..` is reported elsewhere, but resolved here. */
function isRoot (path: string): boolean {
  let depth = 0
  for (const part of path.split('/')) {
    if (part === '..') depth = Math.max(0, depth - 1); else if (part !== '' && part !== '.') depth++
  }
  return depth === 0 && path.startsWith('/')
}

const sourceOf = (spec: PersistentVolumeSpec): unknown => SOURCES.map(source => spec[source])

/** The source is immutable, except that controllerExpandSecretRef may be added. */
export function validateVolumeUpdate (spec: PersistentVolumeSpec, old: PersistentVolumeSpec, report: Report): void {
  let compared = spec
  if (spec.csi?.controllerExpandSecretRef !== undefined && old.csi !== undefined &&
    old.csi.controllerExpandSecretRef === undefined) {
    const { controllerExpandSecretRef: _, ...csi } = spec.csi
    compared = { ...spec, csi }
  }
  if (!sameValue(sourceOf(compared), sourceOf(old))) {
    forbidden(report, 'spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')
  }
  if (!sameValue(spec.volumeMode, old.volumeMode)) invalid(report, 'volumeMode', spec.volumeMode, 'field is immutable')
  if (spec.volumeAttributesClassName === undefined && old.volumeAttributesClassName !== undefined) {
    forbidden(report, 'spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden')
  }
  if (old.nodeAffinity !== undefined && !isOn(report, 'MutablePVNodeAffinity') &&
    !sameValue(spec.nodeAffinity, withNewLabels(old.nodeAffinity, spec.nodeAffinity, report))) {
    invalid(report, 'nodeAffinity', spec.nodeAffinity, 'field is immutable')
  }
}

type Affinity = PersistentVolumeSpec['nodeAffinity']

/** The old affinity, whose labels may have got the new names that `next` gives them. */
function withNewLabels (old: NonNullable<Affinity>, next: Affinity, report: Report): NonNullable<Affinity> {
  if (old.required === undefined || !isOn(report, 'VolumeFollowsRenamedLabels')) return old
  const terms = old.required.nodeSelectorTerms?.map((term, index) => {
    const now = next?.required?.nodeSelectorTerms?.[index]?.matchExpressions
    const matchExpressions = term.matchExpressions?.map((requirement, place) => {
      const key = newName(requirement.key)
      return key !== undefined && now?.[place]?.key === key ? { ...requirement, key } : requirement
    })
    return matchExpressions === undefined ? term : { ...term, matchExpressions }
  })
  return { required: { ...old.required, nodeSelectorTerms: terms } }
}

/** Validation of PersistentVolumeClaims and claim templates. */
import { isOn, type Gates } from '../../../gates.js'
import { lacksDropped } from '../../../language/gated.js'
import type { Report } from '../../../language/types.js'
import { sameValue } from '../../../language/values.js'
import { compareQuantities } from '../../../meta/quantity.js'
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../../names.js'
import { checkName, forbidden, forgiving, invalid, notSupported, required } from '../../../rules/findings.js'
import { isNative, isNegative, validatePositiveAmount } from '../../../rules/quantities.js'
import { validateLabelSelector } from '../../../selectors/objects.js'
import { validateAccessModes } from './persistentvolumes.js'
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../persistentvolumeclaims.js'
import type { TypedLocalObjectReference } from '../references-to-data.js'

const CLASS_ANNOTATION = 'volume.beta.orch.io/storage-class'
/** The gate of dataSourceRef. */
const ANY_SOURCE = 'AnyVolumeDataSource'
const SNAPSHOT_GROUP = 'snapshot.storage.orch.io'

export function validateClaimSpec (spec: PersistentVolumeClaimSpec, at: string, report: Report): void {
  validateAccessModes(spec.accessModes ?? [], `${at}.accessModes`, report, 'at least 1 access mode is required')
  if (spec.selector !== undefined) validateLabelSelector(spec.selector, `${at}.selector`, report)
  const storage = spec.resources.requests?.['storage']
  if (storage === undefined) required(report, `${at}.resources[storage]`)
  else validatePositiveAmount(report, `${at}.resources[storage]`, storage)
  if (spec.storageClassName) checkName(report, `${at}.storageClassName`, spec.storageClassName, dnsSubdomain)
  if (spec.volumeAttributesClassName) {
    checkName(report, `${at}.volumeAttributesClassName`, spec.volumeAttributesClassName, dnsSubdomain)
  }
  for (const field of ['dataSource', 'dataSourceRef'] as const) {
    const source = spec[field]
    if (source !== undefined && !source.apiGroup && source.kind !== 'PersistentVolumeClaim') {
      invalid(report, `${at}.${field}`, source.kind, '')
    }
    if (source?.apiGroup && isOn(report, 'ClaimSourceGroupsAreNames')) {
      checkName(forgiving(report), `${at}.${field}.apiGroup`, source.apiGroup, dnsSubdomain)
    }
  }
  validateBothSources(spec, at, report)
}

function validateBothSources (spec: PersistentVolumeClaimSpec, at: string, report: Report): void {
  const { dataSource, dataSourceRef } = spec
  const namespace = dataSourceRef?.namespace ?? ''
  if (namespace !== '') checkName(report, `${at}.dataSourceRef.namespace`, namespace, dnsLabel)
  if (dataSource === undefined || dataSourceRef === undefined) return
  if (namespace !== '') {
    invalid(report, at, `${at}.dataSource`, 'may not be specified when dataSourceRef.namespace is specified')
  } else if (!sameValue(dataSource, dataSourceRef)) {
    invalid(report, at, `${at}.dataSource`, 'must match dataSourceRef')
  }
}

/** Without its namespace, a source in another one would be another object: it is dropped whole. */
export function dropSource ({ spec }: PersistentVolumeClaim): void {
  if (spec.dataSourceRef !== undefined && lacksDropped(spec.dataSourceRef)) delete spec.dataSourceRef
}

const isCopyOrSnapshot = ({ apiGroup, kind }: TypedLocalObjectReference): boolean =>
  (kind === 'PersistentVolumeClaim' && !apiGroup) || (kind === 'VolumeSnapshot' && apiGroup === SNAPSHOT_GROUP)

/**
 * Normalizes dataSource and dataSourceRef on create. dataSource allows only claims and snapshots, otherwise it is
 * dropped; each field defaults to the other.
 */
export function prepareClaim ({ spec }: PersistentVolumeClaim, gates: Gates): void {
  if (spec.dataSource !== undefined && !isCopyOrSnapshot(spec.dataSource)) delete spec.dataSource
  if (!gates.enabled(ANY_SOURCE)) return
  if (spec.dataSource !== undefined) spec.dataSourceRef ??= { ...spec.dataSource }
  else if (spec.dataSourceRef !== undefined && !spec.dataSourceRef.namespace) {
    spec.dataSource = { ...spec.dataSourceRef }
  }
}

/** Keeps an update valid from a client that knows only one of dataSource and dataSourceRef. */
export function prepareClaimUpdate (
  { spec }: PersistentVolumeClaim, { spec: old }: PersistentVolumeClaim, gates: Gates
): void {
  if (!gates.enabled(ANY_SOURCE)) return
  if (spec.dataSource !== undefined && spec.dataSourceRef === undefined && sameValue(spec.dataSource, old.dataSource)) {
    spec.dataSourceRef = { ...spec.dataSource }
  }
  if (spec.dataSourceRef !== undefined && spec.dataSource === undefined && old.dataSource !== undefined &&
    sameValue(spec.dataSourceRef, old.dataSourceRef)) spec.dataSource = { ...old.dataSource }
}

/** The spec is immutable, except volumeName once and the requested storage of a bound claim. */
export function validateClaimUpdate (claim: PersistentVolumeClaim, old: PersistentVolumeClaim, report: Report): void {
  const { spec, metadata: { annotations = {} } } = claim
  const [size, before] = [spec.resources.requests?.['storage'], old.spec.resources.requests?.['storage']]
  const allowed: PersistentVolumeClaimSpec = { ...old.spec }
  if (!old.spec.volumeName && spec.volumeName !== undefined) allowed.volumeName = spec.volumeName
  const upgraded = upgradedClass(claim, old)
  if (upgraded !== undefined) allowed.storageClassName = upgraded
  else if ((annotations[CLASS_ANNOTATION] ?? '') !== (old.metadata.annotations?.[CLASS_ANNOTATION] ?? '')) {
    invalid(report, `metadata.annotations.${CLASS_ANNOTATION}`, annotations[CLASS_ANNOTATION], 'field is immutable')
  }
  allowClass(claim, old, allowed, report)
  const bound = claim.status.phase === 'Bound' && spec.resources.requests !== undefined && before !== undefined
  const compared = bound
    ? { ...spec, resources: { ...spec.resources, requests: { ...spec.resources.requests, storage: before } } }
    : spec
  if (!sameValue(compared, allowed)) {
    const free = isOn(report, 'VolumeAttributesClass')
      ? 'resources.requests and volumeAttributesClassName'
      : 'resources.requests'
    forbidden(report, 'spec', `spec is immutable after creation except ${free} for bound claims`)
  }
  // With its gate, a claim whose expansion failed may ask for less again, but for more than it has.
  const mayShrink = isOn(report, 'RecoverVolumeExpansionFailure') &&
    compareQuantities(size, old.status.capacity?.['storage']) > 0
  if (compareQuantities(size, before) < 0 && !mayShrink) {
    forbidden(report, 'spec.resources.requests.storage', 'field can not be less than previous value')
  }
  if (!sameValue(spec.volumeMode, old.spec.volumeMode)) {
    invalid(report, 'volumeMode', spec.volumeMode, 'field is immutable')
  }
}

/**
 * The storage class of a claim without one may be set later, and the class of attributes of a bound one changed.
 */
function allowClass (
  { spec }: PersistentVolumeClaim, { spec: old, metadata, status }: PersistentVolumeClaim,
  allowed: PersistentVolumeClaimSpec, report: Report
): void {
  const annotated = metadata.annotations?.[CLASS_ANNOTATION]
  if (isOn(report, 'ClaimGetsClassLater') && old.storageClassName === undefined &&
    spec.storageClassName !== undefined && (annotated ?? spec.storageClassName) === spec.storageClassName) {
    allowed.storageClassName = spec.storageClassName
  }
  if (!isOn(report, 'VolumeAttributesClass') || status.phase !== 'Bound') return
  const [name = '', before = ''] = [spec.volumeAttributesClassName, old.volumeAttributesClassName]
  if (name === '' && before !== '' && status.currentVolumeAttributesClassName !== undefined) {
    forbidden(report, 'spec.volumeAttributesClassName', 'update to empty string or nil is forbidden')
  }
  if (spec.volumeAttributesClassName === undefined) delete allowed.volumeAttributesClassName
  else allowed.volumeAttributesClassName = spec.volumeAttributesClassName
}

/** The storage class, if the update moves it from the annotation to the field. */
function upgradedClass ({ spec, metadata }: PersistentVolumeClaim, old: PersistentVolumeClaim): string | undefined {
  const annotated = old.metadata.annotations?.[CLASS_ANNOTATION]
  const now = metadata.annotations?.[CLASS_ANNOTATION]
  const moved = annotated !== undefined && old.spec.storageClassName === undefined &&
    spec.storageClassName === annotated
  return moved && (now === undefined || now === annotated) ? annotated : undefined
}

const RESIZE_STATES = [
  'ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizePending', 'NodeResizeInProgress',
  'NodeResizeInfeasible'
]

type Entries = Readonly<Record<string, string>> | undefined

export function validateClaimStatus (
  { capacity = {}, allocatedResources = {}, allocatedResourceStatuses = {} }: {
    capacity?: Entries, allocatedResources?: Entries, allocatedResourceStatuses?: Entries
  }, at: string, report: Report
): void {
  checkAmounts(capacity, `${at}.capacity`, report)
  if (!isOn(report, 'RecoverVolumeExpansionFailure')) return
  const states = `${at}.allocatedResourceStatuses`
  for (const [name, state] of Object.entries(allocatedResourceStatuses)) {
    checkResizedName(name, states, report)
    if (!RESIZE_STATES.includes(state)) notSupported(report, states, state, RESIZE_STATES)
  }
  for (const name of Object.keys(allocatedResources)) checkResizedName(name, `${at}.allocatedResources`, report)
  checkAmounts(allocatedResources, `${at}.allocatedResources`, report)
}

function checkAmounts (amounts: Readonly<Record<string, string>>, at: string, report: Report): void {
  for (const [name, amount] of Object.entries(amounts)) {
    if (isNegative(amount)) invalid(report, `${at}[${name}]`, amount, 'must be a valid resource quantity')
  }
}

/** Of the resources that are the server's own, claims have storage alone. */
function checkResizedName (name: string, field: string, report: Report): void {
  const wrong = qualifiedName(name)
  if (wrong.length > 0) checkName(report, field, name, qualifiedName)
  else if (name !== 'storage' && isNative(name)) notSupported(report, field, name, ['storage'])
}

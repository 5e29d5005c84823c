/** Validation of pod volumes: names, and exactly one source each. */
import { isOn } from '../../../gates.js'
import { checkName, duplicate, forbidden, invalid, required } from '../../../rules/findings.js'
import { Facts, type Report, type Message } from '../../../language/declare.js'
import { validatePart } from '../../../language/validation.js'
import { dnsLabel, dnsSubdomain } from '../../../names.js'
import { VolumeSource, type Volume } from '../pod-volumes.js'
import type { Volumes } from './mounts.js'
import type { FieldError } from '../../../status.js'

type Source = keyof VolumeSource

/** In upstream's order: of several sources, the first is validated and the others are forbidden. */
const SOURCES: readonly Source[] = [
  'emptyDir', 'hostPath', 'gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore', 'secret', 'nfs', 'iscsi', 'glusterfs',
  'flocker', 'persistentVolumeClaim', 'rbd', 'cinder', 'cephfs', 'quobyte', 'downwardAPI', 'fc', 'flexVolume',
  'configMap', 'azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk', 'storageos',
  'projected', 'scaleIO', 'csi', 'ephemeral', 'image'
]
/**
 * Upstream's path segments where they differ from field names: in errors within a source, and for a superfluous source.
 */
const TOLD: Partial<Record<Source, string>> = { gcePersistentDisk: 'persistentDisk' }
const TOLD_TOO_MANY: Partial<Record<Source, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' }

/** @returns the valid volumes */
export function checkVolumes (volumes: readonly Volume[], at: string, report: Report): Volumes {
  const valid = new Map<string, Volume>()
  volumes.forEach((volume, index) => {
    const path = `${at}[${index}]`
    let findings = 0
    const count: Report = Object.assign((error: FieldError) => {
      findings++
      report(error)
    }, report)
    checkSource(volume, path, count)
    if (volume.name === '') required(count, `${path}.name`)
    else checkName(count, `${path}.name`, volume.name, dnsLabel)
    if (valid.has(volume.name)) duplicate(count, `${path}.name`, volume.name)
    if (findings === 0) valid.set(volume.name, volume)
  })
  return valid
}

const INITIATOR_AND_PORTAL_MAX = 64

function checkSource (volume: Volume, at: string, report: Report): void {
  let isFound = false
  for (const source of SOURCES) {
    const value = volume[source]
    if (value === undefined) continue
    const field = (told: Partial<Record<Source, string>>): string => `${at}.${told[source] ?? source}`
    // Every source field is a message.
    const message = VolumeSource[Facts].fields[source]?.[Facts].of as Message<object>
    if (isFound) forbidden(report, field(TOLD_TOO_MANY), 'may not specify more than 1 volume type')
    else validatePart(message, value, field(TOLD), report)
    isFound = true
  }
  if (!isFound) required(report, at, 'must specify a volume type')
  const { name, iscsi } = volume
  if (iscsi?.initiatorName !== undefined && `${name}:${iscsi.targetPortal}`.length > INITIATOR_AND_PORTAL_MAX) {
    invalid(
      report, `${at}.name`, name,
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is ' +
        'specified.'
    )
  }
}

/** Claims for ephemeral volumes are named POD-VOLUME, which must be valid and not referenced otherwise. */
export function checkClaims (volumes: readonly Volume[], pod: string, at: string, report: Report): void {
  if (pod === '') return
  const claimNames =
    new Set(volumes.flatMap(({ name, ephemeral }) => ephemeral === undefined ? [] : [`${pod}-${name}`]))
  volumes.forEach(({ name, ephemeral, persistentVolumeClaim }, index) => {
    const path = `${at}[${index}]`
    if (ephemeral !== undefined && name !== '') {
      for (const detail of dnsSubdomain(`${pod}-${name}`)) {
        invalid(report, `${path}.name`, name, `PVC name ${JSON.stringify(`${pod}-${name}`)}: ${detail}`)
      }
    }
    const claim = persistentVolumeClaim?.claimName
    if (claim !== undefined && claimNames.has(claim)) {
      invalid(
        report, `${path}.persistentVolumeClaim.claimName`, claim,
        'must not reference a PVC that gets created for an ephemeral volume'
      )
    }
  })
}

/** A persistent disk cannot be attached to several nodes for writing; later releases leave that to its driver. */
export function checkSharedDisks (volumes: readonly Volume[], at: string, report: Report): void {
  if (isOn(report, 'SkipReadOnlyValidationGCE')) return
  volumes.forEach(({ gcePersistentDisk: disk }, index) => {
    if (disk !== undefined && disk.readOnly !== true) {
      invalid(
        report, `${at}[${index}].gcePersistentDisk.readOnly`, false,
        'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only'
      )
    }
  })
}

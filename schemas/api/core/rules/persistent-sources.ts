/** Validation of particular PersistentVolume sources. */
import { isOn } from '../../../gates.js'
import type { Report } from '../../../language/types.js'
import { dnsLabel, dnsSubdomain, type NameRule } from '../../../names.js'
import { invalid, checkName, required, requiredName } from '../../../rules/findings.js'
import { checkDriverName, iscsiName } from './network-volumes.js'
import type {
  CSIPersistentVolumeSource, ISCSIPersistentVolumeSource, LocalVolumeSource, StorageOSPersistentVolumeSource
} from '../persistent-network-volumes.js'

const MAX_LUN = 255

export function validateSome (values: readonly unknown[] | undefined, field: string, report: Report): void {
  if ((values ?? []).length === 0) required(report, field)
}

/** Namespace of the Glusterfs endpoints; by default that of the claim. */
export function validateEndpointsNamespace (namespace: string | undefined, field: string, report: Report): void {
  if (namespace ===
    '') invalid(report, field, namespace, 'if the endpointnamespace is set, it must be a valid namespace name')
  else if (namespace !== undefined) checkName(report, field, namespace, dnsLabel)
}

const SECRETS =
  ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'] as const

/** As upstream, errors about names of secrets have paths of the source itself in 1.24. */
export function validateCsiVolume (volume: CSIPersistentVolumeSource, at: string, report: Report): void {
  checkDriverName(volume.driver, `${at}.driver`, report)
  const isLater = isOn(report, 'VolumeSecretsHaveLongNames')
  for (const field of SECRETS) {
    const reference = volume[field]
    if (reference === undefined) continue
    for (const part of ['name', 'namespace'] as const) {
      const value = reference[part] ?? ''
      if (value === '') required(report, `${at}.${field}.${part}`)
      else {
        const rule = isLater && part === 'name' ? dnsSubdomain : dnsLabel
        checkName(report, isLater ? `${at}.${field}.${part}` : `${at}.${part}`, value, rule)
      }
    }
  }
}

const wellFormed: NameRule = name => iscsiName(name).length === 0 ? [] : ['must be valid format']

export function validateIscsiVolume (volume: ISCSIPersistentVolumeSource, at: string, report: Report): void {
  const { iqn, lun, initiatorName, secretRef, chapAuthDiscovery, chapAuthSession } = volume
  if (iqn !== '') checkName(report, `${at}.iqn`, iqn, wellFormed)
  if (lun < 0 || lun > MAX_LUN) invalid(report, `${at}.lun`, lun, `must be between 0 and ${MAX_LUN}, inclusive`)
  if ((chapAuthDiscovery === true || chapAuthSession === true) && secretRef === undefined) {
    required(report, `${at}.secretRef`)
  }
  if (secretRef !== undefined && !secretRef.name) required(report, `${at}.secretRef.name`)
  if (initiatorName !== undefined) checkName(report, `${at}.initiatorname`, initiatorName, wellFormed)
}

/** Any source with a namespaced secret reference. */
interface WithSecret {
  readonly secretRef?: { readonly name?: string | undefined, readonly namespace?: string | undefined } | undefined
}

export function validateSecretPlace ({ secretRef }: WithSecret, at: string, report: Report): void {
  if (secretRef !== undefined) {
    for (const part of ['name', 'namespace'] as const) if (!secretRef[part]) required(report, `${at}.secretRef.${part}`)
  }
}

export function validateStorageOSVolume (volume: StorageOSPersistentVolumeSource, at: string, report: Report): void {
  requiredName(report, `${at}.volumeName`, volume.volumeName, dnsLabel)
  if (volume.volumeNamespace) checkName(report, `${at}.volumeNamespace`, volume.volumeNamespace, dnsLabel)
  validateSecretPlace(volume, at, report)
}

export function validateLocalVolume ({ path }: LocalVolumeSource, at: string, report: Report): void {
  if (path.split('/').includes('..')) invalid(report, `${at}.path`, path, "must not contain '..'")
}

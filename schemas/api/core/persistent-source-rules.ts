/** What particular sources of PersistentVolumes have to keep to, beside what their fields say. */
import type { Report } from '../../language/types.js'
import { dnsLabel, dnsSubdomain } from '../../names.js'
import { invalid, required, requiredName } from '../../rules/findings.js'
import { checkDriverName } from './rules/network-volumes.js'
import type { CSIPersistentVolumeSource, ISCSIPersistentVolumeSource, LocalVolumeSource } from './persistent-network-volumes.js'

const MOST_LUN = 255
/** Names of iSCSI: by date and domain, or by number. */
const QUALIFIED_NAME = /^(?:iqn\.\d{4}-\d{2}\.[A-Za-z][\w.-]*(?::.+)?|eui\.[0-9A-Fa-f]{16}|naa\.[0-9A-Fa-f]{32})$/

export function validateSome (values: readonly unknown[] | undefined, field: string, report: Report): void {
  if ((values ?? []).length === 0) required(report, field)
}

/** A namespace is left out or named. */
export function validateNamespaced (namespace: string | undefined, field: string, report: Report): void {
  if (namespace === '') invalid(report, field, namespace, 'if the namespace is set, it must not be empty')
}

export function validateCsiVolume (volume: CSIPersistentVolumeSource, at: string, report: Report): void {
  checkDriverName(volume.driver, `${at}.driver`, report)
  for (const field of ['controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeStageSecretRef'] as const) {
    const reference = volume[field]
    if (reference === undefined) continue
    requiredName(report, `${at}.${field}.name`, reference.name, dnsSubdomain)
    requiredName(report, `${at}.${field}.namespace`, reference.namespace, dnsLabel)
  }
}

export function validateIscsiVolume (volume: ISCSIPersistentVolumeSource, at: string, report: Report): void {
  const { iqn, lun, initiatorName, secretRef, chapAuthDiscovery, chapAuthSession } = volume
  if (iqn !== '' && !QUALIFIED_NAME.test(iqn)) invalid(report, `${at}.iqn`, iqn, 'must be valid format')
  if (lun < 0 || lun > MOST_LUN) invalid(report, `${at}.lun`, lun, `must be between 0 and ${MOST_LUN}, inclusive`)
  if ((chapAuthDiscovery === true || chapAuthSession === true) && secretRef === undefined) required(report, `${at}.secretRef`)
  if (secretRef !== undefined && !secretRef.name) required(report, `${at}.secretRef.name`)
  if (initiatorName !== undefined && !QUALIFIED_NAME.test(initiatorName)) invalid(report, `${at}.initiatorname`, initiatorName, 'must be valid format')
}

export function validateLocalVolume ({ path }: LocalVolumeSource, at: string, report: Report): void {
  if (path.split('/').includes('..')) invalid(report, `${at}.path`, path, "must not contain '..'")
}

/** Validation of network volume sources. */
import { isOn } from '../../../gates.js'
import { checkRange, invalid, checkName, required, tooLong } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { dnsLabel, dnsSubdomain, type NameRule } from '../../../names.js'
import { PUBLIC_DOMAINS } from '../../../public-names.js'
import type {
  CSIVolumeSource, FlexVolumeSource, ISCSIVolumeSource, ScaleIOVolumeSource, StorageOSVolumeSource
} from '../network-volumes.js'
import { LUN_MAX } from './disks.js'

/** Any source with a secret reference that requires a name. */
interface WithSecret { readonly secretRef?: { readonly name?: string | undefined } | undefined }

export function validateSecretRef ({ secretRef }: WithSecret, at: string, report: Report): void {
  if (secretRef !== undefined && (secretRef.name ?? '') === '') required(report, `${at}.secretRef.name`)
}

export function validateMonitors (
  { monitors = [] }: { monitors?: string[] | undefined }, at: string, report: Report
): void {
  if (monitors.length === 0) required(report, `${at}.monitors`)
}

const IQN = /^iqn\.\d{4}-\d{2}\.[0-9A-Za-z\-.]+:[^,;*&$|\s]+$/
const EUI = /^eui.[0-9A-Za-z]{16}$/
const NAA = /^naa.[0-9A-Za-z]{32}$/

/** iSCSI qualified names: iqn, eui or naa. */
export const iscsiName: NameRule = name => {
  const form = name.startsWith('iqn') ? IQN : name.startsWith('eui') ? EUI : name.startsWith('naa') ? NAA : undefined
  if (form === undefined) return ['must be valid format starting with iqn, eui, or naa']
  return form.test(name) ? [] : ['must be valid format']
}

export function validateISCSI (
  { iqn, lun, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName }: ISCSIVolumeSource, at: string,
  report: Report
): void {
  if (iqn !== '') checkName(report, `${at}.iqn`, iqn, iscsiName)
  checkRange(report, `${at}.lun`, lun, 0, LUN_MAX)
  if ((chapAuthDiscovery === true || chapAuthSession === true) && secretRef === undefined) {
    required(report, `${at}.secretRef`)
  }
  if (initiatorName !== undefined) checkName(report, `${at}.initiatorname`, initiatorName, iscsiName)
}

/** Domains of options that the system sets, under either name: their keys are not translated. */
const RESERVED = ['orch.io', ...PUBLIC_DOMAINS]

/** Options of reserved domains are set by the system. */
export function validateFlexVolume ({ options = {} }: FlexVolumeSource, at: string, report: Report): void {
  for (const key of Object.keys(options)) {
    const domain = `.${key.split('/', 1)[0] ?? ''}`.toLowerCase()
    const reserved = RESERVED.find(suffix => domain.endsWith(`.${suffix}`))
    if (reserved !== undefined) invalid(report, `${at}.options[${key}]`, key, `the ${reserved} namespace is reserved`)
  }
}

export function validateScaleIO ({ volumeName = '' }: ScaleIOVolumeSource, at: string, report: Report): void {
  if (volumeName === '') required(report, `${at}.volumeName`)
}

export function validateStorageOS (source: StorageOSVolumeSource, at: string, report: Report): void {
  const { volumeName = '', volumeNamespace = '' } = source
  if (volumeName === '') required(report, `${at}.volumeName`)
  else checkName(report, `${at}.volumeName`, volumeName, dnsLabel)
  if (volumeNamespace !== '') checkName(report, `${at}.volumeNamespace`, volumeNamespace, dnsLabel)
  validateSecretRef(source, at, report)
}

const DRIVER_MAX = 63

/**
 * A CSI driver name, in any case. An empty name is reported as required by the field's declaration, and here as
 * invalid too, in releases that say both.
 */
export function checkDriverName (driver: string, field: string, report: Report): void {
  if (driver === '' && isOn(report, 'DriverNameIsRequired')) return
  if (driver.length > DRIVER_MAX) tooLong(report, field, DRIVER_MAX)
  for (const detail of dnsSubdomain(driver.toLowerCase())) invalid(report, field, driver, detail)
}

/** Field paths are upstream's, including `name` for the secret. */
export function validateCSIVolume (
  { driver, nodePublishSecretRef: secret }: CSIVolumeSource, at: string, report: Report
): void {
  checkDriverName(driver, `${at}.driver`, report)
  if (secret === undefined) return
  const { name = '' } = secret
  if (name === '') required(report, `${at}.nodePublishSecretRef.name`)
  else checkName(report, `${at}.name`, name, dnsSubdomain)
}

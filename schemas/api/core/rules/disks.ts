/** Validation of volume sources: local and cloud disks, and file servers. */
import { checkRange, forbidden, invalid, notSupported, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { compareQuantities } from '../../../meta/quantity.js'
import type { EmptyDirVolumeSource, GitRepoVolumeSource } from '../pod-volumes.js'
import type {
  AzureDiskVolumeSource, FCVolumeSource, FlockerVolumeSource, HostPathVolumeSource, NFSVolumeSource, QuobyteVolumeSource
} from '../volume-sources.js'
import { checkNoWayUp, checkRelativePath } from './paths.js'

export const LUN_MAX = 255
const PARTITION_MAX = 255

export function validateEmptyDir ({ sizeLimit }: EmptyDirVolumeSource, at: string, report: Report): void {
  if (sizeLimit !== undefined && compareQuantities(sizeLimit, '0') < 0) {
    forbidden(report, `${at}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')
  }
}

export function validateHostPath ({ path }: HostPathVolumeSource, at: string, report: Report): void {
  checkNoWayUp(path, `${at}.path`, report)
}

export function validateGitRepo ({ directory = '' }: GitRepoVolumeSource, at: string, report: Report): void {
  checkRelativePath(directory, `${at}.directory`, report)
}

export function validatePartition (
  { partition = 0 }: { partition?: number | undefined }, at: string, report: Report
): void {
  if (partition !== 0) checkRange(report, `${at}.partition`, partition, 1, PARTITION_MAX)
}

export function validateNFS ({ path }: NFSVolumeSource, at: string, report: Report): void {
  if (!path.startsWith('/')) invalid(report, `${at}.path`, path, 'must be an absolute path')
}

export function validateFC ({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, at: string, report: Report): void {
  if (targetWWNs.length === 0) {
    if (wwids.length === 0) {
      required(report, `${at}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both')
    }
    return
  }
  if (wwids.length > 0) {
    invalid(report, `${at}.targetWWNs`, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously')
  }
  if (lun === undefined) required(report, `${at}.lun`, 'lun is required if targetWWNs is specified')
  else checkRange(report, `${at}.lun`, lun, 0, LUN_MAX)
}

export function validateFlocker (
  { datasetName = '', datasetUUID = '' }: FlockerVolumeSource, at: string, report: Report
): void {
  if (datasetName === '' && datasetUUID === '') required(report, at, 'one of datasetName and datasetUUID is required')
  if (datasetName !== '' && datasetUUID !== '') {
    invalid(report, at, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')
  }
  if (datasetName.includes('/')) invalid(report, `${at}.datasetName`, datasetName, "must not contain '/'")
}

const TENANT_MAX = 64
const HOST_AND_PORT = /^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/

export function validateQuobyte ({ registry, tenant = '' }: QuobyteVolumeSource, at: string, report: Report): void {
  if (registry === '') return
  if (tenant.length > TENANT_MAX) {
    return required(report, `${at}.tenant`, `must be a UUID and may not exceed a length of ${TENANT_MAX} characters`)
  }
  for (const pair of registry.split(',')) {
    if (!HOST_AND_PORT.test(pair)) {
      invalid(report, `${at}.registry`, registry, 'must be a host:port pair or multiple pairs separated by commas')
    }
  }
}

export function validateAzureDisk ({ kind, diskURI }: AzureDiskVolumeSource, at: string, report: Report): void {
  const [start, form] = kind === 'Managed'
    ? ['/subscriptions/',
        '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
      ]
    : ['https://', 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd']
  if (kind !== undefined && !diskURI.startsWith(start)) notSupported(report, `${at}.diskURI`, diskURI, [form])
}

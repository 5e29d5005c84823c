/** Validation of volumes that project data as files. */
import { isOn } from '../../../gates.js'
import { forbidden, forgiving, invalid, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import type {
  ConfigMapVolumeSource, DownwardAPIVolumeFile, DownwardAPIVolumeSource, ProjectedVolumeSource, SecretVolumeSource,
  ServiceAccountTokenProjection
} from '../pod-volumes.js'
import { checkFieldRef, checkResourceFieldRef, FIELDS_OF_FILES } from './data-references.js'
import { checkFilePath, checkMode } from './paths.js'

export function validateSecretVolume (
  { secretName = '', defaultMode }: SecretVolumeSource, at: string, report: Report
): void {
  if (secretName === '') required(report, `${at}.secretName`)
  checkMode(defaultMode, `${at}.defaultMode`, report)
}

export function validateConfigMapVolume (
  { name = '', defaultMode }: ConfigMapVolumeSource, at: string, report: Report
): void {
  if (name === '') required(report, `${at}.name`)
  checkMode(defaultMode, `${at}.defaultMode`, report)
}

/** As upstream, errors about files have paths of the volume. */
export function validateDownwardAPIVolume (
  { items = [], defaultMode }: DownwardAPIVolumeSource, at: string, report: Report
): void {
  checkMode(defaultMode, `${at}.defaultMode`, report)
  for (const file of items) checkFile(file, at, report)
}

function checkFile (file: DownwardAPIVolumeFile, at: string, report: Report): void {
  const { path, mode, fieldRef, resourceFieldRef } = file
  if (path === '') required(report, `${at}.path`)
  checkFilePath(path, `${at}.path`, report)
  if (fieldRef !== undefined) checkFieldRef(fieldRef, FIELDS_OF_FILES, `${at}.fieldRef`, report)
  else if (resourceFieldRef !==
    undefined) checkResourceFieldRef(resourceFieldRef, true, `${at}.resourceFieldRef`, report)
  else required(report, at, 'one of fieldRef and resourceFieldRef is required')
  if (fieldRef !== undefined && resourceFieldRef !== undefined) {
    invalid(report, at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')
  }
  checkMode(mode, `${at}.mode`, report)
}

/** The sources share one directory, so their paths must be unique. */
export function validateProjectedVolume (
  { sources = [], defaultMode }: ProjectedVolumeSource, at: string, report: Report
): void {
  checkMode(defaultMode, `${at}.defaultMode`, report)
  const taken = new Set<string>()
  const take = (path: string, given: string | undefined) => {
    if (taken.has(path)) invalid(report, at, given ?? '', 'conflicting duplicate paths')
    if (path !== '') taken.add(path)
  }
  sources.forEach(({ secret, configMap, downwardAPI, serviceAccountToken }, index) => {
    const path = `${at}.sources[${index}]`
    for (const [field, source] of [['secret', secret], ['configMap', configMap]] as const) {
      if (source === undefined) continue
      if ((source.name ?? '') === '') required(report, `${path}.${field}.name`)
      for (const item of source.items ?? []) take(item.path, source.name)
    }
    for (const file of downwardAPI?.items ?? []) {
      checkFile(file, `${path}.downwardAPI`, report)
      take(file.path, file.path)
    }
    if (serviceAccountToken !== undefined) {
      checkToken(serviceAccountToken, `${path}.serviceAccountToken`, report)
      if (serviceAccountToken.path === '') required(report, `${at}.path`)
      else if (isOn(report, 'PodTokenPathsStayInVolume')) {
        checkFilePath(serviceAccountToken.path, `${at}.path`, forgiving(report))
      }
    }
    if ([secret, configMap, downwardAPI, serviceAccountToken].filter(source => source !== undefined).length > 1) {
      forbidden(report, path, 'may not specify more than 1 volume type')
    }
  })
}

const SHORTEST = 600
const LONGEST = 2 ** 32

function checkToken ({ expirationSeconds = 0 }: ServiceAccountTokenProjection, at: string, report: Report): void {
  if (expirationSeconds < SHORTEST) {
    invalid(report, `${at}.expirationSeconds`, expirationSeconds, 'may not specify a duration less than 10 minutes')
  }
  if (expirationSeconds > LONGEST) {
    invalid(report, `${at}.expirationSeconds`, expirationSeconds, 'may not specify a duration larger than 2^32 seconds')
  }
}

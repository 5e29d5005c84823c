/** Validation of volume mounts and devices in containers. */
import { forbidden, invalid, notFound, notSupported } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import type { Container, VolumeDevice, VolumeMount } from '../containers.js'
import type { Volume } from '../pod-volumes.js'
import { checkRelativePath } from './paths.js'

/** The valid volumes of a pod, by name. */
export type Volumes = ReadonlyMap<string, Volume>

export const NOT_IN_EPHEMERAL = 'cannot be set for an Ephemeral Container'

type Mounting = Pick<Container, 'volumeMounts' | 'volumeDevices' | 'securityContext'>

export function checkMounts (
  { volumeMounts = [], volumeDevices = [], securityContext }: Mounting, volumes: Volumes, at: string, report: Report
): void {
  const privileged = securityContext?.privileged === true
  checkVolumeMounts(volumeMounts, volumeDevices, privileged, volumes, `${at}.volumeMounts`, report)
  checkVolumeDevices(volumeDevices, volumeMounts, volumes, `${at}.volumeDevices`, report)
}

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None']

/** As upstream, errors about subPath, mountPropagation and recursiveReadOnly have no index. */
function checkVolumeMounts (
  mounts: readonly VolumeMount[], devices: readonly VolumeDevice[], privileged: boolean, volumes: Volumes, at: string,
  report: Report
): void {
  const [paths, deviceNames, devicePaths] = [
    new Set<string>(), new Set(devices.map(({ name }) => name)), new Set(devices.map(({ devicePath }) => devicePath))
  ]
  mounts.forEach((mount, index) => {
    const { name, mountPath, subPath = '', subPathExpr = '', mountPropagation } = mount
    const path = `${at}[${index}]`
    checkRecursion(mount, at, report)
    if (!volumes.has(name)) notFound(report, `${path}.name`, name)
    if (paths.has(mountPath)) invalid(report, `${path}.mountPath`, mountPath, 'must be unique')
    paths.add(mountPath)
    if (deviceNames.has(name)) invalid(report, `${path}.name`, name, 'must not already exist in volumeDevices')
    if (devicePaths.has(mountPath)) {
      invalid(report, `${path}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices')
    }
    if (subPath !== '') checkRelativePath(subPath, `${at}.subPath`, report)
    if (subPathExpr !== '') {
      if (subPath !== '') {
        invalid(report, `${path}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive')
      }
      checkRelativePath(subPathExpr, `${at}.subPathExpr`, report)
    }
    if (mountPropagation !== undefined && !PROPAGATIONS.includes(mountPropagation)) {
      notSupported(report, `${at}.mountPropagation`, mountPropagation, PROPAGATIONS)
    }
    if (mountPropagation === 'Bidirectional' && !privileged) {
      forbidden(
        report, `${at}.mountPropagation`, 'Bidirectional mount propagation is available only to privileged containers'
      )
    }
  })
}

const RECURSIONS = ['Disabled', 'Enabled', 'IfPossible']

function checkRecursion (
  { recursiveReadOnly: recursion, readOnly, mountPropagation = 'None' }: VolumeMount, at: string, report: Report
): void {
  if (recursion === undefined || recursion === 'Disabled') return
  const field = `${at}.recursiveReadOnly`
  if (!RECURSIONS.includes(recursion)) return notSupported(report, field, recursion, RECURSIONS)
  if (readOnly !== true) forbidden(report, field, 'may only be specified when readOnly is true')
  if (mountPropagation !== 'None') {
    forbidden(report, field, 'may only be specified when mountPropagation is None or not specified')
  }
}

function checkVolumeDevices (
  devices: readonly VolumeDevice[], mounts: readonly VolumeMount[], volumes: Volumes, at: string, report: Report
): void {
  const [names, paths, mountNames, mountPaths] = [
    new Set<string>(), new Set<string>(), new Set(mounts.map(({ name }) => name)),
    new Set(mounts.map(({ mountPath }) => mountPath))
  ]
  devices.forEach(({ name, devicePath }, index) => {
    const path = `${at}[${index}]`
    const volume = volumes.get(name)
    if (names.has(name)) invalid(report, `${path}.name`, name, 'must be unique')
    if (name !== '') names.add(name)
    if (volume === undefined) notFound(report, `${path}.name`, name)
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      invalid(
        report, `${path}.name`, name,
        'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'
      )
    }
    if (paths.has(devicePath)) invalid(report, `${path}.devicePath`, devicePath, 'must be unique')
    if (devicePath.split('/')
      .includes('..')) invalid(report, `${path}.devicePath`, devicePath, "can not contain backsteps ('..')")
    else paths.add(devicePath)
    if (mountNames.has(name)) invalid(report, `${path}.name`, name, 'must not already exist in volumeMounts')
    if (mountPaths.has(devicePath)) {
      invalid(report, `${path}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts')
    }
  })
}

/** Ephemeral containers cannot mount subpaths. */
export function checkWholeVolumes (mounts: readonly VolumeMount[], at: string, report: Report): void {
  mounts.forEach(({ subPath = '', subPathExpr = '' }, index) => {
    if (subPath !== '') forbidden(report, `${at}[${index}].subPath`, NOT_IN_EPHEMERAL)
    if (subPathExpr !== '') forbidden(report, `${at}[${index}].subPathExpr`, NOT_IN_EPHEMERAL)
  })
}

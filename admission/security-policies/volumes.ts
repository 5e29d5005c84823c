/** Volumes that a PodSecurityPolicy allows. */
import type { Pod } from '../../schemas/api/core/pods.js'
import type { Volume } from '../../schemas/api/core/pod-volumes.js'
import type { PodSecurityPolicySpec } from '../../schemas/api/policy/podsecuritypolicies.js'
import type { FieldError } from '../../schemas/status.js'

/** The volume type in the policy's notation. */
function typeOf ({ name, ...sources }: Volume): string {
  const member = Object.keys(sources).find(source => (sources as Record<string, unknown>)[source] != null) ?? ''
  return member === 'cephfs' ? 'cephFS' : member
}

/** The token volume that the server mounts counts as a secret, which it was originally. */
const isTokenVolume = ({ projected }: Volume): boolean => projected?.sources !== undefined &&
  projected.sources.length > 0 && projected.sources.every(({ serviceAccountToken, configMap, downwardAPI }) =>
  serviceAccountToken !== undefined || configMap?.name === 'orch-root-ca.crt' ||
    downwardAPI?.items?.every(({ fieldRef }) => fieldRef?.fieldPath === 'metadata.namespace') === true)

/** Compares whole path segments. */
const hasPrefix = (path: string, prefix: string): boolean => {
  const [whole, start] = [path.replace(/\/+$/, ''), prefix.replace(/\/+$/, '')]
  return whole === start || whole.startsWith(`${start}/`)
}

export function volumeFindings (pod: Pod, spec: PodSecurityPolicySpec): FieldError[] {
  let mounts: ReturnType<typeof writableMounts> | undefined // computed on demand
  const { volumes: types = [], allowedHostPaths = [], allowedFlexVolumes = [], allowedCSIDrivers = [] } = spec
  const findings: FieldError[] = []
  const invalid = (field: string, value: unknown, detail: string): void => {
    findings.push({ type: 'FieldValueInvalid', field, value, detail })
  }
  for (const [index, volume] of (pod.spec.volumes ?? []).entries()) {
    const at = `spec.volumes[${index}]`
    const type = typeOf(volume)
    const isAllowed = types.includes('*') || types.includes(type) || (types.includes('secret') && isTokenVolume(volume))
    if (!isAllowed) {
      invalid(at, type, `${type} volumes are not allowed to be used`)
      continue
    }
    if (volume.hostPath !== undefined && allowedHostPaths.length > 0) {
      const { path } = volume.hostPath
      const matching = path.split('/').includes('..')
        ? []
        : allowedHostPaths.filter(({ pathPrefix = '' }) => hasPrefix(path, pathPrefix))
      if (matching.length === 0) invalid(`${at}.hostPath.pathPrefix`, path, 'is not allowed to be used')
      else if (matching.every(({ readOnly }) => readOnly === true)) {
        findings.push(...(mounts ??= writableMounts(pod)).get(volume.name) ?? [])
      }
    }
    const driver = volume.flexVolume?.driver
    if (driver !== undefined && allowedFlexVolumes.length > 0 &&
      !allowedFlexVolumes.some(allowed => allowed.driver === driver)) {
      invalid(`${at}.driver`, driver, 'Flexvolume driver is not allowed to be used')
    }
    const inline = volume.csi?.driver
    if (inline !== undefined && allowedCSIDrivers.length > 0 &&
      !allowedCSIDrivers.some(allowed => allowed.name === inline)) {
      invalid(`${at}.csi.driver`, inline, 'Inline CSI driver is not allowed to be used')
    }
  }
  return findings
}

/** Findings for writable mounts, by volume name. */
function writableMounts ({ spec }: Pod): ReadonlyMap<string, readonly FieldError[]> {
  const byVolume = new Map<string, FieldError[]>()
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    for (const [index, { volumeMounts = [] }] of (spec[list] ?? []).entries()) {
      for (const [mount, { name, readOnly = false }] of volumeMounts.entries()) {
        if (readOnly) continue
        const mounts = byVolume.get(name) ?? []
        mounts.push({
          type: 'FieldValueInvalid', field: `spec.${list}[${index}].volumeMounts[${mount}].readOnly`, value: readOnly,
          detail: 'must be read-only'
        })
        byVolume.set(name, mounts)
      }
    }
  }
  return byVolume
}

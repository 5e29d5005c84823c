/** Validation of PodSecurityPolicies. As upstream, some paths differ from those of the fields. */
import type { Report } from '../../../language/types.js'
import { dnsSubdomain } from '../../../names.js'
import { duplicate, invalid, checkName, notSupported, required } from '../../../rules/findings.js'
import { checkDriverName } from '../../core/rules/network-volumes.js'
import { checkProfileAnnotations } from './profile-annotations.js'
import type {
  AllowedHostPath, IDRange, PodSecurityPolicy, PodSecurityPolicySpec, RunAsGroupStrategyOptions,
  RuntimeClassStrategyOptions
} from '../podsecuritypolicies.js'
import { checkSysctlOverlaps, checkSysctlPatterns } from './sysctls.js'

export const USER_RULES = ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny']
export const GROUP_RULES = ['MayRunAs', 'MustRunAs', 'RunAsAny']
export const SELINUX_RULES = ['MustRunAs', 'RunAsAny']
export const PROC_MOUNTS = ['Default', 'Unmasked']
export const FS_TYPES = [
  'azureFile', 'flocker', 'flexVolume', 'hostPath', 'emptyDir', 'gcePersistentDisk', 'awsElasticBlockStore', 'gitRepo',
  'secret', 'nfs', 'iscsi', 'glusterfs', 'persistentVolumeClaim', 'rbd', 'cinder', 'cephFS', 'downwardAPI', 'fc',
  'configMap', 'vsphereVolume', 'quobyte', 'azureDisk', 'photonPersistentDisk', 'storageos', 'projected',
  'portworxVolume', 'scaleIO', 'csi', 'ephemeral', '*'
]

const ALL = '*'

export function validateSecurityPolicy ({ metadata, spec }: PodSecurityPolicy, report: Report): void {
  checkProfileAnnotations(metadata.annotations ?? {}, 'metadata.annotations', report)
  checkIdentities(spec, 'spec', report)
  for (const type of spec.volumes ?? []) {
    if (!FS_TYPES.includes(type)) notSupported(report, 'spec.volumes', type, [...FS_TYPES].sort())
  }
  checkCapabilities(spec, report)
  if (spec.defaultAllowPrivilegeEscalation === true && spec.allowPrivilegeEscalation === false) {
    invalid(
      report, 'spec.defaultAllowPrivilegeEscalation', true,
      'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true'
    )
  }
  spec.allowedProcMountTypes?.forEach((type, index) => {
    oneOf(report, `spec.allowedProcMountTypes[${index}]`, type, PROC_MOUNTS)
  })
  checkHostPaths(spec.allowedHostPaths ?? [], 'spec.allowedHostPaths', report)
  spec.allowedFlexVolumes?.forEach(({ driver }, index) => {
    if (driver === '') {
      required(report, `spec.allowedFlexVolumes.allowedFlexVolumes[${index}].driver`, 'must specify a driver')
    }
  })
  spec.allowedCSIDrivers?.forEach(({ name }, index) => {
    const field = `spec.allowedCSIDrivers.allowedCSIDriver[${index}].name`
    if (name === '') required(report, field)
    checkDriverName(name, field, report)
  })
  checkSysctlPatterns(spec.allowedUnsafeSysctls ?? [], 'spec.allowedUnsafeSysctls', report)
  checkSysctlPatterns(spec.forbiddenSysctls ?? [], 'spec.forbiddenSysctls', report)
  checkSysctlOverlaps(spec.allowedUnsafeSysctls ?? [], spec.forbiddenSysctls ?? [], 'spec', report)
  if (spec.runtimeClass !== undefined) checkRuntimeClasses(spec.runtimeClass, 'spec.runtimeClass', report)
}

function oneOf (report: Report, field: string, value: string | undefined, known: readonly string[]): void {
  if (!known.includes(value ?? '')) notSupported(report, field, value ?? '', known)
}

function checkIdentities (spec: PodSecurityPolicySpec, at: string, report: Report): void {
  const { runAsUser, runAsGroup, seLinux, supplementalGroups, fsGroup } = spec
  oneOf(report, `${at}.runAsUser.rule`, runAsUser.rule, USER_RULES)
  checkRanges(runAsUser.ranges, `${at}.runAsUser.ranges`, report)
  if (runAsGroup !== undefined) checkGroupOfContainers(runAsGroup, `${at}.runAsGroup`, report)
  oneOf(report, `${at}.seLinux.rule`, seLinux.rule, SELINUX_RULES)
  oneOf(report, `${at}.supplementalGroups.rule`, supplementalGroups.rule, GROUP_RULES)
  checkRanges(supplementalGroups.ranges, `${at}.supplementalGroups.ranges`, report)
  oneOf(report, `${at}.fsGroup.rule`, fsGroup.rule, GROUP_RULES)
  checkRanges(fsGroup.ranges, `${at}.fsGroup.ranges`, report)
}

function checkRanges (ranges: readonly IDRange[] = [], at: string, report: Report): void {
  ranges.forEach(({ min, max }, index) => {
    const field = `${at}[${index}]`
    if (min < 0) invalid(report, `${field}.min`, min, 'min cannot be negative')
    if (max < 0) invalid(report, `${field}.max`, max, 'max cannot be negative')
    if (min > max) invalid(report, `${field}.min`, min, 'min cannot be greater than max')
  })
}

/** The only strategy whose ranges depend on its rule. */
function checkGroupOfContainers ({ rule, ranges = [] }: RunAsGroupStrategyOptions, at: string, report: Report): void {
  if (rule === 'RunAsAny') {
    if (ranges.length > 0) invalid(report, `${at}.ranges`, ranges, 'Ranges must be empty')
  } else if (rule === 'MustRunAs' || rule === 'MayRunAs') {
    if (ranges.length === 0) invalid(report, `${at}.ranges`, ranges, 'must provide at least one range')
    checkRanges(ranges, `${at}.ranges`, report)
  } else notSupported(report, `${at}.rule`, rule, GROUP_RULES)
}

function checkCapabilities (spec: PodSecurityPolicySpec, report: Report): void {
  const { requiredDropCapabilities: dropped = [], allowedCapabilities = [] } = spec
  if (dropped.length > 0 && allowedCapabilities.includes(ALL)) {
    invalid(
      report, 'requiredDropCapabilities', dropped, 'must be empty when all capabilities are allowed by a wildcard'
    )
  }
  const drops = new Set(dropped)
  for (const field of ['defaultAddCapabilities', 'allowedCapabilities'] as const) {
    for (const capability of spec[field] ?? []) {
      if (drops.has(capability)) {
        invalid(report, field, capability, `capability is listed in ${field} and requiredDropCapabilities`)
      }
    }
  }
}

/** Stops at the first missing prefix. */
function checkHostPaths (paths: readonly AllowedHostPath[], at: string, report: Report): void {
  for (const [index, { pathPrefix = '' }] of paths.entries()) {
    if (pathPrefix === '') return required(report, `${at}[${index}]`, 'is required')
    if (pathPrefix.split('/').includes('..')) invalid(report, `${at}[${index}]`, pathPrefix, "must not contain '..'")
  }
}

function checkRuntimeClasses (
  { allowedRuntimeClassNames: names = [], defaultRuntimeClassName: preset }: RuntimeClassStrategyOptions, at: string,
  report: Report
): void {
  const field = `${at}.allowedRuntimeClassNames`
  const allowed = new Set<string>()
  for (const [index, name] of names.entries()) {
    if (name !== ALL) checkName(report, `${field}[${index}]`, name, dnsSubdomain)
    if (allowed.has(name)) duplicate(report, `${field}[${index}]`, name)
    allowed.add(name)
  }
  if (preset !== undefined) {
    checkName(report, `${at}.defaultRuntimeClassName`, preset, dnsSubdomain)
    if (!allowed.has(preset) && !allowed.has(ALL)) {
      required(report, field, `default ${JSON.stringify(preset)} must be allowed`)
    }
  }
  if (allowed.has(ALL) && names.length > 1) {
    invalid(report, field, names, "if '*' is present, must not specify other RuntimeClass names")
  }
}

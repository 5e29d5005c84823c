/** PodSecurityPolicy (policy/v1beta1): security settings that pods may have. */
import { join, name, text, type Column } from '../../columns.js'
import { int32, int64, one, bool, list, apiPackage, string, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { SELinuxOptions } from '../core/security-contexts.js'
import { resource } from '../../resource.js'
import {
  FS_TYPES, GROUP_RULES, PROC_MOUNTS, SELINUX_RULES, USER_RULES, validateSecurityPolicy
} from './rules/podsecuritypolicies.js'

const { kind, message } = apiPackage('policy', 'v1beta1', 'io.orch.api.policy.v1beta1')

export type AllowedCSIDriver = Static<typeof AllowedCSIDriver>
export const AllowedCSIDriver = message('AllowedCSIDriver', 'A CSI driver that pods may use inline.', {
  name: string(1, 'Registered name of the driver.', { required: true, ruled: true })
})

export type AllowedFlexVolume = Static<typeof AllowedFlexVolume>
export const AllowedFlexVolume = message('AllowedFlexVolume', 'A FlexVolume driver that pods may use.', {
  driver: string(1, 'Name of the driver.', { required: true, ruled: true })
})

export type AllowedHostPath = Static<typeof AllowedHostPath>
export const AllowedHostPath = message('AllowedHostPath', 'A path of the node that pods may mount.', {
  pathPrefix: string(1, 'Path that host volumes must begin with.'),
  readOnly: bool(2, 'Whether such volumes must be mounted read-only.')
})

export type IDRange = Static<typeof IDRange>
export const IDRange = message('IDRange', 'A range of UIDs or GIDs, both ends included.', {
  min: int64(1, 'First ID of the range.', { required: true }),
  max: int64(2, 'Last ID of the range.', { required: true })
})

export type FSGroupStrategyOptions = Static<typeof FSGroupStrategyOptions>
export const FSGroupStrategyOptions = message('FSGroupStrategyOptions', 'Which fsGroup pods may have.', {
  rule: string(1, 'How the value is found, such as MustRunAs or RunAsAny.', { values: GROUP_RULES }),
  ranges: list(2, 'Ranges of GIDs that are allowed.', IDRange)
})

export type HostPortRange = Static<typeof HostPortRange>
export const HostPortRange = message('HostPortRange', 'A range of ports of the node, both ends included.', {
  min: int32(1, 'First port of the range.', { required: true }),
  max: int32(2, 'Last port of the range.', { required: true })
})

export type SELinuxStrategyOptions = Static<typeof SELinuxStrategyOptions>
export const SELinuxStrategyOptions = message('SELinuxStrategyOptions', 'Which SELinux labels pods may have.', {
  rule: string(1, 'How the label is found: MustRunAs or RunAsAny.', {
    required: true, ruled: true, values: SELINUX_RULES
  }),
  seLinuxOptions: one(2, 'Label that is required, for MustRunAs.', SELinuxOptions, { pointer: true })
})

export type RunAsUserStrategyOptions = Static<typeof RunAsUserStrategyOptions>
export const RunAsUserStrategyOptions = message('RunAsUserStrategyOptions', 'Which UIDs containers may run as.', {
  rule: string(1, 'How the value is found: MustRunAs, MustRunAsNonRoot or RunAsAny.', {
    required: true, ruled: true, values: USER_RULES
  }),
  ranges: list(2, 'Ranges of UIDs that are allowed.', IDRange)
})

export type RunAsGroupStrategyOptions = Static<typeof RunAsGroupStrategyOptions>
export const RunAsGroupStrategyOptions = message('RunAsGroupStrategyOptions', 'Which GIDs containers may run as.', {
  rule: string(1, 'How the value is found: MustRunAs, MayRunAs or RunAsAny.', {
    required: true, ruled: true, values: GROUP_RULES
  }),
  ranges: list(2, 'Ranges of GIDs that are allowed.', IDRange)
})

export type SupplementalGroupsStrategyOptions = Static<typeof SupplementalGroupsStrategyOptions>
export const SupplementalGroupsStrategyOptions =
  message('SupplementalGroupsStrategyOptions', 'Which supplemental groups pods may have.', {
    rule: string(1, 'How the value is found, such as MustRunAs or RunAsAny.', { values: GROUP_RULES }),
    ranges: list(2, 'Ranges of GIDs that are allowed.', IDRange)
  })

export type RuntimeClassStrategyOptions = Static<typeof RuntimeClassStrategyOptions>
export const RuntimeClassStrategyOptions =
  message('RuntimeClassStrategyOptions', 'Which runtime classes pods may use.', {
    allowedRuntimeClassNames: list(
      1, 'Names that are allowed; * allows all, empty only pods without one.', 'string', { required: true }
    ),
    defaultRuntimeClassName: string(2, 'Runtime class set on pods that do not name one.', { pointer: true })
  })

export type PodSecurityPolicySpec = Static<typeof PodSecurityPolicySpec>
export const PodSecurityPolicySpec = message('PodSecurityPolicySpec', 'What pods may ask for.', {
  privileged: bool(1, 'Whether containers may be privileged.'),
  defaultAddCapabilities: list(2, 'Capabilities added to containers that do not drop them.', 'string'),
  requiredDropCapabilities: list(3, 'Capabilities that are dropped from every container.', 'string'),
  allowedCapabilities: list(4, 'Capabilities that containers may add.', 'string'),
  volumes: list(5, 'Types of volume that are allowed; * allows all.', 'string', { values: FS_TYPES }),
  hostNetwork: bool(6, 'Whether pods may use the network of the node.'),
  hostPorts: list(7, 'Ranges of host ports that are allowed.', HostPortRange),
  hostPID: bool(8, 'Whether pods may use the process namespace of the node.'),
  hostIPC: bool(9, 'Whether pods may use the IPC namespace of the node.'),
  seLinux: one(10, 'Which SELinux labels are allowed.', SELinuxStrategyOptions, { required: true }),
  runAsUser: one(11, 'Which UIDs containers may run as.', RunAsUserStrategyOptions, { required: true }),
  runAsGroup: one(22, 'Which GIDs containers may run as.', RunAsGroupStrategyOptions, { pointer: true }),
  supplementalGroups: one(
    12, 'Which supplemental groups are allowed.', SupplementalGroupsStrategyOptions, { required: true }
  ),
  fsGroup: one(13, 'Which GIDs may own the volumes.', FSGroupStrategyOptions, { required: true }),
  readOnlyRootFilesystem: bool(14, 'Whether the root filesystem of containers must be read-only.'),
  defaultAllowPrivilegeEscalation: bool(
    15, 'Whether privilege escalation is on where containers do not say.', { pointer: true }
  ),
  allowPrivilegeEscalation: bool(16, 'Whether containers may ask for privilege escalation; by default true.', {
    pointer: true, default: true
  }),
  allowedHostPaths: list(17, 'Paths of the node that may be mounted; empty allows all.', AllowedHostPath),
  allowedFlexVolumes: list(18, 'FlexVolume drivers that are allowed; empty allows all.', AllowedFlexVolume),
  allowedCSIDrivers: list(
    23, 'CSI drivers that may be used inline; empty allows all.', AllowedCSIDriver, { gate: 'CSIInlineVolume' }
  ),
  allowedUnsafeSysctls: list(19, 'Unsafe kernel parameters that are allowed; a trailing * is a wildcard.', 'string'),
  forbiddenSysctls: list(20, 'Kernel parameters that are forbidden; a trailing * is a wildcard.', 'string'),
  allowedProcMountTypes: list(21, 'Ways to mount /proc that are allowed; empty means Default only.', 'string', {
    values: PROC_MOUNTS, closed: true, ruled: true, gate: 'ProcMountType'
  }),
  runtimeClass: one(24, 'Which runtime classes are allowed.', RuntimeClassStrategyOptions, { pointer: true })
})

export type PodSecurityPolicy = Static<typeof PodSecurityPolicy>
export const PodSecurityPolicy = kind('PodSecurityPolicy', 'Deprecated: decides what pods may ask for.', {
  metadata,
  spec: one(2, 'What pods may ask for.', PodSecurityPolicySpec)
}, { validate: (policy, _at, report) => { validateSecurityPolicy(policy, report) } })

const columns: ReadonlyArray<Column<PodSecurityPolicy>> = [
  name,
  text('Priv', 'Whether containers may be privileged.', ({ spec }) => String(spec.privileged ?? false)),
  text('Caps', 'Capabilities that containers may add.', ({ spec }) => join(spec.allowedCapabilities)),
  text('SELinux', 'How SELinux labels are found.', ({ spec }) => spec.seLinux.rule),
  text('RunAsUser', 'How UIDs are found.', ({ spec }) => spec.runAsUser.rule),
  text('FsGroup', 'How the GID of volumes is found.', ({ spec }) => spec.fsGroup.rule),
  text('SupGroup', 'How supplemental groups are found.', ({ spec }) => spec.supplementalGroups.rule),
  text('ReadOnlyRootFs', 'Whether the root filesystem must be read-only.', ({ spec }) =>
    spec.readOnlyRootFilesystem ?? false),
  text('Volumes', 'Types of volume that are allowed.', ({ spec }) => join(spec.volumes))
]

export const podSecurityPolicies = resource(PodSecurityPolicy, {
  plural: 'podsecuritypolicies',
  shortNames: ['psp'],
  notOnUpdate: ['generateName'],
  namespaced: false,
  deleteReturns: 'Object',
  storagePrefix: 'podsecuritypolicy',
  columns,
  deprecation: { deprecated: '1.21', removed: '1.25' }
})

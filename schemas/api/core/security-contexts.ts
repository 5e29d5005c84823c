/** Security contexts of pods and containers. */
import { int64, one, bool, string, list, type Static } from '../../language/declare.js'
import { message } from './package.js'
import { validateAppArmorProfile } from './rules/apparmor.js'
import { validatePodSecurityContext, validateSeccompProfile, validateSecurityContext } from './rules/security.js'
import { validateWindowsOptions } from './rules/windows.js'

export type Capabilities = Static<typeof Capabilities>
export const Capabilities = message('Capabilities', 'Linux capabilities to add to or drop from a container.', {
  add: list(1, 'Capabilities to add.', 'string'),
  drop: list(2, 'Capabilities to drop.', 'string')
})

export type SELinuxOptions = Static<typeof SELinuxOptions>
export const SELinuxOptions = message('SELinuxOptions', 'The SELinux label of a container.', {
  user: string(1, 'User part of the SELinux label.'),
  role: string(2, 'Role part of the SELinux label.'),
  type: string(3, 'Type part of the SELinux label.'),
  level: string(4, 'Level part of the SELinux label.')
})

export type SeccompProfile = Static<typeof SeccompProfile>
export const SeccompProfile = message('SeccompProfile', 'A seccomp profile of a container.', {
  type: string(1, 'Which profile is used: Localhost, RuntimeDefault or Unconfined.', {
    required: true, missing: 'type is required when seccompProfile is set',
    values: ['Unconfined', 'RuntimeDefault', 'Localhost'], closed: true, discriminator: true
  }),
  localhostProfile: string(2, 'File of the profile on the node, for type Localhost.', { pointer: true })
}, { validate: (profile, at, report) => { validateSeccompProfile(profile, at, report) } })

export type AppArmorProfile = Static<typeof AppArmorProfile>
export const AppArmorProfile = message('AppArmorProfile', 'An AppArmor profile of a container.', {
  type: string(1, 'Which profile is used: Localhost, RuntimeDefault or Unconfined.', {
    required: true, values: ['Unconfined', 'RuntimeDefault', 'Localhost'], closed: true, discriminator: true
  }),
  localhostProfile: string(2, 'Name of the profile loaded on the node, for type Localhost.', { pointer: true })
}, { validate: (profile, at, report) => { validateAppArmorProfile(profile, at, report) } })

export type WindowsSecurityContextOptions = Static<typeof WindowsSecurityContextOptions>
export const WindowsSecurityContextOptions =
  message('WindowsSecurityContextOptions', 'Privileges and identity of containers on Windows.', {
    gmsaCredentialSpecName: string(1, 'Name of the GMSA credential spec to use.', { pointer: true }),
    gmsaCredentialSpec: string(2, 'Content of the GMSA credential spec, filled in at admission.', { pointer: true }),
    runAsUserName: string(3, 'Windows user the container runs as; by default that of the image.', { pointer: true }),
    hostProcess: bool(4, 'Whether the container runs as a process of the host.', { pointer: true })
  }, { validate: (options, at, report) => { validateWindowsOptions(options, at, report) } })

export type SecurityContext = Static<typeof SecurityContext>
export const SecurityContext =
  message('SecurityContext', 'Privileges and identity of a container, before those of its pod.', {
    capabilities: one(1, 'Capabilities to add or drop.', Capabilities, { pointer: true }),
    privileged: bool(2, 'Whether the container has the rights of root on the node.', { pointer: true }),
    seLinuxOptions: one(3, 'SELinux context of the container.', SELinuxOptions, { pointer: true }),
    windowsOptions: one(10, 'Settings that apply to Windows only.', WindowsSecurityContextOptions, { pointer: true }),
    runAsUser: int64(4, 'UID the container runs as; by default that of the image.', { pointer: true }),
    runAsGroup: int64(8, 'GID the container runs as; by default that of the runtime.', { pointer: true }),
    runAsNonRoot: bool(5, 'Whether the container is refused if it would run as root.', { pointer: true }),
    readOnlyRootFilesystem: bool(6, 'Whether the root filesystem is read-only; by default not.', { pointer: true }),
    allowPrivilegeEscalation: bool(7, 'Whether a process may gain more privileges than its parent.', { pointer: true }),
    procMount: string(9, 'How /proc is mounted: Default or Unmasked.', {
      pointer: true, values: ['Default', 'Unmasked'], closed: true,
      gate: { name: 'ProcMountType', otherwise: 'Default' }
    }),
    seccompProfile: one(11, 'Seccomp profile of the container.', SeccompProfile, { pointer: true }),
    appArmorProfile: one(12, 'AppArmor profile of the container.', AppArmorProfile, { pointer: true, since: '1.30' })
  }, { validate: (context, at, report) => { validateSecurityContext(context, at, report) } })

export type Sysctl = Static<typeof Sysctl>
export const Sysctl = message('Sysctl', 'A kernel parameter to set.', {
  name: string(1, 'Name of the parameter, such as net.core.somaxconn.', { required: true }),
  value: string(2, 'Value to set.', { required: true, mayBeEmpty: true })
})

export type PodSecurityContext = Static<typeof PodSecurityContext>
export const PodSecurityContext =
  message('PodSecurityContext', 'Privileges and identity for all containers of a pod.', {
    seLinuxOptions: one(
      1, 'SELinux context of all containers; by default a random one each.', SELinuxOptions, { pointer: true }
    ),
    windowsOptions: one(8, 'Settings that apply to Windows only.', WindowsSecurityContextOptions, { pointer: true }),
    runAsUser: int64(2, 'UID the containers run as; by default that of the image.', { pointer: true }),
    runAsGroup: int64(6, 'GID the containers run as; by default that of the runtime.', { pointer: true }),
    runAsNonRoot: bool(3, 'Whether containers that would run as root are refused.', { pointer: true }),
    supplementalGroups: list(4, 'Further GIDs of the first process in each container.', 'int64'),
    supplementalGroupsPolicy: string(12, 'Whether groups of the image are added: Merge or Strict.', {
      pointer: true, values: ['Merge', 'Strict'], closed: true, gate: 'SupplementalGroupsPolicy', since: '1.31'
    }),
    fsGroup: int64(5, 'GID that owns the volumes, for types that support it.', { pointer: true }),
    sysctls: list(7, 'Kernel parameters set for the pod.', Sysctl),
    fsGroupChangePolicy: string(9, 'When volume ownership is changed: OnRootMismatch or Always.', {
      pointer: true, values: ['OnRootMismatch', 'Always'], closed: true
    }),
    seccompProfile: one(10, 'Seccomp profile of the containers.', SeccompProfile, { pointer: true }),
    appArmorProfile: one(11, 'AppArmor profile of the containers.', AppArmorProfile, { pointer: true, since: '1.30' }),
    seLinuxChangePolicy: string(13, 'How volumes get their SELinux label: Recursive or MountOption.', {
      pointer: true, values: ['Recursive', 'MountOption'], gate: 'SELinuxChangePolicy', since: '1.32'
    })
  }, { validate: (context, at, report) => { validatePodSecurityContext(context, at, report) } })

/** Validation of security contexts. */
import { isOn } from '../../../gates.js'
import { checkRange, duplicate, forgiving, invalid, notSupported, required } from '../../../rules/findings.js'
import type { Int64, Report } from '../../../language/declare.js'
import type { PodSpec } from '../pod-spec.js'
import type { PodSecurityContext, SeccompProfile, SecurityContext, Sysctl } from '../security-contexts.js'
import { checkRelativePath } from './paths.js'

const MAX_ID = 2 ** 31 - 1

export function checkId (id: Int64 | undefined, field: string, report: Report): void {
  if (id !== undefined) checkRange(report, field, id, 0, MAX_ID)
}

export function validateSeccompProfile (profile: SeccompProfile, at: string, report: Report): void {
  const { type, localhostProfile } = profile
  const field = `${at}.localhostProfile`
  if (type !== 'Localhost') {
    if (localhostProfile !== undefined) {
      invalid(report, field, profile, 'can only be set when seccomp type is Localhost')
    }
  } else if (localhostProfile === undefined) {
    required(report, field, 'must be set when seccomp type is Localhost')
  } else {
    checkRelativePath(localhostProfile, field, report)
  }
}

export function validateSecurityContext (context: SecurityContext, at: string, report: Report): void {
  const { runAsUser, runAsGroup, allowPrivilegeEscalation, privileged, capabilities } = context
  checkId(runAsUser, `${at}.runAsUser`, report)
  checkId(runAsGroup, `${at}.runAsGroup`, report)
  if (allowPrivilegeEscalation !== false) return
  if (privileged === true) {
    invalid(report, at, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true')
  }
  if (capabilities?.add?.includes('CAP_SYS_ADMIN') === true) {
    invalid(report, at, context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN')
  }
}

const CHANGES = ['MountOption', 'Recursive']

export function validatePodSecurityContext (context: PodSecurityContext, at: string, report: Report): void {
  for (const field of ['fsGroup', 'runAsUser', 'runAsGroup'] as const) checkId(context[field], `${at}.${field}`, report)
  context.supplementalGroups?.forEach((id, index) => checkId(id, `${at}.supplementalGroups[${index}]`, report))
  const { seLinuxChangePolicy: change } = context
  const changes = isOn(report, 'SELinuxMount') ? CHANGES : CHANGES.filter(known => known !== 'MountOption')
  if (change !== undefined && !changes.includes(change)) {
    notSupported(forgiving(report), `${at}.seLinuxChangePolicy`, change, changes)
  }
  checkSysctls(context.sysctls ?? [], `${at}.sysctls`, report)
}

export const SYSCTL_SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
export const SYSCTL_MAX = 253
const SYSCTL = `(${SYSCTL_SEGMENT}[\\./])*${SYSCTL_SEGMENT}`
const WHOLE_SYSCTL = new RegExp(`^${SYSCTL}$`)

function checkSysctls (sysctls: readonly Sysctl[], at: string, report: Report): void {
  const names = new Set<string>()
  sysctls.forEach(({ name }, index) => {
    const field = `${at}[${index}].name`
    if (name === '') return
    if (name.length > SYSCTL_MAX || !WHOLE_SYSCTL
      .test(name)) invalid(report, field, name, `must have at most ${SYSCTL_MAX} characters and match regex ${SYSCTL}`)
    else if (names.has(name)) duplicate(report, field, name)
    names.add(name)
  })
}

/** Kernel parameters that belong to a namespace of the kernel. */
const OF_IPC = /^(?:kernel\.(?:sem|shm.*|msg.*)|fs\.mqueue\..*)$/
const OF_NETWORK = /^net\..*$/

/** A pod on the host's namespace would set them there. */
export function checkHostSysctls (spec: PodSpec, at: string, report: Report): void {
  if (!isOn(report, 'PodSysctlsStayInPod')) return
  spec.securityContext?.sysctls?.forEach(({ name }, index) => {
    const field = `${at}.securityContext.sysctls[${index}].name`
    const dotted = withDots(name)
    if (spec.hostNetwork === true && OF_NETWORK.test(dotted)) {
      invalid(report, field, name, "may not be specified when 'hostNetwork' is true")
    } else if (spec.hostIPC === true && OF_IPC.test(dotted)) {
      invalid(report, field, name, "may not be specified when 'hostIPC' is true")
    }
  })
}

/** Sysctls may be written with slashes: if the first separator is one, slashes and dots change places. */
function withDots (name: string): string {
  if (!/^[^.]*\//.test(name)) return name
  return name.replaceAll(/[./]/g, separator => separator === '/' ? '.' : '/')
}

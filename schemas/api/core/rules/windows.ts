/** Validation of Windows security options, and of fields excluded by the pod's operating system. */
import { isOn } from '../../../gates.js'
import { checkName, forbidden, invalid, notSupported } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { dnsSubdomain } from '../../../names.js'
import type { PodSpec } from '../pod-spec.js'
import type { WindowsSecurityContextOptions } from '../security-contexts.js'
import { containersOf } from './visit.js'

const SPEC_MAX = 64 * 1024
const DOMAIN_MAX = 255
const USER_MAX = 104
const NETBIOS = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const DNS = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

export function validateWindowsOptions (
  { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName }: WindowsSecurityContextOptions, at: string,
  report: Report
): void {
  if (name !== undefined) checkName(report, `${at}.gmsaCredentialSpecName`, name, dnsSubdomain)
  if (spec === '') invalid(report, `${at}.gmsaCredentialSpec`, spec, 'gmsaCredentialSpec cannot be an empty string')
  else if (spec !== undefined && Buffer.byteLength(spec) > SPEC_MAX) {
    invalid(report, `${at}.gmsaCredentialSpec`, spec, 'gmsaCredentialSpec size must be under 64 KiB')
  }
  if (runAsUserName !== undefined) checkName(report, `${at}.runAsUserName`, runAsUserName, userName)
}

/** `DOMAIN\user` or `user`. */
function userName (name: string): readonly string[] {
  if (name === '') return ['runAsUserName cannot be an empty string']
  // eslint-disable-next-line no-control-regex -- matches control characters
  if (/[\u0000-\u001f\u007f]/.test(name)) return ['runAsUserName cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const user = parts.at(-1) ?? ''
  const domain = parts.length === 2 ? parts[0] : undefined
  const problems: string[] = []
  if (domain !== undefined && domain.length > DOMAIN_MAX) {
    problems.push(`runAsUserName's Domain length must be under ${DOMAIN_MAX + 1} characters`)
  }
  if (domain !== undefined && !NETBIOS.test(domain) && !DNS.test(domain)) {
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  }
  if (user === '') problems.push("runAsUserName's User cannot be empty")
  if (user.length > USER_MAX) {
    problems.push(`runAsUserName's User length must not be longer than ${USER_MAX} characters`)
  }
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    problems.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]')
  }
  return problems
}

/** HostProcess containers require the host network, and cannot be mixed with others. */
export function checkHostProcess (spec: PodSpec, at: string, report: Report): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess
  let all = 0
  let onHost = 0
  for (const [{ securityContext }, path] of containersOf(spec, at)) {
    const own = securityContext?.windowsOptions?.hostProcess
    if (ofPod !== undefined && own !== undefined && own !== ofPod) {
      invalid(
        report, `${path}.securityContext.windowsOptions.hostProcess`, own,
        `pod hostProcess value must be identical if both are specified, was ${ofPod}`
      )
    }
    all++
    if (own ?? ofPod === true) onHost++
  }
  if (onHost === 0) return
  if (!isOn(report, 'WindowsHostProcessContainers')) {
    return forbidden(
      report, at,
      "pod must not contain Windows hostProcess containers when feature gate 'WindowsHostProcessContainers' is not " +
        'enabled'
    )
  }
  if (onHost !== all) {
    invalid(
      report, at, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers'
    )
  }
  if (spec.hostNetwork !== true) {
    invalid(report, `${at}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers')
  }
}

const SYSTEMS = ['linux', 'windows']
const NOT_ON_WINDOWS_PODS = [
  'seLinuxOptions', 'seccompProfile', 'fsGroup', 'fsGroupChangePolicy', 'sysctls', 'runAsUser', 'runAsGroup',
  'supplementalGroups', 'supplementalGroupsPolicy', 'appArmorProfile', 'seLinuxChangePolicy'
] as const
const NOT_ON_WINDOWS = [
  'seLinuxOptions', 'seccompProfile', 'capabilities', 'readOnlyRootFilesystem', 'privileged',
  'allowPrivilegeEscalation', 'procMount', 'runAsUser', 'runAsGroup', 'appArmorProfile'
] as const

export function checkSystem (spec: PodSpec, at: string, report: Report): void {
  const system = spec.os?.name ?? ''
  if (system === '') return
  if (!SYSTEMS.includes(system)) return notSupported(report, `${at}.os`, system, SYSTEMS)
  if (system === 'linux') {
    const refuse = (path: string) =>
      forbidden(report, `${path}.securityContext.windowsOptions`, 'windows options cannot be set for a linux pod')
    if (spec.securityContext?.windowsOptions !== undefined) refuse(at)
    for (const [{ securityContext }, path] of containersOf(spec, at)) {
      if (securityContext?.windowsOptions !== undefined) refuse(path)
    }
    return
  }
  const refuse = (field: string) => forbidden(report, field, 'cannot be set for a windows pod')
  for (const field of ['hostPID', 'hostIPC'] as const) if (spec[field] === true) refuse(`${at}.${field}`)
  for (const field of ['shareProcessNamespace', 'hostUsers'] as const) {
    if (spec[field] !== undefined) refuse(`${at}.${field}`)
  }
  for (const field of NOT_ON_WINDOWS_PODS) {
    if (spec.securityContext?.[field] !== undefined) refuse(`${at}.securityContext.${field}`)
  }
  for (const [{ securityContext }, path] of containersOf(spec, at)) {
    for (const field of NOT_ON_WINDOWS) {
      if (securityContext?.[field] !== undefined) refuse(`${path}.securityContext.${field}`)
    }
  }
}

/** Violations of a PodSecurityPolicy by a pod. */
import type { Pod } from '../../schemas/api/core/pods.js'
import type { PodSecurityPolicy, PodSecurityPolicySpec } from '../../schemas/api/policy/podsecuritypolicies.js'
import type { FieldError } from '../../schemas/status.js'
import { containerFindings } from './containers.js'
import { groupFindings } from './ids.js'
import { seccompFindings } from './profiles.js'
import { seLinuxFindings } from './se-linux.js'
import { volumeFindings } from './volumes.js'

const CONTEXT = 'spec.securityContext'
const SAFE_SYSCTLS: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies', 'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start'
])

export function policyFindings (pod: Pod, policy: PodSecurityPolicy): FieldError[] {
  const { spec } = policy
  const { securityContext: context = {} } = pod.spec
  return [
    ...groupFindings(spec.fsGroup, context.fsGroup === undefined ? [] : [context.fsGroup], `${CONTEXT}.fsGroup`),
    ...groupFindings(spec.supplementalGroups, context.supplementalGroups ?? [], `${CONTEXT}.supplementalGroups`),
    ...seccompFindings(pod, undefined, policy),
    ...seLinuxFindings(spec, context.seLinuxOptions, `${CONTEXT}.seLinuxOptions`),
    ...hostFindings(pod, spec),
    ...sysctlFindings(pod, spec),
    ...volumeFindings(pod, spec),
    ...runtimeFindings(pod, spec),
    ...containerFindings(pod, policy)
  ]
}

function hostFindings ({ spec }: Pod, policy: PodSecurityPolicySpec): FieldError[] {
  const names = { hostNetwork: 'Host network', hostPID: 'Host PID', hostIPC: 'Host IPC' } as const
  return (['hostNetwork', 'hostPID', 'hostIPC'] as const)
    .filter(member => spec[member] === true && policy[member] !== true)
    .map(member => ({
      type: 'FieldValueInvalid', field: `${CONTEXT}.${member}`, value: true,
      detail: `${names[member]} is not allowed to be used`
    }))
}

/** Patterns may end in a star. */
const matches = (patterns: readonly string[], name: string): boolean =>
  patterns.some(pattern => pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name)

function sysctlFindings (
  { spec }: Pod, { allowedUnsafeSysctls = [], forbiddenSysctls = [] }: PodSecurityPolicySpec
): FieldError[] {
  return (spec.securityContext?.sysctls ?? []).flatMap(({ name }, index): FieldError[] => {
    const refused = (what: string): FieldError[] => [{
      type: 'FieldValueForbidden', field: `pod.spec.securityContext.sysctls[${index}]`,
      detail: `${what} ${JSON.stringify(name)} is not allowed`
    }]
    if (matches(forbiddenSysctls, name)) return refused('sysctl')
    return SAFE_SYSCTLS.has(name) || matches(allowedUnsafeSysctls, name) ? [] : refused('unsafe sysctl')
  })
}

function runtimeFindings (
  { spec: { runtimeClassName: name } }: Pod, { runtimeClass }: PodSecurityPolicySpec
): FieldError[] {
  if (runtimeClass === undefined || name === undefined || name === '') return []
  const { allowedRuntimeClassNames: allowed = [] } = runtimeClass
  if (allowed.includes('*') || allowed.includes(name)) return []
  return [{
    type: 'FieldValueInvalid', field: 'spec.runtimeClassName', value: name,
    detail: `must be one of [${allowed.join(', ')}]`
  }]
}

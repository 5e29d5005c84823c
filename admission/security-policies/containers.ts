/** Violations of a PodSecurityPolicy by the containers of a pod. */
import type { Container } from '../../schemas/api/core/containers.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import type { Capabilities } from '../../schemas/api/core/security-contexts.js'
import type { PodSecurityPolicy, PodSecurityPolicySpec } from '../../schemas/api/policy/podsecuritypolicies.js'
import type { FieldError } from '../../schemas/status.js'
import { groupFindings, userFindings } from './ids.js'
import { appArmorFindings, seccompFindings } from './profiles.js'
import { seLinuxFindings } from './se-linux.js'

export function containerFindings (pod: Pod, policy: PodSecurityPolicy): FieldError[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap(list =>
    (pod.spec[list] ?? []).flatMap((container, index) => findingsOf(container, `spec.${list}[${index}]`, pod, policy)))
}

function findingsOf (
  container: Pick<Container, 'name' | 'ports' | 'securityContext'>, at: string, pod: Pod, policy: PodSecurityPolicy
): FieldError[] {
  const { spec } = policy
  // The pod's security context applies to containers that do not override it.
  const { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions } = pod.spec.securityContext ?? {}
  const context = {
    ...runAsUser === undefined ? {} : { runAsUser }, ...runAsGroup === undefined ? {} : { runAsGroup },
    ...runAsNonRoot === undefined ? {} : { runAsNonRoot }, ...seLinuxOptions === undefined ? {} : { seLinuxOptions },
    ...container.securityContext
  }
  const path = `${at}.securityContext`
  const findings: FieldError[] = [
    ...userFindings(spec.runAsUser, context.runAsUser, context.runAsNonRoot, path),
    ...spec.runAsGroup === undefined
      ? []
      : groupFindings(spec.runAsGroup, context.runAsGroup === undefined ? [] : [context.runAsGroup], path),
    ...seLinuxFindings(spec, context.seLinuxOptions, `${path}.seLinuxOptions`),
    ...appArmorFindings(pod, container.name, policy),
    ...seccompFindings(pod, container, policy)
  ]
  const invalid = (field: string, value: unknown, detail: string): void => {
    findings.push({ type: 'FieldValueInvalid', field, value, detail })
  }
  if (context.privileged === true && spec.privileged !== true) {
    invalid(`${path}.privileged`, true, 'Privileged containers are not allowed')
  }
  const { procMount = 'Default' } = context
  const { allowedProcMountTypes: mounts = ['Default'] } = spec
  if (!mounts.some(mount => mount === procMount)) {
    invalid(`${path}.procMount`, procMount, 'ProcMountType is not allowed')
  }
  findings.push(...capabilityFindings(context.capabilities, spec, `${path}.capabilities`))
  for (const { hostPort = 0 } of container.ports ?? []) {
    const isAllowed = hostPort === 0 ||
      spec.hostPorts?.some(({ min, max }) => hostPort >= min && hostPort <= max) === true
    if (!isAllowed) {
      invalid(
        `${at}.hostPort`, hostPort,
        `Host port ${hostPort} is not allowed to be used. Allowed ports: ` +
          `[${(spec.hostPorts ?? []).map(({ min, max }) => min === max ? String(min) : `${min}-${max}`).join(',')}]`
      )
    }
  }
  if (spec.readOnlyRootFilesystem === true && context.readOnlyRootFilesystem !== true) {
    invalid(`${path}.readOnlyRootFilesystem`, context.readOnlyRootFilesystem ??
      null, context.readOnlyRootFilesystem === undefined
      ? 'ReadOnlyRootFilesystem must be set to true'
      : 'ReadOnlyRootFilesystem must be set to true')
  }
  if (spec.allowPrivilegeEscalation === false && context.allowPrivilegeEscalation !== false) {
    invalid(
      `${path}.allowPrivilegeEscalation`, context.allowPrivilegeEscalation ?? null,
      'Allowing privilege escalation for containers is not allowed'
    )
  }
  return findings
}

function capabilityFindings (
  capabilities: Capabilities | undefined,
  { defaultAddCapabilities = [], requiredDropCapabilities = [], allowedCapabilities = [] }: PodSecurityPolicySpec,
  at: string
): FieldError[] {
  if (allowedCapabilities.includes('*')) return []
  if (capabilities === undefined) {
    if (defaultAddCapabilities.length === 0 && requiredDropCapabilities.length === 0) return []
    return [{
      type: 'FieldValueInvalid', field: at, value: null,
      detail: 'required capabilities are not set on the securityContext'
    }]
  }
  const { add = [], drop = [] } = capabilities
  return [
    ...add.filter(name => !defaultAddCapabilities.includes(name) && !allowedCapabilities.includes(name)).map(name =>
      ({ type: 'FieldValueInvalid', field: `${at}.add`, value: name, detail: 'capability may not be added' } as const)),
    ...requiredDropCapabilities.filter(name => !drop.includes(name)).map(name =>
      ({
        type: 'FieldValueInvalid', field:
        `${at}.drop`, value: drop, detail: `${name} is required to be dropped but was not found`
      } as const))
  ]
}

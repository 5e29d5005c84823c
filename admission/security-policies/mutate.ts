/** Sets the defaults of a PodSecurityPolicy. */
import type { Container } from '../../schemas/api/core/containers.js'
import type { Pod } from '../../schemas/api/core/pods.js'
import type { SecurityContext } from '../../schemas/api/core/security-contexts.js'
import type { PodSecurityPolicy, PodSecurityPolicySpec } from '../../schemas/api/policy/podsecuritypolicies.js'
import { firstOf } from './ids.js'
import { setProfiles } from './profiles.js'

/** Changes the pod in place. */
export function setSecurity (pod: Pod, policy: PodSecurityPolicy): void {
  const { spec } = pod
  const { supplementalGroups, fsGroup, seLinux, runtimeClass } = policy.spec
  const context = { ...spec.securityContext }
  const group = firstOf(supplementalGroups)
  if ((context.supplementalGroups ?? []).length === 0 && group !== undefined) context.supplementalGroups = [group]
  const owner = firstOf(fsGroup)
  if (context.fsGroup === undefined && owner !== undefined) context.fsGroup = owner
  if (context.seLinuxOptions === undefined && seLinux.rule === 'MustRunAs' && seLinux.seLinuxOptions !== undefined) {
    context.seLinuxOptions = { ...seLinux.seLinuxOptions }
  }
  spec.securityContext = context
  setProfiles(pod, policy)
  const runtime = runtimeClass?.defaultRuntimeClassName
  if (runtime !== undefined) spec.runtimeClassName ??= runtime
  for (const container of [...spec.initContainers ?? [], ...spec.containers ?? []]) {
    setContainer(container, pod, policy.spec)
  }
}

function setContainer (container: Container, { spec }: Pod, policy: PodSecurityPolicySpec): void {
  const context: SecurityContext = { ...container.securityContext }
  const ofPod = spec.securityContext ?? {}
  const user = context.runAsUser ?? ofPod.runAsUser
  const first = firstOf(policy.runAsUser)
  if (user === undefined && first !== undefined) context.runAsUser = first
  const group = policy.runAsGroup === undefined ? undefined : firstOf(policy.runAsGroup)
  if ((context.runAsGroup ?? ofPod.runAsGroup) === undefined && group !== undefined) context.runAsGroup = group
  if (policy.runAsUser.rule === 'MustRunAsNonRoot' && user === undefined &&
    (context.runAsNonRoot ?? ofPod.runAsNonRoot) === undefined) context.runAsNonRoot = true
  setCapabilities(context, policy)
  if (policy.readOnlyRootFilesystem === true) context.readOnlyRootFilesystem ??= true
  if (policy.defaultAllowPrivilegeEscalation !== undefined) {
    context.allowPrivilegeEscalation ??= policy.defaultAllowPrivilegeEscalation
  }
  const canEscalate = context.privileged === true ||
    context.capabilities?.add?.some(name => name === 'SYS_ADMIN' || name === 'CAP_SYS_ADMIN') === true
  if (policy.allowPrivilegeEscalation === false && !canEscalate) context.allowPrivilegeEscalation ??= false
  if (Object.keys(context).length > 0) container.securityContext = context
}

function setCapabilities (
  context: SecurityContext, { defaultAddCapabilities = [], requiredDropCapabilities = [] }: PodSecurityPolicySpec
): void {
  const { add = [], drop = [] } = context.capabilities ?? {}
  const added = new Set([...defaultAddCapabilities.filter(name => !drop.includes(name)), ...add])
  const dropped = new Set([...requiredDropCapabilities, ...drop])
  if (added.size === add.length && dropped.size === drop.length) return
  context.capabilities = {
    ...added.size === 0 ? {} : { add: [...added].sort() }, ...dropped.size === 0 ? {} : { drop: [...dropped].sort() }
  }
}

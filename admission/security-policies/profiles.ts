/** AppArmor and seccomp profiles, which a PodSecurityPolicy defines by annotations. */
import type { Pod } from '../../schemas/api/core/pods.js'
import type { SeccompProfile } from '../../schemas/api/core/security-contexts.js'
import type { PodSecurityPolicy } from '../../schemas/api/policy/podsecuritypolicies.js'
import type { FieldError } from '../../schemas/status.js'

const APP_ARMOR = 'apparmor.security.beta.orch.io/'
const SECCOMP = 'seccomp.security.alpha.orch.io/'
const [ALLOWED, DEFAULT] = ['allowedProfileNames', 'defaultProfileName']
const POD_SECCOMP = `${SECCOMP}pod`

const annotation = ({ metadata }: Pick<Pod, 'metadata'>, name: string): string => metadata.annotations?.[name] ?? ''

/** Sets the policy's default profiles. */
export function setProfiles (pod: Pod, policy: PodSecurityPolicy): void {
  const set = (name: string, profile: string): void => {
    if (profile !== '' && pod.metadata.annotations?.[name] === undefined) {
      pod.metadata.annotations = { ...pod.metadata.annotations, [name]: profile }
    }
  }
  if (pod.spec.securityContext?.seccompProfile === undefined) set(POD_SECCOMP, annotation(policy, SECCOMP + DEFAULT))
  for (const { name } of [...pod.spec.initContainers ?? [], ...pod.spec.containers ?? []]) {
    set(`container.${APP_ARMOR}${name}`, annotation(policy, APP_ARMOR + DEFAULT))
  }
}

const forbidden = (name: string, detail: string): FieldError =>
  ({ type: 'FieldValueForbidden', field: `pod.metadata.annotations[${name}]`, detail })

/** Violations by one container. */
export function appArmorFindings (pod: Pod, container: string, policy: PodSecurityPolicy): FieldError[] {
  const allowedText = policy.metadata.annotations?.[APP_ARMOR + ALLOWED]
  if (allowedText === undefined) return []
  const name = `container.${APP_ARMOR}${container}`
  const profile = annotation(pod, name)
  return allowedText.split(',').includes(profile)
    ? []
    : [forbidden(name, `${profile} is not an allowed profile. Allowed values: ${JSON.stringify(allowedText)}`)]
}

/** The profile in annotation form. */
function profileOf (field: SeccompProfile | undefined): string | undefined {
  switch (field?.type) {
    case 'RuntimeDefault': return 'runtime/default'
    case 'Unconfined': return 'unconfined'
    case 'Localhost': return `localhost/${field.localhostProfile ?? ''}`
    default: return undefined
  }
}

/** Violations by the pod, or by a container if given. */
export function seccompFindings (pod: Pod, container: {
  readonly name: string, readonly securityContext?: { readonly seccompProfile?: SeccompProfile | undefined } | undefined
} | undefined, policy: PodSecurityPolicy): FieldError[] {
  const allowedText = annotation(policy, SECCOMP + ALLOWED)
  const allowed = allowedText === '' ? [] : allowedText.split(',')
  const ofPod = profileOf(pod.spec.securityContext?.seccompProfile) ?? annotation(pod, POD_SECCOMP)
  const name = container === undefined ? POD_SECCOMP : `container.${SECCOMP}${container.name}`
  const profile = container === undefined
    ? ofPod
    : profileOf(container.securityContext?.seccompProfile) ?? pod.metadata.annotations?.[name] ?? ofPod
  if (allowed.length === 0) return profile === '' ? [] : [forbidden(name, 'seccomp may not be set')]
  if (allowed.includes('*') || allowed.includes(profile)) return []
  return [forbidden(name, `${profile} is not an allowed seccomp profile. Valid values are ${allowedText}`)]
}

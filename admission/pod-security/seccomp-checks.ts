/** Of both standards: which system calls containers may make. */
import type { PodLike } from '../pod-templates.js'
import type { CheckPod, Violation } from './check.js'
import { containersNamed, containersOf, containersWhere, plural, quoted, setters, sorted } from './check.js'

const REASON = 'seccompProfile'
const OF_POD = 'seccomp.security.alpha.orch.io/pod'
const OF_CONTAINER = 'container.seccomp.security.alpha.orch.io/'

/** As it was said until release 1.18, by annotations. */
export const seccompAnnotations: CheckPod = pod => {
  const annotations = pod.metadata.annotations ?? {}
  const isAllowed = (profile: string): boolean => profile === 'runtime/default' || profile === 'docker/default' || profile.startsWith('localhost/')
  const names = [OF_POD, ...containersOf(pod).map(({ name }) => OF_CONTAINER + name)].filter(name => Object.hasOwn(annotations, name) && !isAllowed(annotations[name] ?? ''))
  const found = sorted(names.map(name => `${name}=${JSON.stringify(annotations[name])}`))
  return found.length === 0 ? undefined : { reason: REASON, detail: `forbidden ${plural('annotation', 'annotations', found.length)} ${found.join(', ')}` }
}

const isValid = (type: string | undefined): boolean => type === 'RuntimeDefault' || type === 'Localhost'

/** None may be switched off. */
export const seccompNotOff: CheckPod = (pod): Violation | undefined => {
  const types: string[] = []
  const found = setters(pod, ({ seccompProfile: profile }) => {
    if (profile === undefined || isValid(profile.type)) return false
    types.push(profile.type)
    return true
  })
  return found === undefined ? undefined : { reason: REASON, detail: `${found} must not set securityContext.seccompProfile.type to ${quoted(sorted(types))}` }
}

/** Each must be on, by its own word or that of its pod. */
export const seccompOn: CheckPod = (pod: PodLike): Violation | undefined => {
  const off = seccompNotOff(pod)
  if (off !== undefined || isValid(pod.spec.securityContext?.seccompProfile?.type)) return off
  const silent = containersWhere(pod, context => context?.seccompProfile === undefined)
  return silent.length === 0 ? undefined : { reason: REASON, detail: `pod or ${containersNamed(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"` }
}

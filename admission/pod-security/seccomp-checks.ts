/** Checks of both standards: seccomp profiles. */
import type { PodLike } from '../pod-templates.js'
import {
  sorted, plural, containersNamed, quoted, containersOf, containersWhere, securityContextsWhere, type CheckPod,
  type Violation
} from './check.js'

const REASON = 'seccompProfile'
const POD_ANNOTATION = 'seccomp.security.alpha.orch.io/pod'
const CONTAINER_ANNOTATION = 'container.seccomp.security.alpha.orch.io/'

/** The annotations used before release 1.19. */
export const seccompAnnotations: CheckPod = pod => {
  const annotations = pod.metadata.annotations ?? {}
  const isAllowed = (profile: string): boolean => profile === 'runtime/default' || profile === 'docker/default' ||
    profile.startsWith('localhost/')
  const names = [POD_ANNOTATION, ...containersOf(pod).map(({ name }) => CONTAINER_ANNOTATION + name)]
    .filter(name => Object.hasOwn(annotations, name) && !isAllowed(annotations[name] ?? ''))
  const offenders = sorted(names.map(name => `${name}=${JSON.stringify(annotations[name])}`))
  return offenders.length === 0
    ? undefined
    : {
        reason: REASON,
        detail: `forbidden ${plural('annotation', 'annotations', offenders.length)} ${offenders.join(', ')}`
      }
}

const isValid = (type: string | undefined): boolean => type === 'RuntimeDefault' || type === 'Localhost'

/** No profile may be Unconfined. */
export const seccompNotOff: CheckPod = (pod): Violation | undefined => {
  const types: string[] = []
  const offenders = securityContextsWhere(pod, ({ seccompProfile: profile }) => {
    if (profile === undefined || isValid(profile.type)) return false
    types.push(profile.type)
    return true
  })
  return offenders === undefined
    ? undefined
    : {
        reason: REASON,
        detail: `${offenders} must not set securityContext.seccompProfile.type to ${quoted(sorted(types))}`
      }
}

/** Each container must have a profile, its own or the pod's. */
export const seccompOn: CheckPod = (pod: PodLike): Violation | undefined => {
  const off = seccompNotOff(pod)
  if (off !== undefined || isValid(pod.spec.securityContext?.seccompProfile?.type)) return off
  const silent = containersWhere(pod, context => context?.seccompProfile === undefined)
  return silent.length === 0
    ? undefined
    : {
        reason: REASON,
        detail:
          `pod or ${containersNamed(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or ` +
        '"Localhost"'
      }
}

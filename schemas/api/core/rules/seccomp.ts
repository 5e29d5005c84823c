/** Keeps seccomp fields and the annotations that preceded them in agreement, for node agents of either age. */
import type { ObjectMeta } from '../../../meta/object.js'
import type { PodSpec } from '../pod-spec.js'
import type { SeccompProfile } from '../security-contexts.js'
import { SECCOMP_OF_CONTAINER, SECCOMP_OF_POD } from './annotations.js'
import { containersOf } from './visit.js'

const LOCALHOST = 'localhost/'

/** Undefined for a profile that no annotation can express. */
function annotationOf ({ type, localhostProfile }: SeccompProfile): string | undefined {
  if (type === 'Unconfined') return 'unconfined'
  if (type === 'RuntimeDefault') return 'runtime/default'
  return type === 'Localhost' && (localhostProfile ?? '') !== '' ? `${LOCALHOST}${localhostProfile}` : undefined
}

/** Undefined for a malformed annotation. */
function profileOf (annotation: string): SeccompProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default' || annotation === 'docker/default') return { type: 'RuntimeDefault' }
  return annotation.startsWith(LOCALHOST) && annotation !== LOCALHOST
    ? { type: 'Localhost', localhostProfile: annotation.slice(LOCALHOST.length) }
    : undefined
}

interface Holder { securityContext?: { seccompProfile?: SeccompProfile | undefined } | undefined }

/** Sets missing fields of a new pod from annotations, and missing annotations from fields; in place. */
export function alignSeccomp ({ metadata, spec }: { metadata: ObjectMeta, spec: PodSpec }): void {
  const annotations = { ...metadata.annotations }
  const before = Object.keys(annotations).length
  const align = (key: string, holder: Holder): void => {
    const profile = holder.securityContext?.seccompProfile
    const annotation = Object.hasOwn(annotations, key) ? annotations[key] : undefined
    if (profile !== undefined && annotation === undefined) {
      const annotation = annotationOf(profile)
      if (annotation !== undefined) annotations[key] = annotation
    } else if (profile === undefined && annotation !== undefined) {
      const seccompProfile = profileOf(annotation)
      if (seccompProfile !== undefined) holder.securityContext = { ...holder.securityContext, seccompProfile }
    }
  }
  align(SECCOMP_OF_POD, spec as Holder)
  for (const [container] of containersOf(spec, '')) align(SECCOMP_OF_CONTAINER + container.name, container as Holder)
  if (Object.keys(annotations).length > before) metadata.annotations = annotations
}

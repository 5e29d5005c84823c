/** Profiles of seccomp, which annotations told before there were fields: node agents of either age find what they look for. */
import type { ObjectMeta } from '../../../meta/object.js'
import type { PodSpec } from '../pod-spec.js'
import type { SeccompProfile } from '../security-contexts.js'
import { SECCOMP_OF_CONTAINER, SECCOMP_OF_POD } from './annotations.js'
import { containersOf } from './visit.js'

const LOCALHOST = 'localhost/'

/** Undefined for what no annotation tells. */
function annotationOf ({ type, localhostProfile }: SeccompProfile): string | undefined {
  if (type === 'Unconfined') return 'unconfined'
  if (type === 'RuntimeDefault') return 'runtime/default'
  return type === 'Localhost' && (localhostProfile ?? '') !== '' ? `${LOCALHOST}${localhostProfile}` : undefined
}

/** Undefined for what is none. */
function profileOf (annotation: string): SeccompProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default' || annotation === 'docker/default') return { type: 'RuntimeDefault' }
  return annotation.startsWith(LOCALHOST) && annotation !== LOCALHOST ? { type: 'Localhost', localhostProfile: annotation.slice(LOCALHOST.length) } : undefined
}

interface Holder { securityContext?: { seccompProfile?: SeccompProfile | undefined } | undefined }

/** Tells in a new pod by fields what annotations alone tell, and by annotations what fields alone do. In place. */
export function alignSeccomp ({ metadata, spec }: { metadata: ObjectMeta, spec: PodSpec }): void {
  const annotations = { ...metadata.annotations }
  const before = Object.keys(annotations).length
  const align = (key: string, holder: Holder): void => {
    const profile = holder.securityContext?.seccompProfile
    const told = Object.hasOwn(annotations, key) ? annotations[key] : undefined
    if (profile !== undefined && told === undefined) {
      const annotation = annotationOf(profile)
      if (annotation !== undefined) annotations[key] = annotation
    } else if (profile === undefined && told !== undefined) {
      const seccompProfile = profileOf(told)
      if (seccompProfile !== undefined) holder.securityContext = { ...holder.securityContext, seccompProfile }
    }
  }
  align(SECCOMP_OF_POD, spec as Holder)
  for (const [container] of containersOf(spec, '')) align(SECCOMP_OF_CONTAINER + container.name, container as Holder)
  if (Object.keys(annotations).length > before) metadata.annotations = annotations
}

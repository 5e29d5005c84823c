/** AppArmor profiles: their validation, and the annotations that preceded the fields. */
import { forbidden, invalid, required, tooLong } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { sameValue } from '../../../language/values.js'
import type { ObjectMeta } from '../../../meta/object.js'
import type { Warn } from '../../../rules/warned.js'
import type { PodSpec } from '../pod-spec.js'
import type { AppArmorProfile } from '../security-contexts.js'
import { APPARMOR } from './annotations.js'
import { containersOf } from './visit.js'

const MAX_NAME = 4095
/** Types that need no name. */
const PLAIN = ['RuntimeDefault', 'Unconfined']

export function validateAppArmorProfile (profile: AppArmorProfile, at: string, report: Report): void {
  const { type, localhostProfile } = profile
  const field = `${at}.localhostProfile`
  if (type !== 'Localhost') {
    if (localhostProfile !== undefined && PLAIN.includes(type)) {
      invalid(report, field, localhostProfile, 'can only be set when AppArmor type is Localhost')
    }
  } else if (localhostProfile === undefined || localhostProfile === '') {
    required(report, field, 'must be set when AppArmor type is Localhost')
  } else if (localhostProfile !== localhostProfile.trim()) {
    invalid(report, field, localhostProfile, 'must not be padded with whitespace')
  } else if (Buffer.byteLength(localhostProfile) > MAX_NAME) {
    tooLong(report, field, MAX_NAME)
  }
}

const LOCALHOST = 'localhost/'

/** Undefined for a malformed annotation. */
function profileOf (annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  return annotation.startsWith(LOCALHOST) && annotation !== LOCALHOST
    ? { type: 'Localhost', localhostProfile: annotation.slice(LOCALHOST.length) }
    : undefined
}

/** Each container with its annotation, if it has one, and the profile of that. */
function * annotated ({ metadata: { annotations }, spec }: Annotated) {
  if (annotations === undefined) return
  for (const [container, path] of containersOf(spec, 'spec')) {
    const key = APPARMOR + container.name
    const annotation = Object.hasOwn(annotations, key) ? annotations[key] : undefined
    const profile = annotation === undefined ? undefined : profileOf(annotation)
    if (profile !== undefined) yield { container, path, key, profile }
  }
}

interface Annotated { readonly metadata: Pick<ObjectMeta, 'annotations'>, readonly spec: PodSpec }

/**
 * Sets missing fields of a new pod from the annotations that preceded them. @returns warnings
 */
export function followAppArmorAnnotations (pod: Annotated): string[] {
  const { spec } = pod
  return [...annotated(pod)].flatMap(({ container, key, profile, path }) => {
    if (container.securityContext?.appArmorProfile !== undefined) return []
    if (!sameValue(spec.securityContext?.appArmorProfile, profile)) {
      container.securityContext = { ...container.securityContext, appArmorProfile: profile }
    }
    return [
      `metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field of ` +
        `${path}.securityContext instead`
    ]
  })
}

/** Annotations of a template whose containers have no equal field. */
export function warnOfAppArmor (annotations: ObjectMeta['annotations'], spec: PodSpec, at: string, warn: Warn): void {
  for (const { container, key, profile } of annotated({ metadata: { annotations }, spec })) {
    const field = container.securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile
    if (sameValue(field, profile)) continue
    warn(`${at}[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`)
  }
}

/** An annotation and a field of a new pod or of a template must agree. @param at path of the spec */
export function checkAppArmorMatches (
  { metadata: { annotations }, spec }: Annotated, at: string, report: Report
): void {
  if (annotations === undefined || spec.os?.name === 'windows') return
  for (const [{ name, securityContext }, path] of containersOf(spec, at)) {
    const key = APPARMOR + name
    const field = securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile
    if (field === undefined || !Object.hasOwn(annotations, key)) continue
    const profile = profileOf(annotations[key] ?? '')
    if (sameValue(field, profile)) continue
    forbidden(
      report, `${path}.securityContext.appArmorProfile.${field.type === profile?.type ? 'localhostProfile' : 'type'}`,
      'apparmor type in annotation and field must match'
    )
  }
}

/** Validation of annotations that affect pods. */
import { isOn } from '../../../gates.js'
import { forbidden, invalid } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import type { ObjectMeta } from '../../../meta/object.js'
import type { PodSpec } from '../pod-spec.js'
import type { SeccompProfile } from '../security-contexts.js'
import { checkRelativePath } from './paths.js'
import { checkTolerationAnnotation, TOLERATIONS } from './toleration-annotation.js'
import { containersOf } from './visit.js'

export const MIRROR = 'orch.io/config.mirror'
const DELETION_COST = 'controller.orch.io/pod-deletion-cost'
export const SECCOMP_OF_POD = 'seccomp.security.alpha.orch.io/pod'
export const SECCOMP_OF_CONTAINER = 'container.seccomp.security.alpha.orch.io/'
export const APPARMOR = 'container.apparmor.security.beta.orch.io/'
const LOCALHOST = 'localhost/'

type Annotations = ObjectMeta['annotations']

export function checkPodAnnotations (annotations: Annotations, spec: PodSpec, at: string, report: Report): void {
  let containers: ReadonlySet<string> | undefined
  for (const [key, value] of Object.entries(annotations ?? {})) {
    if (key === MIRROR) {
      if ((spec.nodeName ?? '') === '') {
        invalid(report, `${at}[${key}]`, value, 'must set spec.nodeName if mirror pod annotation is set')
      }
    } else if (key === TOLERATIONS) {
      checkTolerationAnnotation(value, at, report)
    } else if (key === DELETION_COST) {
      if (!isInt32(value) && isOn(report, 'PodDeletionCost')) {
        invalid(report, `${at}[${key}]`, value, 'must be a 32bit integer')
      }
    } else if (key === SECCOMP_OF_POD || key.startsWith(SECCOMP_OF_CONTAINER)) {
      checkSeccompProfile(value, `${at}.${key}`, report)
    } else if (key.startsWith(APPARMOR)) {
      const container = key.slice(APPARMOR.length)
      containers ??= new Set(containersOf(spec, '').map(([{ name }]) => name))
      if (!containers.has(container)) invalid(report, `${at}[${key}]`, container, 'container not found')
      checkAppArmorProfile(value, `${at}[${key}]`, report)
    }
  }
}

/** As upstream, leading zeros are valid only after a minus sign. */
function isInt32 (value: string): boolean {
  return /^(?:0|[1-9]\d*|-\d+)$/.test(value) && Number(value) >= -(2 ** 31) && Number(value) < 2 ** 31
}

/** @param value of the error: the whole annotation if that lists several profiles */
export function checkAppArmorProfile (profile: string, field: string, report: Report, value = profile): void {
  if (profile !== '' && profile !== 'runtime/default' && profile !== 'unconfined' && !profile.startsWith(LOCALHOST)) {
    invalid(report, field, value, `invalid AppArmor profile name: ${JSON.stringify(profile)}`)
  }
}

export function checkSeccompProfile (profile: string, field: string, report: Report): void {
  if (profile === 'runtime/default' || profile === 'docker/default' || profile === 'unconfined') return
  if (profile.startsWith(LOCALHOST)) checkRelativePath(profile.slice(LOCALHOST.length), field, report)
  else invalid(report, field, profile, 'must be a valid seccomp profile')
}

/** Mirror pod and AppArmor annotations are immutable. */
export function checkPodAnnotationChanges (
  annotations: Annotations = {}, old: Annotations = {}, at: string, report: Report
): void {
  for (const key of new Set([...Object.keys(annotations), ...Object.keys(old)])) {
    if (key !== MIRROR && !key.startsWith(APPARMOR)) continue
    const [value, before] = [annotations, old].map(all => Object.hasOwn(all, key) ? all[key] : undefined)
    const what = key === MIRROR ? 'mirror pod annotation' : 'AppArmor annotations'
    if (value !== before) {
      forbidden(report, `${at}[${key}]`, `may not ${before === undefined ? 'add' : 'remove or update'} ${what}`)
    }
  }
}

/** If both an annotation and a field set a seccomp profile, they must match. */
export function checkSeccompMatches (annotations: Annotations, spec: PodSpec, at: string, report: Report): void {
  if (annotations === undefined) return
  const check = (key: string, profile: SeccompProfile | undefined, path: string) => {
    if (profile !== undefined && Object.hasOwn(annotations, key)) {
      checkSame(annotations[key] ?? '', profile, `${path}.securityContext.seccompProfile`, report)
    }
  }
  check(SECCOMP_OF_POD, spec.securityContext?.seccompProfile, at)
  for (const [{ name, securityContext }, path] of containersOf(spec, at)) {
    check(SECCOMP_OF_CONTAINER + name, securityContext?.seccompProfile, path)
  }
}

const PROFILES: Readonly<Record<string, readonly string[]>> = {
  Unconfined: ['unconfined'], RuntimeDefault: ['runtime/default', 'docker/default']
}

function checkSame (annotation: string, { type, localhostProfile }: SeccompProfile, at: string, report: Report): void {
  const same = type === 'Localhost' ? annotation.startsWith(LOCALHOST) : PROFILES[type]?.includes(annotation) ?? true
  if (!same) forbidden(report, `${at}.type`, 'seccomp type in annotation and field must match')
  else if (type === 'Localhost' && annotation.slice(LOCALHOST.length) !== localhostProfile) {
    forbidden(report, `${at}.localhostProfile`, 'seccomp profile in annotation and field must match')
  }
}

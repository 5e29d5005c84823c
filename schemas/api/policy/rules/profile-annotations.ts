/** Validation of PodSecurityPolicy annotations for AppArmor and seccomp profiles: allowed ones and defaults. */
import type { Report } from '../../../language/types.js'
import { checkAppArmorProfile, checkSeccompProfile } from '../../core/rules/annotations.js'

const ANY = '*'
const [APPARMOR, SECCOMP] = ['apparmor.security.beta.orch.io', 'seccomp.security.alpha.orch.io']

/** Empty annotations count as unset. */
export function checkProfileAnnotations (
  annotations: Readonly<Record<string, string>>, at: string, report: Report
): void {
  const check = (
    key: string, profiles: (value: string) => readonly string[], checkProfile: typeof checkAppArmorProfile
  ): void => {
    const value = Object.hasOwn(annotations, key) ? annotations[key] ?? '' : ''
    if (value !== '') for (const profile of profiles(value)) checkProfile(profile, `${at}[${key}]`, report, value)
  }
  const alone = (value: string): string[] => [value]
  const all = (value: string): string[] => value.split(',')
  check(`${APPARMOR}/defaultProfileName`, alone, checkAppArmorProfile)
  check(`${APPARMOR}/allowedProfileNames`, all, checkAppArmorProfile)
  check(`${SECCOMP}/defaultProfileName`, alone, checkSeccompProfile)
  check(`${SECCOMP}/allowedProfileNames`, value => all(value).filter(profile => profile !== ANY), checkSeccompProfile)
}

/** AppArmor profiles: their validation, and the annotations that preceded the fields. */
import { invalid, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import type { AppArmorProfile } from '../security-contexts.js'

const MAX_NAME = 4095

export function validateAppArmorProfile (profile: AppArmorProfile, at: string, report: Report): void {
  const { type, localhostProfile } = profile
  const field = `${at}.localhostProfile`
  if (type !== 'Localhost') {
    if (localhostProfile !== undefined) {
      invalid(report, field, localhostProfile, 'can only be set when AppArmor type is Localhost')
    }
  } else if (localhostProfile === undefined || localhostProfile.trim() === '') {
    required(report, field, 'must be set when AppArmor type is Localhost')
  } else if (localhostProfile !== localhostProfile.trim()) {
    invalid(report, field, localhostProfile, 'must not be padded with whitespace')
  } else if (localhostProfile.length > MAX_NAME) {
    invalid(report, field, localhostProfile.slice(0, 100), `must have at most ${MAX_NAME} bytes`)
  }
}

/** `/version`: the release of the interface, and the package's own version. */
import { COMPILER, PLATFORM, RELEASE, releaseVersion } from '../schemas/meta/release.js'
import type { Info } from '../schemas/meta/version.js'

export function versionInfo (): Info {
  return {
    ...RELEASE,
    gitVersion: releaseVersion(),
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: '',
    compiler: COMPILER,
    platform: PLATFORM
  }
}

/** `/version`: the release of the interface, or the one that is emulated, and the package's own version. */
import { COMPILER, PLATFORM, partsOf, RELEASE_NAME, releaseVersion, type Release } from '../schemas/meta/release.js'
import type { Info } from '../schemas/meta/version.js'

export function versionInfo (release: Release): Info {
  const parts = partsOf(release)
  return {
    ...parts,
    ...release === RELEASE_NAME ? {} : emulation(parts),
    gitVersion: releaseVersion(release),
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: '',
    compiler: COMPILER,
    platform: PLATFORM
  }
}

/** The emulated release, and the oldest one that can read what this server stores: the one before it. */
function emulation ({ major, minor }: { readonly major: string, readonly minor: string }): Partial<Info> {
  return {
    emulationMajor: major, emulationMinor: minor, minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1)
  }
}

/** `/version`: the release of the interface, or the one that is emulated, and the package's own version. */
import { buildCommit } from '../schemas/package-files.js'
import { COMPILER, PLATFORM, partsOf, RELEASE_NAME, releaseVersion, type Release } from '../schemas/meta/release.js'
import type { Info } from '../schemas/meta/version.js'

/** @param reader the oldest release that can read what the server stores */
export function versionInfo (release: Release, reader: string): Info {
  const parts = partsOf(release)
  const { commit, state } = buildCommit()
  return {
    ...parts,
    ...release === RELEASE_NAME ? {} : emulation(parts, partsOf(reader)),
    gitVersion: releaseVersion(release),
    gitCommit: commit,
    gitTreeState: state,
    buildDate: '',
    goVersion: '',
    compiler: COMPILER,
    platform: PLATFORM
  }
}

interface Parts { readonly major: string, readonly minor: string }

const emulation = (emulated: Parts, reader: Parts): Partial<Info> => ({
  emulationMajor: emulated.major, emulationMinor: emulated.minor, minCompatibilityMajor: reader.major,
  minCompatibilityMinor: reader.minor
})

/** Versions for `/version`, `--version` and OpenAPI: of the Kubernetes API and of this package. */
import { packageVersion } from '../package-files.js'

/** The Kubernetes API. */
export const RELEASE = { major: '1', minor: '24' } as const
export const RELEASE_NAME = `${RELEASE.major}.${RELEASE.minor}` as const

/** Releases of the public project whose behaviour this server can have; the first is that of the interface. */
export const RELEASES = [RELEASE_NAME, '1.36'] as const
export type Release = typeof RELEASES[number]

/** What a server emulates by default: public names come with the clients of today. */
export const usualRelease = (compatNames: boolean | undefined): Release =>
  compatNames === true ? RELEASES.at(-1) ?? RELEASE_NAME : RELEASE_NAME

const minorOf = (release: string): number => Number(partsOf(release).minor)

/** Releases after the interface's, up to the newest that can be emulated. */
export const SINCE = Array.from(
  { length: minorOf(RELEASES.at(-1) ?? RELEASE_NAME) - minorOf(RELEASE_NAME) },
  (_, index) => `${RELEASE.major}.${minorOf(RELEASE_NAME) + 1 + index}`
)

/** Whether a release has what came with another one. */
export const reaches = (release: Release, since: string): boolean => minorOf(release) >= minorOf(since)

/**
 * The releases that may have to read what a server stores, by the one that it emulates, oldest first. Before 1.34
 * expressions lacked functions that the server accepts, so it cannot promise that.
 */
export const READERS: Readonly<Record<Release, readonly string[]>> =
  { [RELEASE_NAME]: [RELEASE_NAME], 1.36: ['1.34', '1.35', '1.36'] }

/** The one before the emulated release, if that may be named. */
export const usualReader = (release: Release): string => READERS[release].at(-2) ?? release

/** Parseable as a semantic version: that of the API, with the package's version as build metadata. */
export const releaseVersion = (release: Release = RELEASE_NAME): string => `v${release}.0+orch-${packageVersion()}`

/** Major and minor version of a release. */
export function partsOf (release: string): { readonly major: string, readonly minor: string } {
  const [major = '', minor = ''] = release.split('.')
  return { major, minor }
}

export const COMPILER = `node ${process.version}`
export const PLATFORM = `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`

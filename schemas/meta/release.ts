/** Which release this is: that of the interface it serves, and the package's own. For `/version`, `--version` and OpenAPI. */
import { createRequire } from 'node:module'

/** Of the interface. */
export const RELEASE = { major: '1', minor: '24' } as const
export const RELEASE_NAME = `${RELEASE.major}.${RELEASE.minor}`

let own: string | undefined

/** The version in package.json, read when first asked for; it stands beside the sources and above what is built and bundled. */
export function packageVersion (): string {
  const require = createRequire(import.meta.url)
  for (const path of ['../../package.json', '../../../package.json']) {
    if (own !== undefined) break
    try {
      const { name, version } = require(path) as { name?: string, version?: string } // a manifest, by its name
      if (name === 'orch-apiserver') own = version
    } catch {
      // not there: the other place is
    }
  }
  return own ??= '0.0.0'
}

/** As tools read a version: that of the interface, and the package's own behind it. */
export const releaseVersion = (): string => `v${RELEASE_NAME}.0+orch-${packageVersion()}`

/** What runs it, and on what. */
export const COMPILER = `node ${process.version}`
export const PLATFORM = `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`

/** `/version`: the release whose interface is served, and beside it the package's own version. */
import { createRequire } from 'node:module'

export const RELEASE = { major: '1', minor: '24' } as const

let own: string | undefined

/** The version in package.json, wherever the built files stand. */
export function packageVersion (): string {
  if (own === undefined) {
    const require = createRequire(import.meta.url)
    for (const path of ['../package.json', '../../package.json']) {
      try {
        const manifest = require(path) as { name?: string, version?: string }
        if (manifest.name === 'orch-apiserver') return own = manifest.version ?? '0.0.0'
      } catch {
        // not there: the other place is
      }
    }
  }
  return own ??= '0.0.0'
}

export function versionInfo (): object {
  return {
    ...RELEASE,
    gitVersion: `v${RELEASE.major}.${RELEASE.minor}.0+orch-${packageVersion()}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: '',
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`
  }
}

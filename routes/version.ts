/** `/version`: the release whose interface is served, and beside it the package's own version. */
import { packageVersion, RELEASE, RELEASE_NAME } from '../release.js'

export function versionInfo (): object {
  return {
    ...RELEASE,
    gitVersion: `v${RELEASE_NAME}.0+orch-${packageVersion()}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: '',
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`
  }
}

/** `orch_build_info`: release and platform of the server. Unknown labels are empty. */
import { COMPILER, PLATFORM, partsOf, releaseVersion, type Release } from '../../schemas/meta/release.js'
import type { Metrics } from '../shared/metric-series.js'

const LABELS = [
  'build_date', 'compiler', 'git_commit', 'git_tree_state', 'git_version', 'go_version', 'major', 'minor', 'platform'
]

export function buildInfo ({ gauge }: Pick<Metrics, 'gauge'>, release: Release): void {
  const { major, minor } = partsOf(release)
  gauge('orch_build_info', 'Always 1, by release and platform.', LABELS)
    .with('', COMPILER, '', '', releaseVersion(release), '', major, minor, PLATFORM).set(1)
}

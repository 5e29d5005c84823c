/** `orch_build_info`: which release runs, so that a picture can say since when. What this build does not know is empty. */
import { COMPILER, PLATFORM, RELEASE, releaseVersion } from '../../schemas/meta/release.js'
import type { Metrics } from '../metric-series.js'

const LABELS = ['build_date', 'compiler', 'git_commit', 'git_tree_state', 'git_version', 'go_version', 'major', 'minor', 'platform']

export function buildInfo ({ gauge }: Pick<Metrics, 'gauge'>): void {
  gauge('orch_build_info', 'Always 1, by release and platform.', LABELS)
    .with('', COMPILER, '', '', releaseVersion(), '', RELEASE.major, RELEASE.minor, PLATFORM).set(1)
}

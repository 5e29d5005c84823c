/** `orch_build_info`: which release runs, so that a picture can say since when. What this build does not know is empty. */
import { COMPILER, PLATFORM, RELEASE, releaseVersion } from '../../release.js'
import type { OrchServer } from '../server.js'

const LABELS = ['build_date', 'compiler', 'git_commit', 'git_tree_state', 'git_version', 'go_version', 'major', 'minor', 'platform']

export function buildInfo ({ gauge }: OrchServer['metrics']): void {
  gauge('orch_build_info', 'Always 1, by release and platform.', LABELS)
    .with('', COMPILER, '', '', releaseVersion(), '', RELEASE.major, RELEASE.minor, PLATFORM).set(1)
}

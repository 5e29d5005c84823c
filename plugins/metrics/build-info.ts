/** Metrics that say what the server is: its release and platform, what it emulates, and its feature gates. */
import { gatesOf, type Gates } from '../../schemas/gates.js'
import { buildCommit } from '../../schemas/package-files.js'
import { COMPILER, PLATFORM, partsOf, releaseVersion, type Release } from '../../schemas/meta/release.js'
import type { Metrics } from '../shared/metric-series.js'

const LABELS = [
  'build_date', 'compiler', 'git_commit', 'git_tree_state', 'git_version', 'go_version', 'major', 'minor', 'platform'
]

/** `orch_build_info`. Unknown labels are empty. */
export function buildInfo ({ gauge }: Pick<Metrics, 'gauge'>, release: Release): void {
  const { major, minor } = partsOf(release)
  const { commit, state } = buildCommit()
  gauge('orch_build_info', 'Always 1, by release, build and platform.', LABELS)
    .with('', COMPILER, commit, state, releaseVersion(release), '', major, minor, PLATFORM).set(1)
}

/** `version_info` and `kubernetes_feature_enabled`, which releases before 1.36 do not have. */
export function releaseInfo (
  { gauge }: Pick<Metrics, 'gauge'>, { release, enabled }: Pick<Gates, 'release' | 'enabled'>, reader: string
): void {
  gauge(
    'version_info', 'Always 1, by release of the binary, emulated one, and the oldest that can read what is stored.',
    ['binary', 'component', 'emulation', 'min_compat']
  ).with(release, 'orch', release, reader).set(1)
  const states = gauge('kubernetes_feature_enabled', 'Whether a feature gate is on, by its stage.', ['name', 'stage'])
  for (const [name, { stage }] of gatesOf(release)) {
    states.with(name, stage === 'GA' ? '' : stage.toUpperCase()).set(Number(enabled(name)))
  }
}

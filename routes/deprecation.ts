/**
 * Marks requests to deprecated versions: a Warning header with removal release and replacement, an audit annotation,
 * and a gauge.
 *
 * @see interface, 'Deprecation rules' 8
 */
import type { VerbRequest } from '../answers/answer.js'
import type { Representation } from '../schemas/resource.js'

const DEPRECATED = 'orch.io/deprecated'
const REMOVED_RELEASE = 'orch.io/removed-release'

/** The text of the Warning header. */
export function deprecationWarning (
  { apiVersion, kind, deprecation }: Pick<Representation, 'apiVersion' | 'kind' | 'deprecation'>
): string | undefined {
  if (deprecation === undefined) return undefined
  const { deprecated, removed, replacement, warning } = deprecation
  if (warning !== undefined) return warning
  return `${apiVersion} ${kind} is deprecated in v${deprecated}` +
    `+${removed === undefined ? '' : `, unavailable in v${removed}+`}` +
    `${replacement === undefined ? '' : `; use ${replacement}`}`
}

/** As `fastify.orchMetrics.gauge`. */
type DeclareGauge = (name: string, help: string, labels: readonly string[]) => {
  with: (...values: string[]) => { set: (value: number) => void }
}

/** Returns a function that records a request to a deprecated version. */
export function deprecations (declareGauge: DeclareGauge) {
  const gauge = declareGauge(
    'apiserver_requested_deprecated_apis',
    'Deprecated APIs that have been requested, by the release that removes them.',
    ['group', 'version', 'resource', 'subresource', 'removed_release']
  )
  return (request: VerbRequest, representation: Representation): void => {
    const { deprecation } = representation
    const sentence = deprecationWarning(representation)
    if (deprecation === undefined || sentence === undefined) return
    const { orch } = request
    orch.warnings.push(sentence)
    orch.annotations = {
      ...orch.annotations, [DEPRECATED]: 'true',
      ...(deprecation.removed === undefined ? {} : { [REMOVED_RELEASE]: deprecation.removed })
    }
    gauge.with(
      representation.group, representation.version, representation.plural, orch.info.subresource,
      deprecation.removed ?? ''
    )
      .set(1)
  }
}

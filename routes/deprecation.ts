/**
 * Requests to versions that are going: answered as others are, with a Warning that says until when and what to use
 * instead, an annotation in the audit event, and a gauge that stays.
 *
 * @see interface, 'Deprecation rules' 8
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Representation } from '../schemas/index.js'
import { warn } from './respond.js'

const DEPRECATED = 'orch.io/deprecated'
const REMOVED_RELEASE = 'orch.io/removed-release'

/** The sentence of the Warning header. */
export function deprecationWarning ({ apiVersion, kind, deprecation }: Pick<Representation, 'apiVersion' | 'kind' | 'deprecation'>): string | undefined {
  if (deprecation === undefined) return undefined
  const { deprecated, removed, replacement } = deprecation
  return `${apiVersion} ${kind} is deprecated in v${deprecated}+${removed === undefined ? '' : `, unavailable in v${removed}+`}${replacement === undefined ? '' : `; use ${replacement}`}`
}

/** Declares a gauge, as `fastify.orch.metrics` does. */
type DeclareGauge = (name: string, help: string, labels: readonly string[]) => { with: (...values: string[]) => { set: (value: number) => void } }

/** Tells of requests to deprecated versions. */
export function deprecations (declareGauge: DeclareGauge) {
  const gauge = declareGauge('apiserver_requested_deprecated_apis', 'Deprecated APIs that have been requested, by the release that removes them.', ['group', 'version', 'resource', 'subresource', 'removed_release'])
  return (request: FastifyRequest, reply: FastifyReply, shown: Representation): void => {
    const { deprecation } = shown
    const sentence = deprecationWarning(shown)
    if (deprecation === undefined || sentence === undefined) return
    const { orch } = request
    orch.warnings.push(sentence)
    warn(request, reply) // also where the answer is written past Fastify
    orch.annotations = { ...orch.annotations, [DEPRECATED]: 'true', ...(deprecation.removed === undefined ? {} : { [REMOVED_RELEASE]: deprecation.removed }) }
    gauge.with(shown.group, shown.version, shown.plural, orch.info.subresource, deprecation.removed ?? '').set(1)
  }
}

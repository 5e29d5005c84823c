/** The configuration of ResourceQuota: resources that require a quota. */
import { string, list, apiPackage, type Static } from '../../schemas/language/declare.js'
import type { ResourceQuota } from '../../schemas/api/core/resourcequotas.js'
import { SCOPES } from '../../schemas/api/core/rules/resourcequotas.js'
import { compareQuantities } from '../../schemas/meta/quantity.js'
import { required } from '../../schemas/rules/findings.js'
import { readConfiguration, type PluginConfiguration } from '../configuration.js'
import { limitsFor, type Evaluated } from './check.js'
import { scopesOf } from './scopes.js'

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist']

/** Declares the configuration; its message is the same under all three names. */
function declared ([group, version, name]: readonly [group: string, version: string, kind: string]) {
  const { message, kind } = apiPackage(group, version, `io.orch.resourcequota.${version}`)
  return kind(name, 'What is limited by default.', {
    limitedResources:
      list(null, 'Resources that need a quota.', message('LimitedResource', 'A resource that needs a quota.', {
        apiGroup: string(null, 'Group of the resource; empty for core.'),
        resource: string(null, 'The resource, in the plural.', { required: true }),
        matchContains: list(null, 'Parts of names of what is used.', 'string'),
        matchScopes:
          list(null, 'Scopes of objects.', message('MatchScope', 'A requirement on one scope of an object.', {
            scopeName: string(null, 'The scope.', { required: true, values: SCOPES, closed: true }),
            operator: string(null, 'How values are compared.', { required: true, values: OPERATORS, closed: true }),
            values: list(null, 'Values to compare with.', 'string')
          }, {
            validate: ({ operator, values = [] }, at, report) => {
              if (operator.endsWith('In') &&
        values.length === 0) required(report, `${at}.values`, 'In and NotIn compare with values')
            }
          }))
      }))
  })
}

const CONFIGURATIONS = ([
  ['apiserver.config.orch.io', 'v1', 'ResourceQuotaConfiguration'],
  ['resourcequota.admission.orch.io', 'v1beta1', 'Configuration'],
  ['resourcequota.admission.orch.io', 'v1alpha1', 'Configuration']
] as const).map(declared)

export type LimitedResource = NonNullable<Static<ReturnType<typeof declared>>['limitedResources']>[number]

/** @throws ConfigurationError */
export const limitedResources = (given: PluginConfiguration | undefined): readonly LimitedResource[] =>
  given === undefined ? [] : readConfiguration('ResourceQuota', given, CONFIGURATIONS).limitedResources ?? []

/** Why an object is refused because no quota covers its usage; undefined if allowed. */
export function uncovered (
  limited: readonly LimitedResource[], { group, resource }: { group: string, resource: string },
  { evaluator, object, now }: Evaluated, quotas: readonly ResourceQuota[]
): string | undefined {
  const applicable = limited.filter(rule => (rule.apiGroup ?? '') === group && rule.resource === resource)
  if (applicable.length === 0) return undefined
  const usage = evaluator.usage(object, now)
  const needs = Object.keys(usage).filter(name => compareQuantities(usage[name], '0') > 0 &&
    applicable.some(({ matchContains = [] }) => matchContains.some(part => name.includes(part))))
  const covered = new Set(quotas.flatMap(quota => limitsFor(quota, evaluator, object) ?? []))
  const missing = needs.filter(name => !covered.has(name)).sort()
  if (missing.length > 0) return `insufficient quota to consume: ${missing.join(',')}`
  const scopes = applicable.flatMap(({ matchScopes = [] }) => matchScopes)
    .filter(scope => evaluator.isIn(object, scope))
  const coveredScopes = new Set(
    quotas.flatMap(scopesOf).filter(scope => evaluator.isIn(object, scope)).map(({ scopeName }) => scopeName)
  )
  const uncoveredScopes = scopes.filter(({ scopeName }) => !coveredScopes.has(scopeName))
  return uncoveredScopes.length === 0
    ? undefined
    : `insufficient quota to match these scopes: [${uncoveredScopes
      .map(({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(' ')}]}`)
      .join(' ')}]`
}

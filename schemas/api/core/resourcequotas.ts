/** ResourceQuota (v1): limits on the total usage of a namespace. */
import { age, byFirst, name, since, text, until, type Column } from '../../columns.js'
import { map, one, string, list, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { Quantity, roundToMilli } from '../../meta/quantity.js'
import { resource } from '../../resource.js'
import { ATTRIBUTES, validateHard, validateQuotaSpec, validateQuotaUpdate } from './rules/resourcequotas.js'
import { kind, message } from './package.js'
import { quotaWarnings } from './rules/object-warnings.js'

/** The scope of claims has the name of its gate. */
const OF_CLAIMS = { since: ATTRIBUTES, values: [ATTRIBUTES] }

export type ScopedResourceSelectorRequirement = Static<typeof ScopedResourceSelectorRequirement>
export const ScopedResourceSelectorRequirement =
  message('ScopedResourceSelectorRequirement', 'A requirement on one scope of an object.', {
    scopeName: string(
      1, 'Scope the requirement is about, such as PriorityClass.',
      {
        required: true, mayBeEmpty: true, values: [
          'Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity'
        ], closed: 'ruled', laterValues: OF_CLAIMS
      }
    ),
    operator: string(2, 'How the values are compared: In, NotIn, Exists or DoesNotExist.', {
      required: true, mayBeEmpty: true, values: ['In', 'NotIn', 'Exists', 'DoesNotExist'], closed: 'ruled'
    }),
    values: list(3, 'Values to compare with, for In and NotIn.', 'string')
  })

export type ScopeSelector = Static<typeof ScopeSelector>
export const ScopeSelector = message('ScopeSelector', 'Scopes an object must be in, all of them.', {
  matchExpressions: list(1, 'Requirements on the scopes of an object.', ScopedResourceSelectorRequirement)
}, { structType: 'atomic' })

export type ResourceQuotaSpec = Static<typeof ResourceQuotaSpec>
export const ResourceQuotaSpec = message('ResourceQuotaSpec', 'Limits on a namespace and what they cover.', {
  hard: map(1, 'Most that may be used, by resource name.', Quantity),
  scopes: list(2, 'Scopes an object must be in, all of them, to count.', 'string', {
    immutable: 'ruled', values: [
      'Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity'
    ], closed: 'ruled', laterValues: OF_CLAIMS
  }),
  scopeSelector: one(3, 'Scopes an object must be in, with operators and values.', ScopeSelector, { pointer: true })
}, {
  defaults: ({ hard }) => { roundToMilli(hard) },
  validate: (spec, at, report) => { validateQuotaSpec(spec, at, report) },
  validateUpdate: (spec, old, at, report) => { validateQuotaUpdate(spec, old, at, report) }
})

export type ResourceQuotaStatus = Static<typeof ResourceQuotaStatus>
export const ResourceQuotaStatus = message('ResourceQuotaStatus', 'Limits on a namespace and its use.', {
  hard: map(1, 'Limits that are enforced, by resource name.', Quantity),
  used: map(2, 'Total in use in the namespace, by resource name.', Quantity)
}, {
  defaults: ({ hard, used }) => { for (const amounts of [hard, used]) roundToMilli(amounts) },
  validate: ({ hard, used }, at, report) => {
    validateHard(hard, `${at}.hard`, report)
    validateHard(used, `${at}.used`, report)
  }
})

export type ResourceQuota = Static<typeof ResourceQuota>
export const ResourceQuota = kind('ResourceQuota', 'Limits on the total resources of a namespace.', {
  metadata,
  spec: one(2, 'The limits to enforce.', ResourceQuotaSpec),
  status: one(3, 'Limits and use as observed; written by the system.', ResourceQuotaStatus)
})

const isLimit = ([name]: [string, string]): boolean => name.startsWith('limits.')

/** Usage and limit by resource, as `cpu: 1/2`. */
function use (
  { status: { hard = {}, used = {} } }: ResourceQuota, isIncluded: (entry: [string, string]) => boolean
): string {
  return Object.entries(hard).filter(isIncluded)
    .sort(byFirst).map(([name, most]) => `${name}: ${Object.hasOwn(used, name) ? used[name] : '0'}/${most}`).join(', ')
}

const columns: ReadonlyArray<Column<ResourceQuota>> = [
  name,
  until('1.33', age),
  text('Request', 'How much may be requested, and how much of it is.', quota => use(quota, entry => !isLimit(entry))),
  text('Limit', 'How high limits may be in all, and are.', quota => use(quota, isLimit)),
  since('1.33', age)
]

export const resourceQuotas = resource(ResourceQuota, {
  plural: 'resourcequotas',
  shortNames: ['quota'],
  notOnUpdate: ['generateName'],
  namespaced: true,
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'] }
  ],
  deleteReturns: 'Object',
  strategy: { warnings: quotaWarnings },
  columns
})

/** ResourceClaim: a claim to devices, which pods may use once it is allocated. */
import { age, join, name, text } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import type { VersionRules } from '../../strategy.js'
import { resource } from '../../resource.js'
import { CLAIM } from './conversion.js'
import { deprecated } from './deprecations.js'
import { forgetDeallocated, validateClaimStatus } from './rules/claim-status.js'
import { validateClaim } from './rules/claims.js'
import * as v1 from './v1.js'
import * as v1beta2 from './v1beta2.js'

const rules: VersionRules<v1.ResourceClaim> = {
  inSteps: (claim, old, report, subresource, gates) => {
    if (old === undefined) return validateClaim(claim.spec.devices, 'spec.devices', report, gates)
    return subresource === 'status' ? validateClaimStatus(claim, old, report) : undefined
  }
}

function stateOf ({ metadata, status: { allocation, reservedFor = [] } }: v1.ResourceClaim): string {
  const isLeaving = metadata.deletionTimestamp !== undefined
  const states = allocation === undefined
    ? isLeaving ? [] : ['pending']
    : ['allocated', ...reservedFor.length > 0 ? ['reserved'] : []]
  return join([...isLeaving ? ['deleted'] : [], ...states])
}

export const resourceClaims = resource(v1.ResourceClaim, {
  plural: 'resourceclaims',
  singular: 'resourceclaim',
  namespaced: true,
  deleteReturns: 'Object',
  gate: 'DynamicResourceAllocation',
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], keepsMetadata: OWN_METADATA }
  ],
  strategy: {
    prepareForUpdate: (claim, old, subresource) => { if (subresource === 'status') forgetDeallocated(claim, old) }
  },
  rules,
  columns: [name, text('State', 'Whether it is allocated and reserved.', stateOf), age],
  others: [
    { ...sameFields(v1beta2.ResourceClaim, v1.ResourceClaim), rules, deprecation: deprecated('v1beta2') },
    { ...CLAIM, rules, deprecation: deprecated('v1beta1') }
  ]
})

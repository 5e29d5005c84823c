/** ResourceClaimTemplate: what claims of pods are made of. */
import { age, name } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { validateAnnotations, validateLabels } from '../../meta/metadata.js'
import type { VersionRules } from '../../strategy.js'
import { resource } from '../../resource.js'
import { TEMPLATE } from './conversion.js'
import { deprecated } from './deprecations.js'
import { validateClaim } from './rules/claims.js'
import * as v1 from './v1.js'
import * as v1beta2 from './v1beta2.js'

const rules: VersionRules<v1.ResourceClaimTemplate> = {
  create: ({ spec: { metadata } }, report) => {
    validateLabels(metadata.labels, 'spec.metadata.labels', report)
    validateAnnotations(metadata.annotations, 'spec.metadata.annotations', report)
  },
  inSteps: ({ spec }, old, report, _subresource, gates) =>
    old === undefined ? validateClaim(spec.spec.devices, 'spec.spec.devices', report, gates) : undefined
}

export const resourceClaimTemplates = resource(v1.ResourceClaimTemplate, {
  plural: 'resourceclaimtemplates',
  singular: 'resourceclaimtemplate',
  namespaced: true,
  deleteReturns: 'Object',
  gate: 'DynamicResourceAllocation',
  rules,
  columns: [name, age],
  others: [
    {
      ...sameFields(v1beta2.ResourceClaimTemplate, v1.ResourceClaimTemplate), rules, deprecation: deprecated('v1beta2')
    },
    { ...TEMPLATE, rules, deprecation: deprecated('v1beta1') }
  ]
})

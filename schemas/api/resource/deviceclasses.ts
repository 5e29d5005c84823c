/** DeviceClass: devices with common settings, which an administrator defines. */
import { age, name } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import type { VersionRules } from '../../strategy.js'
import { resource } from '../../resource.js'
import { deprecated } from './deprecations.js'
import { validateClass } from './rules/classes.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'
import * as v1beta2 from './v1beta2.js'

const rules: VersionRules<v1.DeviceClass> = {
  inSteps: ({ spec }, old, report, _subresource, gates) => validateClass(spec, old?.spec, report, gates)
}

export const deviceClasses = resource(v1.DeviceClass, {
  plural: 'deviceclasses',
  singular: 'deviceclass',
  namespaced: false,
  deleteReturns: 'Object',
  gate: 'DynamicResourceAllocation',
  generation: ({ spec }) => spec,
  rules,
  columns: [name, age],
  others: [
    { ...sameFields(v1beta2.DeviceClass, v1.DeviceClass), rules, deprecation: deprecated('v1beta2') },
    { ...sameFields(v1beta1.DeviceClass, v1.DeviceClass), rules, deprecation: deprecated('v1beta1') }
  ]
})

/** ResourceSlice: devices that a driver offers, on a node or for several. */
import { age, name, text } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { timestamp } from '../../meta/time.js'
import type { VersionRules } from '../../strategy.js'
import { resource } from '../../resource.js'
import { SLICE } from './conversion.js'
import { deprecated } from './deprecations.js'
import { validateSlice } from './rules/slices.js'
import * as v1 from './v1.js'
import * as v1beta2 from './v1beta2.js'

const rules: VersionRules<v1.ResourceSlice> = {
  inSteps: ({ spec }, old, report) => validateSlice(spec, old?.spec, report)
}

/** Taints have been there since the write that brought them. */
function dateTaints ({ spec: { devices = [] } }: v1.ResourceSlice, now: string | undefined): void {
  for (const { taints = [] } of devices) for (const taint of taints) if (now !== undefined) taint.timeAdded ??= now
}

const warnings = ({ spec: { driver } }: v1.ResourceSlice): string[] => driver === driver.toLowerCase()
  ? []
  : [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`]

export const resourceSlices = resource(v1.ResourceSlice, {
  plural: 'resourceslices',
  singular: 'resourceslice',
  namespaced: false,
  deleteReturns: 'Object',
  gate: 'DynamicResourceAllocation',
  generation: ({ spec }) => spec,
  selectableFields: {
    'spec.nodeName': ({ spec: { nodeName = '' } }) => nodeName, 'spec.driver': ({ spec: { driver } }) => driver
  },
  indexedFields: ['spec.nodeName'],
  strategy: {
    prepareForCreate: slice => { dateTaints(slice, slice.metadata.creationTimestamp) },
    prepareForUpdate: (slice, _old, _subresource, _gates, now) => { dateTaints(slice, timestamp(now)) },
    warnings
  },
  rules,
  columns: [
    name,
    text('Node', 'Node of the devices.', ({ spec }) => spec.nodeName),
    text('Driver', 'Driver of the devices.', ({ spec }) => spec.driver),
    text('Pool', 'Pool that the devices are in.', ({ spec }) => spec.pool.name),
    age
  ],
  others: [
    { ...sameFields(v1beta2.ResourceSlice, v1.ResourceSlice), rules, deprecation: deprecated('v1beta2') },
    { ...SLICE, rules, deprecation: deprecated('v1beta1') }
  ]
})

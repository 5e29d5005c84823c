/** DeviceTaintRule: a taint of devices, beside those that their drivers add. Stored as v1alpha3. */
import { age, ageOf, name, text } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { timestamp } from '../../meta/time.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import type { VersionRules } from '../../strategy.js'
import { resource } from '../../resource.js'
import { validateTaintRule, validateTaintRuleStatus } from './rules/taint-rules.js'
import * as v1alpha3 from './v1alpha3.js'
import * as v1beta2 from './v1beta2.js'

const rules: VersionRules<v1alpha3.DeviceTaintRule> = {
  create: ({ spec }, report) => { validateTaintRule(spec, undefined, report) },
  update: ({ spec, status }, old, report, subresource) => {
    if (subresource === 'status') validateTaintRuleStatus(status, report)
    else validateTaintRule(spec, old.spec, report)
  }
}

/** Devices are tainted since the write that brought the taint. */
function dateTaint ({ spec: { taint } }: v1alpha3.DeviceTaintRule, now: string | undefined): void {
  if (now !== undefined) taint.timeAdded ??= now
}

export const deviceTaintRules = resource(v1alpha3.DeviceTaintRule, {
  plural: 'devicetaintrules',
  singular: 'devicetaintrule',
  namespaced: false,
  deleteReturns: 'Object',
  gate: 'DRADeviceTaintRules',
  generation: ({ spec }) => spec,
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], keepsMetadata: OWN_METADATA }
  ],
  strategy: {
    prepareForCreate: rule => { dateTaint(rule, rule.metadata.creationTimestamp) },
    prepareForUpdate: (rule, _old, _subresource, _gates, now) => { dateTaint(rule, timestamp(now)) }
  },
  rules,
  columns: [
    name,
    text('Key', 'Key of the taint.', ({ spec: { taint } }) => taint.key),
    text('Value', 'Value of the taint.', ({ spec: { taint } }) => taint.value),
    text('Effect', 'Effect of the taint.', ({ spec: { taint } }) => taint.effect),
    text('TimeAdded', 'Time since the devices are tainted.', ({ spec: { taint } }, ages) =>
      ageOf(taint.timeAdded, ages)),
    age
  ],
  deprecation: { deprecated: '1.36', removed: '1.39', replacement: 'resource.orch.io/v1beta2 DeviceTaintRule' },
  others: [{ ...sameFields(v1beta2.DeviceTaintRule, v1alpha3.DeviceTaintRule), rules }]
})

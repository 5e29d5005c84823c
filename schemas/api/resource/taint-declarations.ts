/** Taints of devices, and rules that taint devices of any driver, for all versions of resource.orch.io. */
import { list, one, string } from '../../language/declare.js'
import type { Message } from '../../language/types.js'
import { Condition } from '../../meta/answers.js'
import { metadata } from '../../meta/object.js'
import { Time } from '../../meta/scalars.js'
import { EFFECTS, packageOf, type DeviceVersion } from './claim-declarations.js'

const EMPTY = { required: true, mayBeEmpty: true } as const

export function declareTaint (version: DeviceVersion) {
  return packageOf(version).message('DeviceTaint', 'A reason not to use a device.', {
    key: string(1, 'Key of the taint.', EMPTY),
    value: string(2, 'Value of the taint.'),
    effect: string(3, 'What happens to claims that do not tolerate it: None, NoSchedule or NoExecute.', {
      ...EMPTY, values: EFFECTS, closed: 'ruled'
    }),
    timeAdded: one(4, 'Since when; by default the time of the write.', Time, { pointer: true })
  })
}

export function declareTaintRules<T> (version: DeviceVersion, DeviceTaint: Message<T>) {
  const { kind, message } = packageOf(version)

  const DeviceTaintSelector = message('DeviceTaintSelector', 'Devices that a rule taints; all members must match.', {
    driver: string(2, 'Driver of the devices.', { pointer: true }),
    pool: string(3, 'Pool of the devices.', { pointer: true }),
    device: string(4, 'Name of the devices in their pools.', { pointer: true })
  })

  const DeviceTaintRuleSpec = message('DeviceTaintRuleSpec', 'Which devices are tainted, and how.', {
    deviceSelector: one(1, 'The devices; unset for none, and empty for all.', DeviceTaintSelector, { pointer: true }),
    taint: one(2, 'The taint.', DeviceTaint, { required: true })
  })

  const DeviceTaintRuleStatus = message('DeviceTaintRuleStatus', 'What has come of a rule.', {
    conditions: list(1, 'What was found about the rule, such as EvictionInProgress.', Condition, {
      listType: 'map', listMapKeys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type'
    })
  })

  const DeviceTaintRule = kind('DeviceTaintRule', 'A taint of devices, which an administrator adds.', {
    metadata,
    spec: one(2, 'Which devices are tainted, and how.', DeviceTaintRuleSpec, { required: true, ruled: true }),
    status: one(3, 'What has come of it.', DeviceTaintRuleStatus, { ruled: true })
  })

  return { DeviceTaintSelector, DeviceTaintRuleSpec, DeviceTaintRuleStatus, DeviceTaintRule }
}

/** RuntimeClass: a container runtime that pods may select. */
import { age, name, text, type Column } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { resource } from '../../resource.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'
import { warnedLater } from '../../rules/warned.js'
import { warnOfLabels } from '../core/rules/object-warnings.js'

const columns: ReadonlyArray<Column<v1.RuntimeClass>> = [
  name, text('Handler', 'Runtime configuration on the nodes.', ({ handler }) => handler), age
]

const runtimeClassWarnings = warnedLater<v1.RuntimeClass>(({ scheduling }, _old, warn) => {
  warnOfLabels(Object.keys(scheduling?.nodeSelector ?? {}).map(key =>
    [key, `scheduling.nodeSelector[${key}]`] as const), warn)
})

export const runtimeClasses = resource(v1.RuntimeClass, {
  plural: 'runtimeclasses',
  namespaced: false,
  createOnUpdate: true,
  unconditionalUpdate: false,
  anyFinalizer: true,
  columns,
  strategy: { warnings: runtimeClassWarnings },
  others: [{
    ...sameFields(v1beta1.RuntimeClass, v1.RuntimeClass),
    deprecation: { deprecated: '1.22', removed: '1.25', replacement: 'node.orch.io/v1 RuntimeClass' }
  }]
})

/** FlowSchema: which requests belong to which priority level. */
import { age, name, NONE, text, type Column } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import { resource } from '../../resource.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'
import * as v1beta2 from './v1beta2.js'

const columns: ReadonlyArray<Column<v1beta1.FlowSchema>> = [
  name,
  text('PriorityLevel', 'Priority level of the requests.', ({ spec }) => spec.priorityLevelConfiguration.name),
  text('MatchingPrecedence', 'Order among schemas; the lowest match wins.', ({ spec }) => spec.matchingPrecedence ?? 0),
  text('DistinguisherMethod', 'How requests are divided into flows.', ({ spec }) =>
    spec.distinguisherMethod?.type ?? NONE),
  age,
  text('MissingPL', 'Whether the priority level is missing.', ({ status }) =>
    status.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?')
]

export const flowSchemas = resource(v1beta1.FlowSchema, {
  plural: 'flowschemas',
  namespaced: false,
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], keepsMetadata: OWN_METADATA }
  ],
  generation: ({ spec }) => spec,
  columns,
  tableRank: ({ spec }) => spec.matchingPrecedence ?? 0,
  deprecation: { deprecated: '1.23', removed: '1.26', replacement: 'flowcontrol.apiserver.orch.io/v1beta2 FlowSchema' },
  others: [
    {
      ...sameFields(v1beta2.FlowSchema, v1beta1.FlowSchema),
      deprecation: {
        deprecated: '1.26', removed: '1.29', replacement: 'flowcontrol.apiserver.orch.io/v1beta3 FlowSchema'
      }
    },
    { ...sameFields(v1.FlowSchema, v1beta1.FlowSchema), gate: '1.29' }
  ]
})

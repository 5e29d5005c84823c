/** PriorityLevelConfiguration: how many requests of a level run concurrently, and how many wait. */
import { age, name, NONE, text } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import { resource, type Column } from '../../resource.js'
import * as v1beta1 from './v1beta1.js'
import * as v1beta2 from './v1beta2.js'

/** Empty if the level has no queues. */
const queues = ({ spec }: v1beta1.PriorityLevelConfiguration): Partial<v1beta1.QueuingConfiguration> =>
  spec.limited?.limitResponse.queuing ?? {}

const columns: ReadonlyArray<Column<v1beta1.PriorityLevelConfiguration>> = [
  name,
  text('Type', 'Whether requests are limited.', ({ spec }) => spec.type),
  text('AssuredConcurrencyShares', 'Its share of the concurrency of the server.', ({ spec }) =>
    spec.limited?.assuredConcurrencyShares ?? NONE),
  text('Queues', 'Number of queues.', level => queues(level).queues ?? NONE),
  text('HandSize', 'Number of queues each flow may use.', level => queues(level).handSize ?? NONE),
  text('QueueLengthLimit', 'Most requests that may wait in one queue.', level =>
    queues(level).queueLengthLimit ?? NONE),
  age
]

export const priorityLevelConfigurations = resource(v1beta1.PriorityLevelConfiguration, {
  plural: 'prioritylevelconfigurations',
  namespaced: false,
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], keepsMetadata: OWN_METADATA }
  ],
  generation: ({ spec }) => spec,
  columns,
  deprecation: {
    deprecated: '1.23', removed: '1.26', replacement: 'flowcontrol.apiserver.orch.io/v1beta2 PriorityLevelConfiguration'
  },
  others: [sameFields(v1beta2.PriorityLevelConfiguration, v1beta1.PriorityLevelConfiguration)]
})

/** PriorityLevelConfiguration: how many requests of a level run concurrently, and how many wait. */
import { age, name, NONE, text, type Column } from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { OWN_METADATA } from '../../meta/status-metadata.js'
import type { ApiObject } from '../../meta/api-object.js'
import { resource } from '../../resource.js'
import { fromStored, toStored } from './shares.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'
import * as v1beta2 from './v1beta2.js'

type Level = v1.PriorityLevelConfiguration | v1beta1.PriorityLevelConfiguration

/** Empty if the level has no queues. */
const queues = ({ spec }: Level): Partial<v1beta1.QueuingConfiguration> => spec.limited?.limitResponse.queuing ?? {}

/** Columns of a version, which differ in the name of the shares. */
const columns = <T extends Level>(shares: string, of: (level: T) => number | undefined): ReadonlyArray<Column<T>> => [
  name,
  text('Type', 'Whether requests are limited.', ({ spec }) => spec.type),
  text(shares, 'Its share of the concurrency of the server.', level => of(level) ?? NONE),
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
  columns: columns<v1beta1.PriorityLevelConfiguration>('AssuredConcurrencyShares', ({ spec }) =>
    spec.limited?.assuredConcurrencyShares),
  deprecation: {
    deprecated: '1.23', removed: '1.26', replacement: 'flowcontrol.apiserver.orch.io/v1beta2 PriorityLevelConfiguration'
  },
  others: [
    {
      ...sameFields(v1beta2.PriorityLevelConfiguration, v1beta1.PriorityLevelConfiguration),
      deprecation: {
        deprecated: '1.26', removed: '1.29',
        replacement: 'flowcontrol.apiserver.orch.io/v1beta3 PriorityLevelConfiguration'
      }
    },
    {
      message: v1.PriorityLevelConfiguration,
      gate: '1.29',
      // Generic code passes these functions only objects of their versions.
      toStored: toStored as (object: ApiObject) => v1beta1.PriorityLevelConfiguration,
      fromStored,
      columns: columns<v1.PriorityLevelConfiguration>('NominalConcurrencyShares', ({ spec }) =>
        spec.limited?.nominalConcurrencyShares) as ReadonlyArray<Column<ApiObject>>
    }
  ]
})

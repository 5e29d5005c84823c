/** Event of events.orch.io/v1beta1; `../core/events.ts` converts it from the stored version. */
import { int32, one, string, apiPackage, type Static } from '../../language/declare.js'
import { MicroTime, Time } from '../../meta/scalars.js'
import { METADATA_TEXT, ObjectMeta } from '../../meta/object.js'
import { EventSource, ObjectReference } from '../core/references.js'

export const API_VERSION = 'events.orch.io/v1beta1'

const { message, kind } = apiPackage('events.orch.io', 'v1beta1', 'io.orch.api.events.v1beta1')

export type EventSeries = Static<typeof EventSeries>
export const EventSeries = message('EventSeries', 'An event that goes on happening.', {
  count: int32(1, 'How often it has happened.', { required: true }),
  lastObservedTime: one(2, 'When it was last seen.', MicroTime, { required: true })
})

export type Event = Static<typeof Event>
export const Event = kind('Event', 'What happened to an object.', {
  metadata: one(1, METADATA_TEXT, ObjectMeta, { written: true }),
  eventTime: one(2, 'When it was first observed.', MicroTime, { required: true }),
  series: one(3, 'Set while it goes on happening.', EventSeries, { pointer: true }),
  reportingController: string(4, 'Name of the controller that tells of it.'),
  reportingInstance: string(5, 'Which instance of it.'),
  action: string(6, 'What was done about the object.'),
  reason: string(7, 'Why, in one word for a machine.'),
  regarding: one(8, 'The object it happened to.', ObjectReference),
  related: one(9, 'Another object that has to do with it.', ObjectReference, { pointer: true }),
  note: string(10, 'A sentence for a person.'),
  type: string(11, 'Normal or Warning.'),
  deprecatedSource: one(12, 'Who tells of it, as core v1 says it.', EventSource),
  deprecatedFirstTimestamp: one(13, 'When it was first seen, as core v1 says it.', Time),
  deprecatedLastTimestamp: one(14, 'When it was last seen, as core v1 says it.', Time),
  deprecatedCount: int32(15, 'How often it has happened, as core v1 says it.')
})

/**
 * Event: stored as core v1, and also served as events.orch.io, which renames fields and validates new events more
 * strictly.
 */
import type { Ages } from '../../meta/duration.js'
import { ageOf, text, wideOnly, type Column } from '../../columns.js'
import { string, one, int32, type Static } from '../../language/declare.js'
import { MicroTime, Time } from '../../meta/scalars.js'
import { METADATA_TEXT, ObjectMeta } from '../../meta/object.js'
import { pathSegment } from '../../names.js'
import { resource } from '../../resource.js'
import * as v1 from '../events/v1.js'
import * as v1beta1 from '../events/v1beta1.js'
import { eventRules, strictEventRules } from './rules/events.js'
import { EventSource, ObjectReference } from './references.js'
import { kind, message } from './package.js'

export type EventSeries = Static<typeof EventSeries>
export const EventSeries = message('EventSeries', 'An event that goes on happening.', {
  count: int32(1, 'How often it has happened.'),
  lastObservedTime: one(2, 'When it was last seen.', MicroTime)
})

export type Event = Static<typeof Event>
export const Event = kind('Event', 'What happened to an object.', {
  metadata: one(1, METADATA_TEXT, ObjectMeta, { required: true }),
  involvedObject: one(2, 'The object it happened to.', ObjectReference, { required: true }),
  reason: string(3, 'Why, in one word for a machine.'),
  message: string(4, 'A sentence for a person.'),
  source: one(5, 'Who tells of it.', EventSource),
  firstTimestamp: one(6, 'When it was first seen.', Time),
  lastTimestamp: one(7, 'When it was last seen.', Time),
  count: int32(8, 'How often it has happened.'),
  type: string(9, 'Normal or Warning; others may come.'),
  eventTime: one(10, 'When it was first observed.', MicroTime),
  series: one(11, 'Set while it goes on happening.', EventSeries, { pointer: true }),
  action: string(12, 'What was done about the object.'),
  related: one(13, 'Another object that has to do with it.', ObjectReference, { pointer: true }),
  reportingComponent: string(14, 'Name of the controller that tells of it.', { written: true }),
  reportingInstance: string(15, 'Which instance of it.', { written: true })
})

function fromStored (event: Event): v1.Event {
  const {
    kind: _, apiVersion, involvedObject, message: note, source, firstTimestamp, lastTimestamp, count,
    reportingComponent, reportingInstance, series, ...same
  } = event
  return {
    ...same,
    kind: 'Event',
    apiVersion,
    series: series === undefined ? undefined : { count: series.count ?? 0, lastObservedTime: series.lastObservedTime },
    reportingController: reportingComponent,
    reportingInstance,
    regarding: involvedObject,
    note,
    deprecatedSource: source,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count
  }
}

function toStored (event: v1.Event): Event {
  const {
    regarding, note, deprecatedSource, deprecatedFirstTimestamp, deprecatedLastTimestamp, deprecatedCount,
    reportingController, reportingInstance, ...same
  } = event
  return {
    ...same,
    apiVersion: 'v1',
    involvedObject: regarding,
    message: note,
    source: deprecatedSource,
    firstTimestamp: deprecatedFirstTimestamp,
    lastTimestamp: deprecatedLastTimestamp,
    count: deprecatedCount,
    reportingComponent: reportingController,
    reportingInstance
  }
}

const HOUR = 3600
const firstSeen = ({ firstTimestamp, eventTime }: Event, ages: Ages): string => ageOf(firstTimestamp ?? eventTime, ages)
const lastSeen = (event: Event, ages: Ages): string => event.series !== undefined
  ? ageOf(event.series.lastObservedTime, ages)
  : event.lastTimestamp !== undefined ? ageOf(event.lastTimestamp, ages) : firstSeen(event, ages)

const columns: ReadonlyArray<Column<Event>> = [
  text<Event>('Last Seen', 'Time since it was last seen.', lastSeen),
  text<Event>('Type', 'Normal or Warning.', ({ type }) => type),
  text<Event>('Reason', 'Why, in one word.', ({ reason }) => reason),
  text<Event>('Object', 'The object it happened to.', ({ involvedObject: { kind = '', name = '' } }) =>
    kind.toLowerCase() + (name === '' ? '' : `/${name}`)),
  wideOnly(
    text<Event>('Subobject', 'The part of the object that is meant.', ({ involvedObject }) => involvedObject.fieldPath)
  ),
  wideOnly(text<Event>('Source', 'Who tells of it.', ({ source, reportingComponent = '', reportingInstance = '' }) => {
    const host = source.host ?? reportingInstance
    return (source.component ?? reportingComponent) + (host === '' ? '' : `, ${host}`)
  })),
  text<Event>('Message', 'A sentence for a person.', ({ message }) => message?.trim()),
  wideOnly(text<Event>('First Seen', 'Time since it was first seen.', firstSeen)),
  wideOnly(text<Event>('Count', 'How often it has happened.', ({ series, count }) =>
    series === undefined ? count ?? 1 : series.count ?? 0)),
  {
    name:
      'Name', type: 'string', format: 'name', description: 'Name of the object.', priority: 1, cell: ({ metadata }) =>
      metadata.name ?? ''
  }
]

/** Field labels of events.orch.io, mapped to those of core v1. */
const fieldLabels = {
  reason: 'reason',
  ...Object.fromEntries(['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(field =>
    [`regarding.${field}`, `involvedObject.${field}`])),
  reportingController: 'reportingComponent',
  type: 'type'
}

export const events = resource(Event, {
  plural: 'events',
  shortNames: ['ev'],
  namespaced: true,
  createOnUpdate: true,
  nameRule: pathSegment,
  anyFinalizer: true,
  notOnUpdate: ['generateName', 'fields'],
  rules: eventRules('reportingComponent'),
  ttlSeconds: HOUR,
  strategy: { dependents: 'none' },
  columns,
  selectableFields: {
    'involvedObject.kind': ({ involvedObject }) => involvedObject.kind ?? '',
    'involvedObject.namespace': ({ involvedObject }) => involvedObject.namespace ?? '',
    'involvedObject.name': ({ involvedObject }) => involvedObject.name ?? '',
    'involvedObject.uid': ({ involvedObject }) => involvedObject.uid ?? '',
    'involvedObject.apiVersion': ({ involvedObject }) => involvedObject.apiVersion ?? '',
    'involvedObject.resourceVersion': ({ involvedObject }) => involvedObject.resourceVersion ?? '',
    'involvedObject.fieldPath': ({ involvedObject }) => involvedObject.fieldPath ?? '',
    reason: ({ reason }) => reason ?? '',
    reportingComponent: ({ reportingComponent }) => reportingComponent ?? '',
    source: ({ source, reportingComponent }) => source.component ?? reportingComponent ?? '',
    type: ({ type }) => type ?? ''
  },
  others: [
    {
      message: v1.Event, toStored: event => toStored(event as v1.Event), fromStored: event =>
        ({ ...fromStored(event), apiVersion: v1.API_VERSION }), fieldLabels, rules: strictEventRules
    },
    {
      message: v1beta1.Event,
      toStored: event => toStored(event as v1.Event),
      fromStored: event => ({ ...fromStored(event), apiVersion: v1beta1.API_VERSION }),
      fieldLabels,
      rules: eventRules('reportingController'),
      deprecation: { deprecated: '1.22', removed: '1.25', replacement: 'events.orch.io/v1 Event' }
    }
  ]
})

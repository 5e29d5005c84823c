/** Validation of Events: for every version, and stricter for events.orch.io/v1. Field paths are those of core v1. */
import type { Report } from '../../../language/types.js'
import { sameValue } from '../../../language/values.js'
import { validateFinalizerDomains } from '../../../meta/metadata-rules.js'
import { dnsSubdomain, qualifiedName } from '../../../names.js'
import type { VersionRules } from '../../../strategy.js'
import { invalid, checkName, required } from '../../../rules/findings.js'
import type { Event } from '../events.js'

const MAX = 128
const MAX_MESSAGE = 1024
const TYPES: readonly (string | undefined)[] = ['Normal', 'Warning']

/**
 * For every version; `reporter` is its name of reportingController. Events with eventTime are of the new API, which
 * requires reporter and action.
 */
function validateEvent (event: Event, reporter: string, report: Report): void {
  const {
    involvedObject, eventTime, action = '', reason = '', message = '', reportingComponent = '', reportingInstance = ''
  } = event
  const { namespace: own = '' } = event.metadata
  const { namespace = '' } = involvedObject
  const fits = namespace === ''
    ? own === 'default' || (eventTime !== undefined && own === 'orch-system')
    : eventTime !== undefined || namespace === own
  if (!fits) invalid(report, 'involvedObject.namespace', namespace, 'does not match event.namespace')
  if (eventTime !== undefined) {
    const short = (field: string, value: string, most: number) => {
      if (Buffer.byteLength(value) > most) invalid(report, field, '', `can have at most ${most} characters`)
    }
    if (reportingComponent === '') required(report, reporter)
    checkName(report, reporter, reportingComponent, qualifiedName)
    for (const [field, value] of Object.entries({ reportingInstance, action, reason })) {
      if (value === '') required(report, field)
      short(field, value, MAX)
    }
    short('message', message, MAX_MESSAGE)
  }
  checkName(report, 'namespace', own, dnsSubdomain)
}

function validateSeries ({ series }: Event, report: Report): void {
  if (series === undefined) return
  if ((series.count ?? 0) < 2) invalid(report, 'series.count', '', 'should be at least 2')
  if (series.lastObservedTime === undefined) required(report, 'series.lastObservedTime')
}

/** Names and finalizers, which only the strict rules check. */
function validateNewMetadata ({ name = '', generateName = '', finalizers }: Event['metadata'], report: Report): void {
  if (generateName !== '') checkName(report, 'metadata.generateName', generateName, text => dnsSubdomain(text, true))
  checkName(report, 'metadata.name', name, dnsSubdomain)
  validateFinalizerDomains(finalizers, report)
}

/** @param reporter the version's name of reportingController */
export const eventRules = (reporter: string): VersionRules<Event> => ({
  create: (event, report) => { validateEvent(event, reporter, report) },
  update: (event, _old, report) => { validateEvent(event, reporter, report) }
})

const FROZEN = [
  'involvedObject', 'reason', 'message', 'source', 'firstTimestamp', 'lastTimestamp', 'count', 'type', 'eventTime',
  'action', 'related'
] as const

/** events.orch.io/v1: requires all new fields on create, and only the series may change. */
export const strictEventRules: VersionRules<Event> = {
  create: (event, report) => {
    validateEvent(event, 'reportingController', report)
    validateNewMetadata(event.metadata, report)
    validateSeries(event, report)
    if (event.eventTime === undefined) required(report, 'eventTime')
    if (!TYPES.includes(event.type)) invalid(report, 'type', '', `has invalid value: ${event.type ?? ''}`)
    for (const field of ['firstTimestamp', 'lastTimestamp'] as const) {
      if (event[field] !== undefined) invalid(report, field, '', 'needs to be unset')
    }
    if ((event.count ?? 0) !== 0) invalid(report, 'count', '', 'needs to be unset')
    if (event.source.component !== undefined || event.source.host !== undefined) {
      invalid(report, 'source', '', 'needs to be unset')
    }
  },
  update: (event, old, report) => {
    validateEvent(event, 'reportingController', report)
    validateFinalizerDomains(event.metadata.finalizers, report)
    if (!sameValue(event.series, old.series)) validateSeries(event, report)
    const frozen = (field: string, value: unknown, before: unknown) => {
      if (!sameValue(value, before)) invalid(report, field, value, 'field is immutable')
    }
    for (const field of FROZEN) frozen(field, event[field], old[field])
    frozen('reportingController', event.reportingComponent ?? '', old.reportingComponent ?? '')
    frozen('reportingInstance', event.reportingInstance ?? '', old.reportingInstance ?? '')
  }
}

/** Validation of CronJobs. */
import { isOn } from '../../../gates.js'
import { scheduleFault, isTimeZone } from '../cron.js'
import { invalid, notNegative, notSupported } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import type { CronJob, CronJobSpec } from '../v1.js'

/** Names of its jobs append a time. */
const NAME_MAX = 52

export function validateNewCronJob (
  { metadata: { name = '' }, spec: { timeZone, schedule } }: CronJob, report: Report
): void {
  if (name.length > NAME_MAX) invalid(report, 'metadata.name', name, `must be no more than ${NAME_MAX} characters`)
  checkTimeZone(timeZone, report)
  checkZoneOfSchedule(schedule, report)
}

export function validateCronJobUpdate (
  { spec: { timeZone, schedule } }: CronJob, { spec: old }: CronJob, report: Report
): void {
  if (schedule !== old.schedule && !old.schedule.includes('TZ')) checkZoneOfSchedule(schedule, report)
  if (timeZone !== old.timeZone) checkTimeZone(timeZone, report)
}

function checkZoneOfSchedule (schedule: string, report: Report): void {
  if (schedule.includes('TZ') && isOn(report, 'CronJobHasNoZoneInSchedule')) {
    invalid(report, 'spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')
  }
}

function checkTimeZone (zone: string | undefined, report: Report): void {
  if (zone === undefined) return
  const detail = zone === ''
    ? 'must not be empty'
    : zone.toLowerCase() === 'local'
      ? 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'
      : isTimeZone(zone)
        ? undefined
        : `unknown time zone ${zone}`
  if (detail !== undefined) invalid(report, 'spec.timeZone', zone, detail)
}

export function validateCronJobSpec (spec: CronJobSpec, at: string, report: Report): void {
  const { schedule, timeZone, jobTemplate: { spec: { selector, manualSelector } } } = spec
  const fault = schedule === '' ? undefined : scheduleFault(schedule)
  if (fault !== undefined) invalid(report, `${at}.schedule`, schedule, fault)
  if (schedule.includes('TZ') && timeZone !== undefined) {
    invalid(report, `${at}.schedule`, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule')
  }
  for (const field of ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'] as const) {
    notNegative(report, `${at}.${field}`, spec[field])
  }
  // Each job gets its own selector.
  if (selector !== undefined) {
    invalid(report, `${at}.jobTemplate.spec.selector`, selector, '`selector` will be auto-generated')
  }
  if (manualSelector === true) notSupported(report, `${at}.jobTemplate.spec.manualSelector`, true, ['false'])
}

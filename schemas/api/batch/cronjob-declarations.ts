/** CronJob, for both versions of batch. */
import { JobSpec } from './jobs.js'
import { validateCronJobSpec, validateCronJobUpdate, validateNewCronJob } from './rules/cronjobs.js'
import { ObjectReference } from '../core/references.js'
import { Time } from '../../meta/scalars.js'
import { apiPackage, bool, int32, int64, list, one, string } from '../../language/declare.js'
import { metadata, ObjectMeta } from '../../meta/object.js'

/** The messages of one version. */
export function declare (version: 'v1' | 'v1beta1') {
  const { kind, message } = apiPackage('batch', version, `io.orch.api.batch.${version}`)

  const JobTemplateSpec = message('JobTemplateSpec', 'Metadata and content of the jobs to make.', {
    metadata: one(1, 'Labels and annotations of the jobs.', ObjectMeta, { ruled: true }),
    spec: one(2, 'What pods the jobs run, and how often.', JobSpec)
  })

  const CronJobSpec = message('CronJobSpec', 'What job is made, and when.', {
    schedule: string(1, 'When jobs are made, in cron format.', { required: true }),
    timeZone: string(8, 'Name of the time zone of the schedule; by default that of the controller.', {
      pointer: true, gate: 'CronJobTimeZone'
    }),
    startingDeadlineSeconds: int64(2, 'Seconds a job may start late before it is skipped.', { pointer: true }),
    concurrencyPolicy: string(3, 'What to do while a job still runs: Allow, Forbid or Replace.', {
      values: ['Allow', 'Forbid', 'Replace'], ...(version === 'v1' ? { closed: true } as const : {}), default: 'Allow'
    }),
    suspend: bool(4, 'Whether no further jobs are made.', { pointer: true, default: false }),
    jobTemplate: one(5, 'Template of the jobs that are made.', JobTemplateSpec, { required: true }),
    successfulJobsHistoryLimit: int32(6, 'Number of succeeded jobs that are kept; by default 3.', {
      pointer: true, default: 3
    }),
    failedJobsHistoryLimit: int32(7, 'Number of failed jobs that are kept; by default 1.', {
      pointer: true, default: 1
    })
  }, {
    validate: (spec, at, report) => { validateCronJobSpec(spec, at, report) }
  })

  const CronJobStatus = message('CronJobStatus', 'What is observed of a cron job.', {
    active: list(1, 'Jobs that are running.', ObjectReference, { listType: 'atomic' }),
    lastScheduleTime: one(4, 'When a job was last made.', Time, { pointer: true }),
    lastSuccessfulTime: one(5, 'When a job last succeeded.', Time, { pointer: true })
  })

  const CronJob = kind('CronJob', 'Makes a job again and again, by a schedule.', {
    metadata,
    spec: one(2, 'What job is made, and when.', CronJobSpec),
    status: one(3, 'What is observed of the cron job; written by the system.', CronJobStatus)
  }, {
    validateCreate: (job, _at, report) => { validateNewCronJob(job, report) },
    validateUpdate: (job, old, _at, report) => { validateCronJobUpdate(job, old, report) }
  })

  return { JobTemplateSpec, CronJobSpec, CronJobStatus, CronJob }
}

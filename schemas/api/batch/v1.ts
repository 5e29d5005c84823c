/** CronJob of batch/v1. */
import type { Static } from '../../language/declare.js'
import { declare } from './cronjob-declarations.js'

export const API_VERSION = 'batch/v1'

export const { JobTemplateSpec, CronJobSpec, CronJobStatus, CronJob } = declare('v1')

export type JobTemplateSpec = Static<typeof JobTemplateSpec>
export type CronJobSpec = Static<typeof CronJobSpec>
export type CronJobStatus = Static<typeof CronJobStatus>
export type CronJob = Static<typeof CronJob>

export { Job, JobCondition, JobSpec, JobStatus, UncountedTerminatedPods } from './jobs.js'

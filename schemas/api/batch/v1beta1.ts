/** CronJob and JobTemplate of batch/v1beta1. */
import { one, apiPackage, type Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { declare } from './cronjob-declarations.js'

export const API_VERSION = 'batch/v1beta1'

export const { JobTemplateSpec, CronJobSpec, CronJobStatus, CronJob } = declare('v1beta1')

export type JobTemplateSpec = Static<typeof JobTemplateSpec>
export type CronJobSpec = Static<typeof CronJobSpec>
export type CronJobStatus = Static<typeof CronJobStatus>
export type CronJob = Static<typeof CronJob>

export type JobTemplate = Static<typeof JobTemplate>
/** Declared, but not served. */
export const JobTemplate = apiPackage('batch', 'v1beta1', 'io.orch.api.batch.v1beta1')
  .kind('JobTemplate', 'A template from which jobs are made.', {
    metadata,
    template: one(2, 'The jobs that are made from it.', JobTemplateSpec)
  })

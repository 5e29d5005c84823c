/** CronJob: creates jobs on a schedule. */
import type { Gates } from '../../gates.js'
import {
  age, ageOf, containerColumns, flag, integer, name, NONE, selector, since, text, UNSET, wideOnly, type Column
} from '../../columns.js'
import { sameFields } from '../../conversion.js'
import { dropOfTemplate } from '../core/rules/gated-fields.js'
import { templateWarnings } from '../core/rules/pod-warnings.js'
import { resource, NO_FIELD } from '../../resource.js'
import { ofChanges, warnedLater } from '../../rules/warned.js'
import { warnOfIndexes } from './jobs.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'

const columns: ReadonlyArray<Column<v1.CronJob>> = [
  name,
  text('Schedule', 'When jobs are made, in cron format.', ({ spec }) => spec.schedule),
  since('1.27', text('Timezone', 'Time zone of the schedule.', ({ spec }) => spec.timeZone ?? NONE)),
  flag('Suspend', 'Whether no further jobs are made.', ({ spec: { suspend } }) =>
    suspend === undefined ? UNSET : suspend ? 'True' : 'False'),
  integer('Active', 'Number of jobs that are running.', ({ status }) => status.active?.length),
  text('Last Schedule', 'Time since a job was last made.', ({ status }, ages) =>
    status.lastScheduleTime === undefined ? NONE : ageOf(status.lastScheduleTime, ages)),
  age,
  ...containerColumns<v1.CronJob>(({ spec }) => spec.jobTemplate.spec.template.spec).map(wideOnly),
  wideOnly(text('Selector', 'Labels of the pods of its jobs.', ({ spec }) => selector(spec.jobTemplate.spec.selector)))
]

const ofTemplate = templateWarnings<v1.CronJob>('spec.jobTemplate.spec.template', ({ spec }) =>
  spec.jobTemplate.spec.template, true)
const ofIndexes = ofChanges(warnedLater<v1.CronJob>(({ spec }, _old, warn) => {
  warnOfIndexes(spec.jobTemplate.spec, 'spec.jobTemplate.spec', warn)
}))
/** `spec.spec` is upstream's. */
const ZONE_IN_SCHEDULE =
  'CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see ' +
    'https://orch.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'

function cronJobWarnings (job: v1.CronJob, old: v1.CronJob | undefined, gates?: Gates): string[] {
  const ofZone = job.spec.schedule.includes('TZ') ? [ZONE_IN_SCHEDULE] : []
  return [...ofTemplate(job, old, gates), ...ofIndexes(job, old, gates), ...ofZone]
}

export const cronJobs = resource(v1.CronJob, {
  plural: 'cronjobs',
  shortNames: ['cj'],
  categories: ['all'],
  notOnUpdate: ['generateName'],
  namespaced: true,
  subresources: [{
    name: 'status', verbs: ['get', 'patch', 'update'], changes: ['status'], notOnUpdate: ['generateName', 'finalizers']
  }],
  columns,
  generation: ({ spec }) => spec,
  strategy: {
    dropGated: ({ spec }, old, gates) => { dropOfTemplate(spec.jobTemplate, old?.spec.jobTemplate, gates) },
    warnings: cronJobWarnings
  },
  others: [{
    ...sameFields(v1beta1.CronJob, v1.CronJob),
    dependents: 'orphaned', // clients of v1beta1 rely on it
    deprecation: { deprecated: '1.21', removed: '1.25', replacement: 'batch/v1 CronJob' },
    fieldLabels: { 'status.successful': NO_FIELD }, // accepted, as upstream
    unsupportedField: label =>
      `"${label}" is not a known field selector: only "metadata.name", "metadata.namespace", "status.successful"`
  }]
})

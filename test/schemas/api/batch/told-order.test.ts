/** Causes of jobs and of what makes them come in the order of the convention. */
import t from 'tap'
import { cronJobs } from '../../../../schemas/api/batch/cronjobs.js'
import { jobs } from '../../../../schemas/api/batch/jobs.js'
import { applyDefaults } from '../../../../schemas/index.js'
import { tells } from '../cases.js'

const T = 'spec.template'
const pods = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] }
const job = { metadata: { name: 'import', namespace: 'default', uid: 'u-1' }, spec: { template: { spec: pods } } }
const create = (object: Parameters<NonNullable<typeof jobs.strategy.prepareForCreate>>[0]) => jobs.strategy.prepareForCreate?.(object)

t.test('of jobs: what is generated, numbers, the template, the selector, the name', async t => {
  tells(t, jobs, job, { 'spec.ttlSecondsAfterFinished': -1, 'spec.parallelism': -1, 'spec.completionMode': 'Counted', [`${T}.spec.restartPolicy`]: 'Always', [`${T}.spec.containers[0].image`]: '' },
    ['spec.parallelism', 'spec.ttlSecondsAfterFinished', 'spec.completionMode', `${T}.spec.containers[0].image`, `${T}.spec.restartPolicy`], undefined, create)
  tells(t, jobs, job, { [`${T}.metadata.labels`]: { 'job-name': 'other', 'controller-uid': 'other' }, 'spec.backoffLimit': -1 },
    [`${T}.metadata.labels[controller-uid]`, `${T}.metadata.labels[job-name]`, 'spec.backoffLimit', `${T}.metadata.labels`], undefined, create)
  tells(t, jobs, job, { 'spec.completionMode': 'Indexed', 'spec.completions': 3, 'metadata.name': 'a.b', [`${T}.spec.containers[0].image`]: '' }, [`${T}.spec.containers[0].image`, 'metadata.name'], undefined, create)
})

t.test('of jobs that change: what is wrong, then what may not change', async t => {
  const selected = { ...job, spec: { manualSelector: true, selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } }, spec: pods } } }
  tells(t, jobs, selected, { 'spec.completionMode': 'Indexed', 'spec.completions': 3, 'spec.backoffLimit': -1, [`${T}.spec.nodeName`]: 'n' }, ['spec.backoffLimit', 'spec.completions', T, 'spec.completionMode'], selected)
})

t.test('of cron jobs', async t => {
  const J = 'spec.jobTemplate.spec'
  const cronJob = { metadata: { name: 'backup', namespace: 'default' }, spec: { schedule: '@daily', jobTemplate: { spec: { template: { spec: pods } } } } }
  const change = {
    'spec.failedJobsHistoryLimit': -1, [`${J}.selector`]: {}, [`${J}.parallelism`]: -1, [`${J}.template.spec.restartPolicy`]: 'Always', 'spec.concurrencyPolicy': 'Queue', 'spec.timeZone': '', 'spec.startingDeadlineSeconds': -1, 'spec.schedule': 'x'
  }
  const told = ['spec.schedule', 'spec.startingDeadlineSeconds', 'spec.timeZone', 'spec.concurrencyPolicy', `${J}.parallelism`, `${J}.template.spec.restartPolicy`, `${J}.selector`, 'spec.failedJobsHistoryLimit']
  tells(t, cronJobs, cronJob, { ...change, 'metadata.name': 'x'.repeat(53) }, [...told, 'metadata.name'])
  tells(t, cronJobs, cronJob, change, told, cronJob)
})

t.test('a name that is too long for a label is told of the pods, whose label it is', async t => {
  tells(t, jobs, job, { 'metadata.name': 'x'.repeat(64) }, [`${T}.labels`], undefined, object => {
    create(object)
    applyDefaults(jobs.stored.message, object)
  })
})

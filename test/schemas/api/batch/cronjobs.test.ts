import t from 'tap'
import { validateObject } from '../../../../schemas/language/validation.js'
import { clone, sameValue } from '../../../../schemas/language/values.js'
import { cronJobs } from '../../../../schemas/api/batch/cronjobs.js'
import { made, creates, updates, type Row } from '../cases.js'

const J = 'spec.jobTemplate.spec'
const cronJob = {
  metadata: { name: 'backup', namespace: 'default' },
  spec: {
    schedule: '*/5 * * * *',
    jobTemplate: {
      spec: { template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'main', image: 'busybox' }] } } }
    }
  }
}

t.test('the rules of a new cron job', async t => {
  creates(t, cronJobs, cronJob, [
    [{}],
    [{ 'metadata.name': 'x'.repeat(52) }],
    [{ 'metadata.name': 'x'.repeat(53) }, 'Invalid metadata.name'],
    [{ 'spec.concurrencyPolicy': 'Queue' }, 'NotSupported spec.concurrencyPolicy'],
    [
      { 'spec.startingDeadlineSeconds': -1, 'spec.successfulJobsHistoryLimit': -1, 'spec.failedJobsHistoryLimit': -1 },
      'Invalid spec.startingDeadlineSeconds', 'Invalid spec.successfulJobsHistoryLimit',
      'Invalid spec.failedJobsHistoryLimit'
    ],
    [{ 'spec.successfulJobsHistoryLimit': 0 }],
    [{ [`${J}.selector`]: { matchLabels: { a: 'b' } } }, `Invalid ${J}.selector`],
    [{ [`${J}.manualSelector`]: true }, `NotSupported ${J}.manualSelector`],
    [{ [`${J}.manualSelector`]: false }],
    [{ [`${J}.completions`]: -1 }, `Invalid ${J}.completions`],
    [{ [`${J}.template.spec.restartPolicy`]: 'Always' }, `Required ${J}.template.spec.restartPolicy`],
    [{ [`${J}.template.spec.containers[0].image`]: '' }, `Required ${J}.template.spec.containers[0].image`],
    [{ [`${J}.template.metadata.labels`]: { a: 'b c' } }, `Invalid ${J}.template.labels`]
  ])
})

t.test('schedules', async t => {
  const valid = [
    '0 0 1 1 0', '*/15 0-6,18-23 ? jan-DEC mon,FRI', '5/10 * * * *', '0-30/5 * * * *', '59 23 31 12 6', '@hourly',
    '@daily', '@weekly', '@monthly', '@yearly', '@annually', '@midnight', '@every 1h30m', 'TZ=UTC 0 0 * * *',
    'CRON_TZ=Europe/Berlin @daily', '  0 0 * * *  ', '1,,2 * * * *'
  ]
  const wrong = [
    'x', '* * * *', '* * * * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * 32 * *', '* * * 13 *', '* * * * 7',
    '5-1 * * * *', '*/0 * * * *', '*/x * * * *', '1/2/3 * * * *', '1-2-3 * * * *', '-1 * * * *', '* * * foo *',
    '@sometimes', '@every', '@every x', '@Hourly', 'TZ=Mars/Phobos 0 0 * * *', 'TZ=UTC', ' '
  ]
  creates(t, cronJobs, cronJob, [
    [{ 'spec.schedule': '' }, 'Required spec.schedule'],
    ...valid.map(schedule => [{ 'spec.schedule': schedule }] satisfies Row),
    ...wrong.map(schedule => [{ 'spec.schedule': schedule }, 'Invalid spec.schedule'] satisfies Row)
  ])
})

t.test('time zones', async t => {
  creates(t, cronJobs, cronJob, [
    [{ 'spec.timeZone': 'Europe/Berlin' }],
    [{ 'spec.timeZone': '' }, 'Invalid spec.timeZone'],
    [{ 'spec.timeZone': 'Local' }, 'Invalid spec.timeZone'],
    [{ 'spec.timeZone': 'Mars/Phobos' }, 'Invalid spec.timeZone'],
    [{ 'spec.timeZone': '+01:00' }, 'Invalid spec.timeZone'],
    ...['US/Pacific', 'Etc/GMT+1', 'GB-Eire'].map(zone => [{ 'spec.timeZone': zone }] satisfies Row),
    ...[
      'europe/berlin', 'EUROPE/BERLIN', 'us/pacific'
    ].map(zone => [{ 'spec.timeZone': zone }, 'Invalid spec.timeZone'] satisfies Row),
    [{ 'spec.timeZone': 'UTC', 'spec.schedule': 'TZ=UTC 0 0 * * *' }, 'Invalid spec.schedule']
  ])
})

t.test('every field of a cron job is mutable, and old names stay valid', async t => {
  updates(t, cronJobs, {
    ...cronJob,
    metadata: { ...cronJob.metadata, name: 'x'.repeat(60) },
    spec: { ...cronJob.spec, timeZone: 'Mars/Phobos' }
  }, [
    [{ 'spec.schedule': '@daily', [`${J}.template.spec.containers[0].image`]: 'b', 'spec.suspend': true }],
    [{ 'spec.timeZone': 'Mars/Deimos' }, 'Invalid spec.timeZone'],
    [{ 'spec.schedule': 'x' }, 'Invalid spec.schedule']
  ])
})

t.test('a valid cron job is one in the other version, and the same when it comes back', async t => {
  const object = made(cronJobs, cronJob)
  for (const { conversion } of cronJobs.representations) {
    const back = conversion === undefined ? object : conversion.toStored(conversion.fromStored(clone(object)))
    t.ok(sameValue(back, object))
    t.same(validateObject(cronJobs.stored, back), [])
  }
})

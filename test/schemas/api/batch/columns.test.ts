import t from 'tap'
import type { Representation } from '../../../../schemas/resource.js'
import { findResource } from '../../find-resource.js'
import { parseFieldSelector, fieldValues } from '../../../../schemas/selectors/fields.js'
import { cronJobs } from '../../../../schemas/api/batch/cronjobs.js'
import { jobs } from '../../../../schemas/api/batch/jobs.js'
import { made, minutesAgo, cellsOf } from '../cells.js'

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'pi', image: 'perl:5.34' }] } }
const selector = { matchLabels: { 'controller-uid': 'u' } }

t.test('a job has columns for its completions and its duration', async t => {
  t.same(cellsOf(jobs, {
    spec: { completions: 3, selector, template }, status: { succeeded: 1, startTime: minutesAgo(90) }
  }),
  {
    Name: 'web',
    Completions: '1/3',
    Duration: '90m',
    Age: '24h',
    Containers: 'pi',
    Images: 'perl:5.34',
    Selector: 'controller-uid=u'
  })
  t.hasStrict(
    cellsOf(jobs, {
      spec: { template }, status: { succeeded: 1, startTime: minutesAgo(90), completionTime: minutesAgo(85) }
    }),
    { Completions: '1/1', Duration: '5m', Selector: '<none>' }
  )
  t.hasStrict(
    cellsOf(jobs, { spec: { parallelism: 4, template } }), { Completions: '0/1 of 4', Duration: '' },
    'pods that take work from a queue'
  )
  t.hasStrict(cellsOf(jobs, { spec: { parallelism: 1, template } }), { Completions: '0/1' })
})

t.test('a cron job has columns for its schedule', async t => {
  const spec = { schedule: '*/5 * * * *', jobTemplate: { spec: { template } } }
  const expected = {
    Name: 'web',
    Schedule: '*/5 * * * *',
    Suspend: 'False',
    Active: 0,
    'Last Schedule': '<none>',
    Age: '24h',
    Containers: 'pi',
    Images: 'perl:5.34',
    Selector: '<none>'
  }
  for (const representation of cronJobs.representations) {
    t.same(cellsOf(representation, { spec }), expected, representation.apiVersion)
  }
  const active = [{ kind: 'Job', name: 'web-1' }, { kind: 'Job', name: 'web-2' }]
  t.hasStrict(
    cellsOf(cronJobs, { spec: { ...spec, suspend: true }, status: { active, lastScheduleTime: minutesAgo(3) } }),
    { Suspend: 'True', Active: 2, 'Last Schedule': '3m' }
  )
})

t.test('jobs can be selected by how many pods have succeeded', async t => {
  const values = fieldValues(jobs.stored, made(jobs.stored, { spec: { template }, status: { succeeded: 2 } }))
  t.ok(parseFieldSelector('status.successful=2', jobs.stored).matches(values))
  t.ok(parseFieldSelector('status.successful=0', jobs.stored).matches(
    fieldValues(jobs.stored, made(jobs.stored, { spec: { template } }))
  ))
  t.throws(
    () => parseFieldSelector('spec.completions=1', jobs.stored),
    { message: 'field label "spec.completions" not supported for Job' }
  )
})

t.test('cron jobs of the older version have a field to select by that none of them has', async t => {
  const values = fieldValues(
    cronJobs.stored, made(cronJobs.stored, { spec: { schedule: '@daily', jobTemplate: { spec: { template } } } })
  )
  const v1beta1 = findResource('batch', 'v1beta1', 'cronjobs') as Representation // it is served
  t.ok(parseFieldSelector('status.successful=', v1beta1).matches(values))
  t.notOk(parseFieldSelector('status.successful=1', v1beta1).matches(values))
  t.ok(parseFieldSelector('metadata.name=web,metadata.namespace=shop', v1beta1).matches(values))
  t.throws(
    () => parseFieldSelector('status.successful=', cronJobs.stored),
    { message: '"status.successful" is not a known field selector: only "metadata.name", "metadata.namespace"' }
  )
  t.throws(() => parseFieldSelector('spec.x=', v1beta1), { message: /^"spec.x" is not a known field selector/ })
})

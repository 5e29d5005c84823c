import { DEFAULT_GATES } from '../../../../schemas/gates.js'
import t from 'tap'
import { jobs, type Job } from '../../../../schemas/api/batch/jobs.js'
import { creates, made, updates } from '../cases.js'

const T = 'spec.template'
const job = {
  metadata: { name: 'import', namespace: 'default', uid: 'u-1' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } }
}
const create = (object: Parameters<NonNullable<typeof jobs.strategy.prepareForCreate>>[0]) =>
  jobs.strategy.prepareForCreate?.(object, undefined, DEFAULT_GATES)

t.test('the rules of a new job', async t => {
  creates(t, jobs, job, [
    [{}],
    [
      {
        'spec.parallelism': 0,
        'spec.completions': 0,
        'spec.backoffLimit': 0,
        'spec.activeDeadlineSeconds': 0,
        'spec.ttlSecondsAfterFinished': 0
      }
    ],
    ...['parallelism', 'completions', 'backoffLimit', 'activeDeadlineSeconds', 'ttlSecondsAfterFinished'].map(
      field => [{ [`spec.${field}`]: -1 }, `Invalid spec.${field}`] as const
    ),
    [{ [`${T}.spec.restartPolicy`]: undefined }, `Required ${T}.spec.restartPolicy`],
    [{ [`${T}.spec.restartPolicy`]: 'Always' }, `Required ${T}.spec.restartPolicy`],
    [{ [`${T}.spec.restartPolicy`]: 'OnFailure' }],
    [{ [`${T}.spec.restartPolicy`]: 'Maybe' }, `NotSupported ${T}.spec.restartPolicy`],
    [{ [`${T}.spec.activeDeadlineSeconds`]: 3 }],
    [{ [`${T}.spec.containers[0].image`]: '' }, `Required ${T}.spec.containers[0].image`]
  ], create)
})

t.test('successes are counted by index', async t => {
  creates(t, jobs, job, [
    [{ 'spec.completionMode': 'Indexed', 'spec.completions': 3 }],
    [{ 'spec.completionMode': 'Indexed', 'spec.parallelism': 1 }, 'Required spec.completions'],
    [
      { 'spec.completionMode': 'Indexed', 'spec.completions': 3, 'spec.parallelism': 100001 },
      'Invalid spec.parallelism'
    ],
    [{ 'spec.completionMode': 'Indexed', 'spec.completions': 3, 'metadata.name': 'a.b' }, 'Invalid metadata.name'],
    [
      { 'spec.completionMode': 'Indexed', 'spec.completions': 11, 'metadata.name': 'x'.repeat(61) },
      'Invalid metadata.name'
    ],
    [{ 'metadata.name': 'a.b' }],
    [{ 'spec.completionMode': 'Counted' }, 'NotSupported spec.completionMode']
  ], create)
})

t.test('pods are known by the uid of their job', async t => {
  const object = made(jobs, job) as Job
  create(object)
  t.same(object.spec.selector, { matchLabels: { 'controller-uid': 'u-1' } })
  t.same(object.spec.template.metadata.labels, { 'controller-uid': 'u-1', 'job-name': 'import' })
  const again = structuredClone(object)
  create(again)
  t.same(again, object)
  again.metadata.name = 'import-2'
  create(again)
  t.equal(
    again.spec.template.metadata.labels?.['job-name'], 'import-2', 'another name is tried when a generated one is taken'
  )
  creates(t, jobs, job, [
    [{ 'spec.selector': { matchLabels: { app: 'x' } } }, `Invalid ${T}.metadata.labels`, 'Invalid spec.selector'],
    [
      { 'spec.selector': { matchLabels: { 'controller-uid': 'other' } } }, `Invalid ${T}.metadata.labels`,
      'Invalid spec.selector'
    ],
    [
      { [`${T}.metadata.labels`]: { 'controller-uid': 'other' } }, `Invalid ${T}.metadata.labels`,
      `Invalid ${T}.metadata.labels[controller-uid]`
    ],
    [{ [`${T}.metadata.labels`]: { 'job-name': 'other' } }, `Invalid ${T}.metadata.labels[job-name]`],
    [{ 'spec.manualSelector': true }, 'Required spec.selector', `Invalid ${T}.metadata.labels`],
    [
      {
        'spec.manualSelector': true,
        'spec.selector': { matchLabels: { app: 'x' } },
        [`${T}.metadata.labels`]: { app: 'x' }
      }
    ],
    [
      {
        'spec.manualSelector': true,
        'spec.selector': { matchLabels: { app: 'y' } },
        [`${T}.metadata.labels`]: { app: 'x' }
      },
      `Invalid ${T}.metadata.labels`
    ]
  ], create)
  creates(t, jobs, job, [
    [
      { 'spec.selector': { matchLabels: { 'controller-uid': 'u-1' } } },
      `Required ${T}.metadata.labels[controller-uid]`, `Required ${T}.metadata.labels[job-name]`,
      `Invalid ${T}.metadata.labels`
    ]
  ])
})

const selected = {
  ...job,
  spec: {
    manualSelector: true,
    completions: 2,
    selector: { matchLabels: { app: 'x' } },
    template: { metadata: { labels: { app: 'x' } }, spec: job.spec.template.spec }
  }
}

t.test('the template, completions and selector of a job are immutable', async t => {
  updates(t, jobs, selected, [
    [
      {
        'spec.parallelism': 5,
        'spec.suspend': true,
        'spec.backoffLimit': 1,
        'spec.ttlSecondsAfterFinished': 3,
        'spec.activeDeadlineSeconds': 3
      }
    ],
    [{ 'spec.completions': 3 }, 'Invalid spec.completions'],
    [{ 'spec.completionMode': 'Indexed' }, 'Invalid spec.completionMode'],
    [{ 'spec.selector.matchLabels': { app: 'y' } }, 'Invalid spec.selector', `Invalid ${T}.metadata.labels`],
    [{ [`${T}.spec.containers[0].image`]: 'b' }, `Invalid ${T}`],
    [{ [`${T}.spec.nodeSelector`]: { a: 'b' } }, `Invalid ${T}`]
  ])
  const tracked = made(jobs, {
    ...job, metadata: { ...job.metadata, annotations: { 'batch.orch.io/job-tracking': '', a: 'b' } }
  })
  create(tracked)
  t.same(tracked.metadata.annotations, { a: 'b' }, 'a new one is not tracked')
  const update = (annotations: Record<string, string>, before: Record<string, string>, subresource: string) => {
    const annotated = (annotations: Record<string, string>) =>
      made(jobs, { ...job, metadata: { ...job.metadata, annotations } })
    const [object, old] = [annotated(annotations), annotated(before)]
    jobs.strategy.prepareForUpdate?.(object, old, subresource, DEFAULT_GATES, Date.now())
    return object.metadata.annotations
  }
  const mark = { 'batch.orch.io/job-tracking': '' }
  t.same(update({ ...mark, a: 'b' }, {}, ''), { a: 'b' }, 'nor is one that was not')
  t.same(update(mark, mark, ''), mark)
  t.same(update(mark, {}, 'status'), mark, 'but by its controller')
})

t.test('where a job will run may change until it begins', async t => {
  const suspended = { ...selected, spec: { ...selected.spec, suspend: true } }
  const place = {
    [`${T}.spec.nodeSelector`]: { a: 'b' },
    [`${T}.spec.tolerations`]: [{ operator: 'Exists' }],
    [`${T}.metadata.annotations`]: { a: 'b' },
    [`${T}.metadata.labels.b`]: 'c'
  }
  const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: {} }] }
  updates(t, jobs, suspended, [
    [place],
    [{ [`${T}.spec.affinity`]: { nodeAffinity } }],
    [{ [`${T}.spec.affinity`]: { podAffinity: {} } }, `Invalid ${T}`],
    [{ [`${T}.spec.containers[0].image`]: 'b' }, `Invalid ${T}`]
  ])
  updates(t, jobs, { ...suspended, status: { startTime: '2022-01-01T00:00:00Z' } }, [[place, `Invalid ${T}`]])
  const placed = {
    ...suspended,
    spec: {
      ...suspended.spec,
      template: { ...suspended.spec.template, spec: { ...suspended.spec.template.spec, affinity: { nodeAffinity } } }
    }
  }
  updates(t, jobs, placed, [[{ [`${T}.spec.affinity`]: undefined }]])
})

t.test('the rules of the status', async t => {
  updates(t, jobs, selected, [
    [
      {
        status: {
          active: 1, succeeded: 1, failed: 0, ready: 1, uncountedTerminatedPods: { succeeded: ['a'], failed: ['b'] }
        }
      }
    ],
    [
      { status: { active: -1, succeeded: -1, failed: -1, ready: -1 } }, 'Invalid status.active',
      'Invalid status.succeeded', 'Invalid status.failed', 'Invalid status.ready'
    ],
    [
      { status: { uncountedTerminatedPods: { succeeded: ['a', 'a', ''], failed: ['a'] } } },
      'Duplicate status.uncountedTerminatedPods.succeeded[1]', 'Invalid status.uncountedTerminatedPods.succeeded[2]',
      'Duplicate status.uncountedTerminatedPods.failed[0]'
    ]
  ], 'status')
})

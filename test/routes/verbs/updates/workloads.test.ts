/** Allowed changes of objects that run pods, and the errors for others. */
import t from 'tap'
import { build } from '../../../build.js'
import { ALL } from '../../../conformance/collections.js'
import { judged, stored } from './cases.js'

const OTHER = { spec: { selector: { matchLabels: { app: 'other' } } } }
const LABELS = 'spec.template.metadata.labels'
const restart = { spec: { template: { spec: { restartPolicy: 'Never' } } } }
const RESTART = 'spec.template.spec.restartPolicy'

t.test('controllers of pods', async t => {
  const server = await build(t)
  for (const kind of ['deployments', 'replicasets', 'daemonsets']) {
    await judged(t, server, `apps/v1 ${kind}`, [
      ['another selector', {}, OTHER, `Invalid ${LABELS}`, 'Invalid spec.selector'],
      ['pods that end', {}, restart, `NotSupported ${RESTART}`],
      [
        'pods without an image', {}, { spec: { template: { spec: { containers: [{ name: 'web' }] } } } },
        'Required spec.template.spec.containers[0].image'
      ],
      ['less than nothing', {}, { spec: { minReadySeconds: -1 } }, 'Invalid spec.minReadySeconds']
    ])
  }
  await judged(t, server, 'apps/v1 statefulsets', [
    ['another selector', {}, OTHER, 'Forbidden spec', `Invalid ${LABELS}`],
    ['another service', {}, { spec: { serviceName: 'other' } }, 'Forbidden spec'],
    ['another order', {}, { spec: { podManagementPolicy: 'Parallel' } }, 'Forbidden spec'],
    ['other claims', {}, { spec: { volumeClaimTemplates: null } }, 'Forbidden spec'],
    ['a shorter history', {}, { spec: { revisionHistoryLimit: 1 } }, 'Forbidden spec'],
    ['fewer than none', {}, { spec: { replicas: -1 } }, 'Invalid spec.replicas'],
    ['pods that end', {}, restart, `NotSupported ${RESTART}`],
    [
      'what changes',
      {},
      {
        spec: {
          replicas: 3,
          minReadySeconds: 5,
          updateStrategy: { type: 'OnDelete', rollingUpdate: null },
          template: { metadata: { labels: { more: 'yes' } } }
        }
      }
    ]
  ])
  await judged(t, server, 'v1 replicationcontrollers', [
    ['a selector of others', {}, { spec: { selector: { app: 'other' } } }, `Invalid ${LABELS}`],
    ['fewer than none', {}, { spec: { replicas: -1 } }, 'Invalid spec.replicas'],
    [
      'another selector and its pods', {},
      { spec: { selector: { app: 'other' }, template: { metadata: { labels: { app: 'other' } } } } }
    ]
  ])
  await judged(t, server, 'v1 podtemplates', [
    [
      'pods without an image', {}, { template: { spec: { containers: [{ name: 'web' }] } } },
      'Required template.spec.containers[0].image'
    ]
  ])
  await judged(t, server, 'apps/v1 controllerrevisions', [
    ['other data, and below nothing', {}, { data: { other: true }, revision: -1 }, 'Invalid data', 'Invalid revision'],
    ['another revision', {}, { revision: 2 }]
  ])
})

t.test('the status', async t => {
  const server = await build(t)
  for (const kind of [
    'apps/v1 deployments', 'apps/v1 replicasets', 'apps/v1 statefulsets', 'v1 replicationcontrollers'
  ]) {
    await judged(t, server, `${kind}/status`, [
      [
        'more that are ready than there are', {}, { status: { replicas: 1, readyReplicas: 2 } },
        'Invalid status.readyReplicas'
      ],
      [
        'fewer than none',
        {},
        { status: { replicas: -1 } },
        'Invalid status.replicas',
        ...[
          'readyReplicas', 'availableReplicas', 'updatedReplicas', 'currentReplicas', 'fullyLabeledReplicas'
        ].filter(field => counts(kind).includes(field)).map(field => `Invalid status.${field}`)
      ]
    ])
    await stored(t, server, `${kind}/status`, [
      [
        'no spec', {}, { spec: { replicas: 9 }, status: { replicas: 2 } },
        { spec: { replicas: 2 }, status: { replicas: 2 } }
      ]
    ])
  }
  for (const kind of ['deployments', 'statefulsets', 'daemonsets']) {
    await judged(t, server, `apps/v1 ${kind}/status`, [
      [
        'a count that goes back', { status: { collisionCount: 2 } }, { status: { collisionCount: 1 } },
        'Invalid status.collisionCount'
      ]
    ])
  }
})

/** Counts that may not exceed the number of pods. */
const counts = (kind: string): string[] => ({
  'apps/v1 deployments': ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  'apps/v1 replicasets': ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  'apps/v1 statefulsets': ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas']
}[kind] ?? ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'])

t.test('jobs', async t => {
  const server = await build(t, ALL)
  const template = 'spec.template'
  await judged(t, server, 'batch/v1 jobs', [
    [
      'how many must succeed, and how they are counted', { spec: { completions: 2 } },
      { spec: { completions: 3, completionMode: 'Indexed' } }, 'Invalid spec.completionMode', 'Invalid spec.completions'
    ],
    [
      'how many run', {},
      { spec: { parallelism: 5, backoffLimit: 1, activeDeadlineSeconds: 9, ttlSecondsAfterFinished: 1, suspend: true } }
    ],
    ['fewer than none', {}, { spec: { parallelism: -1 } }, 'Invalid spec.parallelism'],
    ['other pods', {}, { spec: { template: { spec: { terminationGracePeriodSeconds: 5 } } } }, `Invalid ${template}`],
    [
      'where its pods run', {}, { spec: { template: { spec: { nodeSelector: { disk: 'fast' } } } } },
      `Invalid ${template}`
    ],
    [
      'where they run, before it has begun',
      { spec: { suspend: true } },
      {
        spec: {
          suspend: false,
          template: {
            spec: { nodeSelector: { disk: 'fast' }, tolerations: [{ operator: 'Exists' }] },
            metadata: { labels: { more: 'yes' } }
          }
        }
      }
    ],
    [
      'another selector', {}, { spec: { selector: { matchLabels: { a: 'b' } } } },
      'Invalid spec.template.metadata.labels', 'Invalid spec.selector'
    ],
    [
      'no selector any more', {}, { spec: { selector: null } }, 'Invalid spec.template.metadata.labels',
      'Required spec.selector', 'Invalid spec.selector'
    ],
    ['the mark of the controller', {}, { metadata: { annotations: { 'batch.orch.io/job-tracking': '' } } }]
  ])
  await judged(t, server, 'batch/v1 jobs/status', [
    ['fewer than none', {}, { status: { active: -1, failed: -1 } }, 'Invalid status.active', 'Invalid status.failed']
  ])
  await judged(t, server, 'batch/v1 cronjobs', [
    ['a schedule that is none', {}, { spec: { schedule: 'now' } }, 'Invalid spec.schedule'],
    [
      'pods that never end', {},
      { spec: { jobTemplate: { spec: { template: { spec: { restartPolicy: 'Always' } } } } } },
      'Required spec.jobTemplate.spec.template.spec.restartPolicy'
    ],
    ['all of it', {}, { spec: { schedule: '@hourly', concurrencyPolicy: 'Forbid', suspend: true } }]
  ])
  await judged(t, server, 'batch/v1beta1 cronjobs', [
    ['a schedule that is none', {}, { spec: { schedule: 'now' } }, 'Invalid spec.schedule']
  ])
  await judged(t, server, 'batch/v1 cronjobs/status', [
    ['when it last ran', {}, { status: { lastScheduleTime: '2030-01-01T00:00:00Z' } }]
  ])
})

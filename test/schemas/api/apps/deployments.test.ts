import t from 'tap'
import { deployments } from '../../../../schemas/api/apps/deployments.js'
import { creates, updates } from '../cases.js'

const T = 'spec.template'
const deployment = {
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web', more: 'x' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] }
    }
  }
}

t.test('the rules of a new deployment', async t => {
  creates(t, deployments, deployment, [
    [{}],
    [{ 'spec.replicas': 0 }],
    [{ 'spec.replicas': -1 }, 'Invalid spec.replicas'],
    [{ 'spec.minReadySeconds': -1 }, 'Invalid spec.minReadySeconds'],
    [{ 'spec.revisionHistoryLimit': -1 }, 'Invalid spec.revisionHistoryLimit'],
    [{ 'spec.progressDeadlineSeconds': -1 }, 'Invalid spec.progressDeadlineSeconds'],
    [{ 'spec.progressDeadlineSeconds': 10, 'spec.minReadySeconds': 10 }, 'Invalid spec.progressDeadlineSeconds'],
    [{ 'spec.progressDeadlineSeconds': 11, 'spec.minReadySeconds': 10 }],
    [{ spec: {} }, 'Required spec.selector', `Invalid ${T}.metadata.labels`, `Required ${T}.spec.containers`]
  ])
})

t.test('the selector selects what is made of the template', async t => {
  creates(t, deployments, deployment, [
    [{ 'spec.selector': undefined }, 'Required spec.selector', `Invalid ${T}.metadata.labels`],
    [{ 'spec.selector': {} }, 'Invalid spec.selector'],
    [{ 'spec.selector.matchLabels': { app: 'other' } }, `Invalid ${T}.metadata.labels`],
    [{ [`${T}.metadata.labels`]: undefined }, `Invalid ${T}.metadata.labels`],
    [{ 'spec.selector.matchLabels': { app: 'a b' } }, 'Invalid spec.selector.matchLabels', 'Invalid spec.selector'],
    [
      {
        'spec.selector.matchExpressions': [
          { key: 'app', operator: 'In', values: ['web', 'api'] },
          { key: 'more', operator: 'Exists' },
          { key: 'less', operator: 'DoesNotExist' },
          { key: 'app', operator: 'NotIn', values: ['db'] }
        ]
      }
    ],
    [
      { 'spec.selector.matchExpressions': [{ key: 'app', operator: 'NotIn', values: ['web'] }] },
      `Invalid ${T}.metadata.labels`
    ],
    [
      { 'spec.selector.matchExpressions': [{ key: 'app', operator: 'In' }] },
      'Required spec.selector.matchExpressions[0].values', 'Invalid spec.selector'
    ],
    [
      { 'spec.selector.matchExpressions': [{ key: 'app', operator: 'Exists', values: ['a'] }] },
      'Forbidden spec.selector.matchExpressions[0].values', 'Invalid spec.selector'
    ],
    [
      { 'spec.selector.matchExpressions': [{ key: 'app', operator: 'Is' }], [`${T}.spec.containers`]: [] },
      'Invalid spec.selector.matchExpressions[0].operator', 'Invalid spec.selector'
    ],
    [
      { 'spec.selector.matchExpressions': [{ key: 'a b', operator: 'Exists' }] },
      'Invalid spec.selector.matchExpressions[0].key', 'Invalid spec.selector'
    ]
  ])
})

t.test('the template is of pods that are kept running', async t => {
  creates(t, deployments, deployment, [
    [{ [`${T}.spec.containers[0].image`]: '' }, `Required ${T}.spec.containers[0].image`],
    [{ [`${T}.spec.containers[0].image`]: ' ' }],
    [
      { [`${T}.spec.containers[0].resources`]: { limits: { cpu: '1' }, requests: { cpu: '2' } } },
      `Invalid ${T}.spec.containers[0].resources.requests`
    ],
    [{ [`${T}.spec.restartPolicy`]: 'Never' }, `NotSupported ${T}.spec.restartPolicy`],
    [{ [`${T}.spec.activeDeadlineSeconds`]: 5 }, `Forbidden ${T}.spec.activeDeadlineSeconds`],
    [{ [`${T}.spec.ephemeralContainers`]: [{ name: 'debug', image: 'b' }] }, `Forbidden ${T}.spec.ephemeralContainers`],
    [{ [`${T}.metadata.labels.more`]: 'a b' }, `Invalid ${T}.labels`],
    [{ [`${T}.metadata.annotations`]: { 'a b': 'c' } }, `Invalid ${T}.annotations`],
    [{ [`${T}.metadata.annotations`]: { a: 'x'.repeat(256 * 1024) } }, `TooLong ${T}.annotations`],
    [{ [`${T}.spec.volumes`]: [{ name: 'a', gcePersistentDisk: { pdName: 'd' } }] }],
    [
      { [`${T}.spec.volumes`]: [{ name: 'a', gcePersistentDisk: { pdName: 'd' } }], 'spec.replicas': 2 },
      `Invalid ${T}.spec.volumes[0].gcePersistentDisk.readOnly`
    ],
    [
      { [`${T}.spec.volumes`]: [{ name: 'a', gcePersistentDisk: { pdName: 'd', readOnly: true } }], 'spec.replicas': 2 }
    ],
    [{ [`${T}.spec.volumes`]: [{ name: 'a', projected: { sources: [{ serviceAccountToken: { path: 'a' } }] } }] }]
  ])
})

t.test('pods are replaced step by step, or all at once', async t => {
  const s = 'spec.strategy'
  const r = `${s}.rollingUpdate`
  creates(t, deployments, deployment, [
    [{ [s]: { type: 'Recreate' } }],
    [{ [s]: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }, `Forbidden ${r}`],
    [{ [s]: { type: 'Other' } }, `NotSupported ${s}`],
    [{ [r]: { maxUnavailable: 1, maxSurge: 0 } }],
    [{ [r]: { maxUnavailable: '0%', maxSurge: 1 } }],
    [{ [r]: { maxUnavailable: 0, maxSurge: 0 } }, `Invalid ${r}.maxUnavailable`],
    [{ [r]: { maxUnavailable: '0%', maxSurge: '00%' } }, `Invalid ${r}.maxUnavailable`],
    [{ [r]: { maxUnavailable: '101%' } }, `Invalid ${r}.maxUnavailable`],
    [{ [r]: { maxUnavailable: '100%', maxSurge: '200%' } }],
    [{ [r]: { maxUnavailable: -1, maxSurge: -1 } }, `Invalid ${r}.maxUnavailable`, `Invalid ${r}.maxSurge`],
    [{ [r]: { maxUnavailable: '10', maxSurge: '1.5%' } }, `Invalid ${r}.maxUnavailable`, `Invalid ${r}.maxSurge`],
    [{ [r]: { maxUnavailable: '-1%' } }, `Invalid ${r}.maxUnavailable`]
  ])
})

t.test('mutable fields and the rules of the status', async t => {
  updates(t, deployments, deployment, [
    [{ 'spec.replicas': 3, [`${T}.spec.containers[0].image`]: 'b' }],
    [{ 'spec.selector.matchLabels.more': 'x' }, 'Invalid spec.selector'],
    [{ 'spec.replicas': -3 }, 'Invalid spec.replicas']
  ])
  updates(t, deployments, { ...deployment, status: { collisionCount: 2 } }, [
    [
      {
        'status.replicas': 3,
        'status.updatedReplicas': 3,
        'status.readyReplicas': 2,
        'status.availableReplicas': 1,
        'status.unavailableReplicas': 9
      }
    ],
    [
      { 'status.replicas': -1 }, 'Invalid status.replicas', 'Invalid status.updatedReplicas',
      'Invalid status.readyReplicas', 'Invalid status.availableReplicas'
    ],
    [{ 'status.updatedReplicas': 1 }, 'Invalid status.updatedReplicas'],
    [
      { 'status.replicas': 2, 'status.readyReplicas': 1, 'status.availableReplicas': 2 },
      'Invalid status.availableReplicas'
    ],
    [{ 'status.observedGeneration': -1 }, 'Invalid status.observedGeneration'],
    [{ 'status.collisionCount': 1 }, 'Invalid status.collisionCount'],
    [{ 'status.collisionCount': undefined }, 'Invalid status.collisionCount']
  ], 'status')
})

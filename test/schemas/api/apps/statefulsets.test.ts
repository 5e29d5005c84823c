import t from 'tap'
import { statefulSets } from '../../../../schemas/api/apps/statefulsets.js'
import { creates, updates } from '../cases.js'

const T = 'spec.template'
const set = {
  metadata: { name: 'db', namespace: 'default' },
  spec: {
    serviceName: 'db',
    selector: { matchLabels: { app: 'db' } },
    template: { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'main', image: 'postgres' }] } },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
      }
    ]
  }
}

t.test('the rules of a new stateful set', async t => {
  creates(t, statefulSets, set, [
    [{}],
    [{ 'spec.serviceName': '' }],
    [{ 'spec.replicas': -1, 'spec.minReadySeconds': -1 }, 'Invalid spec.replicas', 'Invalid spec.minReadySeconds'],
    [{ 'spec.podManagementPolicy': 'Random' }, 'Invalid spec.podManagementPolicy'],
    [{ 'spec.podManagementPolicy': 'Parallel' }],
    [{ 'spec.selector': undefined }, 'Required spec.selector', `Invalid ${T}.metadata.labels`],
    [{ 'spec.selector': {} }, 'Invalid spec.selector'],
    [{ 'spec.selector.matchLabels': { app: 'other' } }, `Invalid ${T}.metadata.labels`],
    [
      { 'spec.selector.matchExpressions': [{ key: 'a', operator: 'Is' }] },
      'Invalid spec.selector.matchExpressions[0].operator', 'Invalid spec.selector'
    ],
    [{ [`${T}.metadata.labels.b`]: 'c d' }, `Invalid ${T}.labels`],
    [{ [`${T}.spec.restartPolicy`]: 'Never' }, `NotSupported ${T}.spec.restartPolicy`],
    [{ [`${T}.spec.activeDeadlineSeconds`]: 1 }, `Forbidden ${T}.spec.activeDeadlineSeconds`],
    [{ 'spec.volumeClaimTemplates[0].spec': {} }],
    [{ 'spec.persistentVolumeClaimRetentionPolicy': { whenDeleted: 'Delete', whenScaled: 'Retain' } }],
    [
      { 'spec.persistentVolumeClaimRetentionPolicy': { whenDeleted: 'Keep', whenScaled: 'Keep' } },
      'NotSupported spec.persistentVolumeClaimRetentionPolicy.whenDeleted',
      'NotSupported spec.persistentVolumeClaimRetentionPolicy.whenScaled'
    ]
  ])
})

t.test('the contents of the pod template are validated when pods are created', async t => {
  creates(t, statefulSets, set, [[{ [`${T}.spec.containers[0].image`]: '', [`${T}.spec.dnsPolicy`]: 'Never' }]])
})

t.test('the rules of its update strategy', async t => {
  const s = 'spec.updateStrategy'
  creates(t, statefulSets, set, [
    [{ [s]: { type: 'OnDelete' } }],
    [{ [s]: { type: 'OnDelete', rollingUpdate: { partition: 1 } } }, `Invalid ${s}.rollingUpdate`],
    [{ [s]: { type: 'Other' } }, `Invalid ${s}`],
    [{ [s]: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }],
    [{ [s]: { type: 'RollingUpdate', rollingUpdate: { partition: -2 } } }, `Invalid ${s}.rollingUpdate.partition`],
    [{ [`${s}.rollingUpdate.maxUnavailable`]: 0 }, `Invalid ${s}.rollingUpdate.maxUnavailable`],
    [{ [`${s}.rollingUpdate.maxUnavailable`]: '101%' }, `Invalid ${s}.rollingUpdate.maxUnavailable`]
  ])
})

t.test('few things of a stateful set may change', async t => {
  updates(t, statefulSets, set, [
    [
      {
        'spec.replicas': 3,
        [`${T}.spec.containers[0].image`]: 'b',
        'spec.updateStrategy': { type: 'OnDelete' },
        'spec.minReadySeconds': 1,
        'spec.persistentVolumeClaimRetentionPolicy': { whenDeleted: 'Delete' }
      }
    ],
    [{ 'spec.serviceName': 'other' }, 'Forbidden spec'],
    [{ 'spec.podManagementPolicy': 'Parallel' }, 'Forbidden spec'],
    [{ 'spec.revisionHistoryLimit': 1 }, 'Forbidden spec'],
    [{ 'spec.volumeClaimTemplates[0].metadata.name': 'other' }, 'Forbidden spec'],
    [{ 'spec.selector.matchLabels.b': 'c', [`${T}.metadata.labels.b`]: 'c' }, 'Forbidden spec'],
    [{ 'spec.replicas': -1, 'spec.serviceName': 'other' }, 'Forbidden spec', 'Invalid spec.replicas']
  ])
})

t.test('the rules of the status', async t => {
  updates(t, statefulSets, { ...set, status: { replicas: 1, collisionCount: 1 } }, [
    [
      {
        status: {
          replicas: 3, readyReplicas: 3, currentReplicas: 2, updatedReplicas: 1, availableReplicas: 3, collisionCount: 1
        }
      }
    ],
    [{ 'status.readyReplicas': 2 }, 'Invalid status.readyReplicas'],
    [{ 'status.currentReplicas': 2 }, 'Invalid status.currentReplicas'],
    [{ 'status.updatedReplicas': 2 }, 'Invalid status.updatedReplicas'],
    [{ 'status.availableReplicas': 1 }, 'Invalid status.availableReplicas'],
    [
      {
        'status.replicas': -1,
        'status.readyReplicas': -1,
        'status.currentReplicas': -1,
        'status.updatedReplicas': -1,
        'status.availableReplicas': -1
      },
      ...['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'].map(count =>
        `Invalid status.${count}`)
    ],
    [{ 'status.collisionCount': 0 }, 'Invalid status.collisionCount']
  ], 'status')
})

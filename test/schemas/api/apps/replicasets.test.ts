import t from 'tap'
import { replicaSets } from '../../../../schemas/api/apps/replicasets.js'
import { creates, updates } from '../cases.js'

const T = 'spec.template'
const set = {
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
  }
}

t.test('the rules of a new replica set', async t => {
  creates(t, replicaSets, set, [
    [{}],
    [{ 'spec.replicas': -1, 'spec.minReadySeconds': -1 }, 'Invalid spec.replicas', 'Invalid spec.minReadySeconds'],
    [{ 'spec.selector': undefined }, 'Required spec.selector', `Invalid ${T}.metadata.labels`],
    [{ 'spec.selector': {} }, 'Invalid spec.selector'],
    [{ 'spec.selector.matchLabels': { app: 'other' } }, `Invalid ${T}.metadata.labels`],
    [{ [T]: undefined }, `Invalid ${T}.metadata.labels`, `Required ${T}.spec.containers`],
    [{ [`${T}.spec.restartPolicy`]: 'OnFailure' }, `NotSupported ${T}.spec.restartPolicy`],
    [{ [`${T}.spec.activeDeadlineSeconds`]: 1 }, `Forbidden ${T}.spec.activeDeadlineSeconds`],
    [
      { [`${T}.spec.containers[0].ports[0]`]: { containerPort: 70000 } },
      `Invalid ${T}.spec.containers[0].ports[0].containerPort`
    ]
  ])
})

t.test('mutable fields and the rules of the status', async t => {
  updates(t, replicaSets, set, [
    [{ 'spec.replicas': 3, [`${T}.spec.containers[0].image`]: 'b' }],
    [{ 'spec.selector.matchLabels': { app: 'web', b: 'c' }, [`${T}.metadata.labels.b`]: 'c' }, 'Invalid spec.selector']
  ])
  updates(t, replicaSets, set, [
    [{ status: { replicas: 3, fullyLabeledReplicas: 3, readyReplicas: 2, availableReplicas: 2 } }],
    [{ status: { replicas: 3, fullyLabeledReplicas: 4 } }, 'Invalid status.fullyLabeledReplicas'],
    [{ status: { replicas: 3, readyReplicas: 4 } }, 'Invalid status.readyReplicas'],
    [{ status: { replicas: 3, availableReplicas: 1 } }, 'Invalid status.availableReplicas'],
    [{ status: { replicas: 3, availableReplicas: -1 } }, 'Invalid status.availableReplicas']
  ], 'status')
})

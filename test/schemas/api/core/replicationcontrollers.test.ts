import t from 'tap'
import { podTemplates } from '../../../../schemas/api/core/podtemplates.js'
import { replicationControllers } from '../../../../schemas/api/core/replicationcontrollers.js'
import { creates, updates } from '../cases.js'

const T = 'spec.template'
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
const controller = { metadata: { name: 'web', namespace: 'default' }, spec: { selector: { app: 'web' }, template } }

t.test('the rules of a new replication controller', async t => {
  creates(t, replicationControllers, controller, [
    [{}],
    [{ 'spec.selector': undefined }],
    [{ 'spec.selector': undefined, [`${T}.metadata`]: {} }, 'Required spec.selector'],
    [{ 'spec.selector': { app: 'other' } }, `Invalid ${T}.metadata.labels`],
    [{ 'spec.replicas': -1, 'spec.minReadySeconds': -1 }, 'Invalid spec.replicas', 'Invalid spec.minReadySeconds'],
    [{ [T]: undefined }, `Required ${T}`],
    [{ [`${T}.spec.containers`]: [] }, `Required ${T}.spec.containers`],
    [{ [`${T}.spec.restartPolicy`]: 'Never' }, `NotSupported ${T}.spec.restartPolicy`],
    [{ [`${T}.spec.activeDeadlineSeconds`]: 3 }, `Forbidden ${T}.spec.activeDeadlineSeconds`],
    [
      { [`${T}.spec.volumes`]: [{ name: 'a', gcePersistentDisk: { pdName: 'd' } }], 'spec.replicas': 2 },
      `Invalid ${T}.spec.volumes[0].gcePersistentDisk.readOnly`
    ]
  ])
})

t.test('every field is mutable, and the counts of the status are consistent', async t => {
  updates(t, replicationControllers, controller, [
    [{ 'spec.selector': { b: 'c' }, [`${T}.metadata.labels`]: { b: 'c' }, 'spec.replicas': 3 }],
    [{ 'spec.selector': { b: 'c' } }, `Invalid ${T}.metadata.labels`]
  ])
  updates(t, replicationControllers, controller, [
    [{ status: { replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 1, availableReplicas: 1 } }],
    [{ status: { replicas: 2, fullyLabeledReplicas: 3 } }, 'Invalid status.fullyLabeledReplicas'],
    [{ status: { replicas: 2, readyReplicas: 1, availableReplicas: 2 } }, 'Invalid status.availableReplicas']
  ], 'status')
})

t.test('a template of pods is what pods are', async t => {
  creates(t, podTemplates, { metadata: { name: 'web', namespace: 'default' }, template }, [
    [{}],
    [{ 'template.spec.restartPolicy': 'Never' }],
    [{ 'template.spec.containers[0].name': '' }, 'Required template.spec.containers[0].name'],
    [{ 'template.metadata.labels': { 'a b': 'c' } }, 'Invalid template.labels'],
    [
      { 'template.spec.ephemeralContainers': [{ name: 'debug', image: 'b' }] },
      'Forbidden template.spec.ephemeralContainers'
    ]
  ])
})

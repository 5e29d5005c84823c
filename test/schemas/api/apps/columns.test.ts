import t from 'tap'
import { controllerRevisions } from '../../../../schemas/api/apps/controllerrevisions.js'
import { daemonSets } from '../../../../schemas/api/apps/daemonsets.js'
import { deployments } from '../../../../schemas/api/apps/deployments.js'
import { replicaSets } from '../../../../schemas/api/apps/replicasets.js'
import { statefulSets } from '../../../../schemas/api/apps/statefulsets.js'
import { cellsOf } from '../cells.js'

const selector = {
  matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['front', 'back'] }]
}
const template = {
  metadata: { labels: { app: 'web', tier: 'front' } },
  spec: { containers: [{ name: 'web', image: 'nginx:1.21' }, { name: 'log', image: 'fluentd:v1' }] }
}
const spec = { replicas: 3, selector, template }
const containers = { Containers: 'web,log', Images: 'nginx:1.21,fluentd:v1' }
const Selector = 'app=web,tier in (back,front)'

t.test('a deployment', async t => {
  t.same(cellsOf(deployments, {
    spec, status: { replicas: 4, readyReplicas: 2, updatedReplicas: 1, availableReplicas: 2 }
  }),
  { Name: 'web', Ready: '2/3', 'Up-to-date': 1, Available: 2, Age: '24h', ...containers, Selector })
  t.hasStrict(
    cellsOf(deployments, { spec: { selector, template } }), { Ready: '0/1', 'Up-to-date': 0, Available: 0 },
    'a deployment without a status'
  )
  t.hasStrict(cellsOf(deployments, { spec: { template, selector: {} } }), { Selector: '' })
  t.hasStrict(
    cellsOf(deployments, { spec: { template, selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } }),
    { Selector: '<invalid>' }
  )
})

t.test('a replica set', async t => {
  t.same(cellsOf(replicaSets, { spec, status: { replicas: 3, readyReplicas: 2 } }), {
    Name: 'web', Desired: 3, Current: 3, Ready: 2, Age: '24h', ...containers, Selector
  })
  t.hasStrict(cellsOf(replicaSets, { spec: { replicas: 0, selector: {}, template } }), {
    Desired: 0, Current: 0, Ready: 0, Selector: '<none>'
  })
})

t.test('a stateful set', async t => {
  t.same(
    cellsOf(statefulSets, { spec: { ...spec, serviceName: 'web' }, status: { replicas: 3, readyReplicas: 1 } }),
    { Name: 'web', Ready: '1/3', Age: '24h', ...containers }
  )
})

t.test('a daemon set', async t => {
  const status = {
    desiredNumberScheduled: 5,
    currentNumberScheduled: 4,
    numberReady: 3,
    updatedNumberScheduled: 2,
    numberAvailable: 1,
    numberMisscheduled: 0
  }
  const onLinux = { ...template, spec: { ...template.spec, nodeSelector: { 'orch.io/os': 'linux' } } }
  t.same(cellsOf(daemonSets, { spec: { selector, template: onLinux }, status }),
    {
      Name: 'web',
      Desired: 5,
      Current: 4,
      Ready: 3,
      'Up-to-date': 2,
      Available: 1,
      'Node Selector': 'orch.io/os=linux',
      Age: '24h',
      ...containers,
      Selector
    })
  t.hasStrict(cellsOf(daemonSets, { spec: { selector, template } }), {
    Desired: 0, 'Up-to-date': 0, 'Node Selector': '<none>'
  })
})

t.test('a controller revision has a column for its controller', async t => {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u' }
  t.same(cellsOf(controllerRevisions, {
    metadata: { name: 'web-5c4', ownerReferences: [{ ...owner, name: 'other' }, { ...owner, controller: true }] },
    revision: 2
  }),
  { Name: 'web-5c4', Controller: 'statefulset.apps/web', Revision: 2, Age: '24h' })
  t.hasStrict(cellsOf(controllerRevisions, { revision: 2n ** 60n }), { Revision: 2n ** 60n }, 'a number however large')
  t.hasStrict(
    cellsOf(controllerRevisions, {
      metadata: { ownerReferences: [{ ...owner, apiVersion: 'v1', kind: 'Pod', controller: true }] }, revision: 1
    }),
    { Controller: 'pod/web' }
  )
  t.hasStrict(
    cellsOf(controllerRevisions, { metadata: { ownerReferences: [owner] }, revision: 1 }), { Controller: '<none>' },
    'an owner that does not manage it'
  )
})

import t from 'tap'
import { fieldValues, parseFieldSelector } from '../../../../schemas/selectors/fields.js'
import { tableColumns } from '../../../../schemas/table.js'
import { componentStatus } from '../../../../schemas/api/core/componentstatuses.js'
import { events } from '../../../../schemas/api/core/events.js'
import { podTemplates } from '../../../../schemas/api/core/podtemplates.js'
import { replicationControllers } from '../../../../schemas/api/core/replicationcontrollers.js'
import { resourceQuotas } from '../../../../schemas/api/core/resourcequotas.js'
import { made, minutesAgo, cellsOf } from '../cells.js'

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image: 'nginx:1.21' }, { name: 'log', image: 'fluentd:v1' }] }
}

t.test('a replication controller has columns for its counts, and wide ones for its containers', async t => {
  const controller = { spec: { replicas: 3, template }, status: { replicas: 2, readyReplicas: 1 } }
  t.same(cellsOf(replicationControllers, controller), {
    Name: 'web',
    Desired: 3,
    Current: 2,
    Ready: 1,
    Age: '24h',
    Containers: 'web,log',
    Images: 'nginx:1.21,fluentd:v1',
    Selector: 'app=web'
  })
  t.hasStrict(
    cellsOf(replicationControllers, { spec: {} }),
    { Desired: 1, Current: 0, Ready: 0, Containers: '', Images: '', Selector: '<none>' }
  )
  const values = fieldValues(replicationControllers.stored, made(replicationControllers.stored, controller))
  t.ok(parseFieldSelector('status.replicas=2', replicationControllers.stored).matches(values))
})

t.test('a pod template has columns for its containers and labels', async t => {
  t.same(cellsOf(podTemplates, { template }), {
    Name: 'web', Containers: 'web,log', Images: 'nginx:1.21,fluentd:v1', 'Pod Labels': 'app=web'
  })
})

t.test('a quota has columns for used and hard amounts, requests and limits apart', async t => {
  const status = {
    hard: { pods: '10', 'limits.memory': '2Gi', 'requests.cpu': '2', 'limits.cpu': '4' },
    used: { pods: '3', 'limits.memory': '512Mi', 'limits.cpu': '1500m' }
  }
  t.same(cellsOf(resourceQuotas, { status }), {
    Name: 'web',
    Age: '24h',
    Request: 'pods: 3/10, requests.cpu: 0/2',
    Limit: 'limits.cpu: 1500m/4, limits.memory: 512Mi/2Gi'
  })
  t.hasStrict(cellsOf(resourceQuotas, { status: { hard: { constructor: '1' } } }), {
    Request: 'constructor: 0/1', Limit: ''
  })
})

t.test('a component is healthy, is not, or does not say', async t => {
  const component = (conditions?: object[]) => cellsOf(componentStatus, { metadata: { name: 'etcd-0' }, conditions })
  t.same(component([{ type: 'Healthy', status: 'True', message: '{"health":"true"}' }]), {
    Name: 'etcd-0', Status: 'Healthy', Message: '{"health":"true"}', Error: ''
  })
  t.hasStrict(
    component([{ type: 'Healthy', status: 'False', message: 'connection refused', error: 'refused' }]),
    { Status: 'Unhealthy', Message: 'connection refused', Error: 'refused' }
  )
  t.hasStrict(component(), { Status: 'Unknown', Message: '', Error: '' })
  t.same(
    tableColumns(componentStatus.stored).map(({ name, type, format, priority }) => [name, type, format, priority]),
    [
      ['Name', 'string', 'name', 0], ['Status', 'string', '', 0], ['Message', 'string', '', 0],
      ['Error', 'string', '', 0]
    ]
  )
})

t.test('an event, of one time or of a series, in every version', async t => {
  const involvedObject = { kind: 'Pod', name: 'web-1', fieldPath: 'spec.containers{web}' }
  const event = {
    involvedObject,
    reason: 'BackOff',
    type: 'Warning',
    message: '  Back-off \n',
    source: { component: 'kubelet', host: 'node-1' },
    firstTimestamp: minutesAgo(60),
    lastTimestamp: minutesAgo(5),
    count: 7
  }
  t.same(cellsOf(events, event), {
    'Last Seen': '5m', Type: 'Warning', Reason: 'BackOff', Object: 'pod/web-1', Subobject: 'spec.containers{web}',
    Source: 'kubelet, node-1', Message: 'Back-off', 'First Seen': '60m', Count: 7, Name: 'web'
  })
  const micro = (time: string): string => time.replace('Z', '.000000Z')
  for (const representation of events.representations.slice(1)) {
    const once = {
      regarding: { kind: 'Node' },
      eventTime: micro(minutesAgo(3)),
      reportingController: 'scheduler',
      reportingInstance: 'scheduler-1',
      reason: 'Bound'
    }
    t.hasStrict(
      cellsOf(representation, once),
      { 'Last Seen': '3m', Object: 'node', Source: 'scheduler, scheduler-1', 'First Seen': '3m', Count: 1 },
      representation.apiVersion
    )
    t.hasStrict(
      cellsOf(representation, {
        ...once, reportingInstance: '', series: { count: 4, lastObservedTime: micro(minutesAgo(2)) }
      }),
      { 'Last Seen': '2m', Source: 'scheduler', Count: 4 }
    )
  }
  t.hasStrict(cellsOf(events, { involvedObject, source: { component: '', host: '' }, count: 0 }), {
    'Last Seen': '<unknown>', 'First Seen': '<unknown>', Source: '', Message: '', Count: 1
  })
})

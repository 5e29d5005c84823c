import t from 'tap'
import { fieldValues, parseFieldSelector } from '../../../../schemas/selectors/fields.js'
import { tableRow } from '../../../../schemas/table.js'
import { pods } from '../../../../schemas/api/core/pods.js'
import { made, minutesAgo, NOW, cellsOf, LATER } from '../cells.js'

const running = { running: { startedAt: minutesAgo(60) } }
const waiting = (reason?: string) => ({ waiting: reason === undefined ? {} : { reason } })
const terminated = (exitCode: number, reason?: string, minutes = 5) => ({
  terminated: { exitCode, reason, startedAt: minutesAgo(minutes + 1), finishedAt: minutesAgo(minutes) }
})
const status = (name: string, state: object, more: object = {}) => ({
  name, state, ready: 'running' in state, restartCount: 0, image: name, imageID: `sha256:${name}`, ...more
})
const container = (name: string) => ({ name, image: `registry.example/${name}:1` })
const pod = (
  phase: string, containerStatuses: object[], more: { metadata?: object, spec?: object, status?: object } = {}
) => ({
  metadata: { ...more.metadata },
  spec: {
    containers: containerStatuses.map(one => container((one as { name: string }).name)),
    nodeName: 'node-1',
    ...more.spec
  },
  status: {
    phase,
    containerStatuses,
    podIP: '10.1.0.7',
    podIPs: [{ ip: '10.1.0.7' }],
    conditions: [{ type: 'Ready', status: 'True' }],
    ...more.status
  }
})

t.test('a running pod', async t => {
  t.same(cellsOf(pods, pod('Running', [status('web', running), status('log', running)])), {
    Name: 'web', Ready: '2/2', Status: 'Running', Restarts: '0', Age: '24h', IP: '10.1.0.7', Node: 'node-1',
    'Nominated Node': '<none>', 'Readiness Gates': '<none>'
  })
})

t.test('an unscheduled pod', async t => {
  t.same(cellsOf(pods, {
    spec: { containers: [container('web')] }, status: { phase: 'Pending', nominatedNodeName: 'node-2' }
  }), {
    Name: 'web', Ready: '0/1', Status: 'Pending', Restarts: '0', Age: '24h', IP: '<none>', Node: '<none>',
    'Nominated Node': 'node-2', 'Readiness Gates': '<none>'
  })
})

t.test('the status column has the reason why containers are not running', async t => {
  const crashing = status('web', waiting('CrashLoopBackOff'), { restartCount: 3, lastState: terminated(1, 'Error', 5) })
  t.hasStrict(
    cellsOf(pods, pod('Running', [crashing, status('log', running)])),
    { Ready: '1/2', Status: 'CrashLoopBackOff', Restarts: '3 (5m ago)' }
  )
  t.hasStrict(
    cellsOf(pods, pod('Pending', [status('web', waiting('ContainerCreating'))])),
    { Ready: '0/1', Status: 'ContainerCreating' }
  )
  t.hasStrict(
    cellsOf(pods, pod('Running', [status('web', running), status('log', waiting('ImagePullBackOff'))])),
    { Ready: '1/2', Status: 'ImagePullBackOff' }
  )
  t.hasStrict(
    cellsOf(pods, pod('Running', [status('web', waiting('ErrImagePull')), status('log', terminated(1, 'Error'))])),
    { Status: 'ErrImagePull' }, 'the first container decides'
  )
  t.hasStrict(cellsOf(pods, pod('Failed', [status('web', terminated(137, 'OOMKilled'))])), { Status: 'OOMKilled' })
  t.hasStrict(cellsOf(pods, pod('Failed', [status('web', terminated(3))])), { Status: 'ExitCode:3' })
  t.hasStrict(
    cellsOf(pods, pod('Failed', [status('web', { terminated: { exitCode: 137, signal: 9 } })])), { Status: 'Signal:9' }
  )
  t.hasStrict(
    cellsOf(pods, pod('Running', [status('web', running, { ready: false })])), { Ready: '0/1', Status: 'Running' }
  )
  t.hasStrict(
    cellsOf(pods, pod('Running', [status('web', {}), { name: 'log' }])),
    { Ready: '0/2', Status: 'Running', Restarts: '0' }, 'containers that say nothing'
  )
  t.hasStrict(cellsOf(pods, pod('', [status('web', waiting(''))])), { Status: '' })
})

t.test('the restarts of all containers are summed, with the time of the latest', async t => {
  const containers = [
    status('web', running, { restartCount: 2, lastState: terminated(1, 'Error', 300) }),
    status('log', running, { restartCount: 1, lastState: terminated(0, 'Completed', 30) })
  ]
  t.hasStrict(cellsOf(pods, pod('Running', containers)), { Restarts: '3 (30m ago)' })
})

t.test('init containers come first', async t => {
  const starting = (initContainerStatuses: object[]) =>
    cellsOf(pods, pod('Pending', [status('web', waiting('PodInitializing'), { restartCount: 9 })], {
      spec: { initContainers: [container('fetch'), container('migrate')] }, status: { initContainerStatuses }
    }))
  const done = status('fetch', terminated(0, 'Completed'))
  t.hasStrict(starting([status('fetch', running), status('migrate', waiting('PodInitializing'))]), {
    Ready: '0/1', Status: 'Init:0/2', Restarts: '0'
  })
  t.hasStrict(starting([done, status('migrate', waiting('PodInitializing'))]), { Status: 'Init:1/2' })
  t.hasStrict(starting([done, status('migrate', terminated(1, 'Error'))]), { Status: 'Init:Error' })
  t.hasStrict(starting([done, status('migrate', terminated(2))]), { Status: 'Init:ExitCode:2' })
  t.hasStrict(
    starting([done, status('migrate', { terminated: { exitCode: 137, signal: 9 } })]), { Status: 'Init:Signal:9' }
  )
  t.hasStrict(
    starting([status('fetch', waiting('CrashLoopBackOff'), { restartCount: 4, lastState: terminated(1, 'Error', 2) })]),
    { Status: 'Init:CrashLoopBackOff', Restarts: '4 (2m ago)' }
  )
  t.hasStrict(
    starting([
      status('fetch', running, { restartCount: 1 }),
      status('migrate', waiting('PodInitializing'), { restartCount: 7, lastState: terminated(1, 'Error', 2) })
    ]),
    { Status: 'Init:0/2', Restarts: '1' },
    'and later containers do not count'
  )
  t.hasStrict(starting([status('fetch', {}), done]), { Status: 'Init:0/2' }, 'a container without a state')
  t.hasStrict(
    starting([done, status('migrate', terminated(0, 'Completed'))]), { Status: 'PodInitializing', Restarts: '9' },
    'then the others have their say'
  )
})

t.test('a finished pod', async t => {
  t.hasStrict(
    cellsOf(pods, pod('Succeeded', [status('web', terminated(0, 'Completed'))])), { Ready: '0/1', Status: 'Completed' }
  )
  const half = [status('web', terminated(0, 'Completed')), status('log', running)]
  t.hasStrict(
    cellsOf(pods, pod('Running', half)), { Ready: '1/2', Status: 'Running' }, 'not while another container is running'
  )
  t.hasStrict(
    cellsOf(pods, pod('Running', half, { status: { conditions: [{ type: 'Ready', status: 'False' }] } })),
    { Ready: '1/2', Status: 'NotReady' }
  )
  t.hasStrict(
    cellsOf(pods, {
      spec: { containers: [container('web')] },
      status: { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' }
    }),
    { Ready: '0/1', Status: 'Evicted' }
  )
})

t.test('a terminating pod', async t => {
  const metadata = { deletionTimestamp: minutesAgo(0), deletionGracePeriodSeconds: 30 }
  t.hasStrict(
    cellsOf(pods, pod('Running', [status('web', running)], { metadata })), { Ready: '1/1', Status: 'Terminating' }
  )
  t.hasStrict(
    cellsOf(pods, pod('Running', [status('web', running)], { metadata, status: { reason: 'NodeLost' } })),
    { Status: 'Unknown' }, 'its node is lost'
  )
})

t.test('sidecars count while they are up, and one that starts again does not stop the others', async t => {
  const sidecar = { ...container('proxy'), restartPolicy: 'Always' }
  const initialized = { type: 'Initialized', status: 'True' }
  const beside = (initContainerStatuses: object[], containerStatuses: object[], conditions: object[] = []) =>
    cellsOf(pods, pod('Running', containerStatuses, {
      spec: { initContainers: [container('fetch'), sidecar] }, status: { initContainerStatuses, conditions }
    }), LATER)
  const fetched = status('fetch', terminated(0, 'Completed'), { restartCount: 2, lastState: terminated(1, 'Error', 3) })
  const up = status('proxy', running, { started: true, restartCount: 1, lastState: terminated(1, 'Error', 20) })
  const crashing = status(
    'proxy', waiting('CrashLoopBackOff'), { started: false, restartCount: 4, lastState: terminated(1, 'Error', 7) }
  )
  const web = status('web', running)
  t.hasStrict(
    beside([fetched, up], [web]), { Ready: '2/2', Status: 'Running', Restarts: '1 (20m ago)' },
    'init containers that are done do not count'
  )
  t.hasStrict(beside([fetched, { ...up, ready: false }], [web]), { Ready: '1/2' })
  t.hasStrict(
    beside([fetched, crashing], [web], [initialized]),
    { Ready: '1/2', Status: 'Init:CrashLoopBackOff', Restarts: '4 (7m ago)' }
  )
  t.hasStrict(
    beside([fetched, crashing], [status('web', waiting('PodInitializing'))]),
    { Ready: '0/2', Status: 'Init:CrashLoopBackOff', Restarts: '6 (3m ago)' }, 'unless nothing has started yet'
  )
  t.hasStrict(
    beside([fetched, up], [status('web', terminated(0, 'Completed'))]), { Ready: '1/2', Status: 'Completed' },
    'a sidecar alone does not keep a job running'
  )
  t.hasStrict(beside([fetched, { ...up, state: terminated(0, 'Completed') }], [web]), { Ready: '1/2' })
  t.hasStrict(beside([{ ...up, name: 'fetch' }], [web]), { Status: 'Init:0/2' }, 'other init containers are waited for')
})

t.test('what 1.36 tells of pods that ended, in part or while they are deleted', async t => {
  const metadata = { deletionTimestamp: minutesAgo(0), deletionGracePeriodSeconds: 30 }
  const [done, failed] = [status('web', terminated(0, 'Completed')), status('log', terminated(2, 'Error'))]
  t.hasStrict(cellsOf(pods, pod('Failed', [done, failed]), LATER), { Status: 'Error' })
  t.hasStrict(cellsOf(pods, pod('Failed', [done, failed])), { Status: 'Completed' }, '1.24 tells of the first')
  t.hasStrict(
    cellsOf(pods, pod('Running', [done, failed, status('more', running)], { status: { conditions: [] } }), LATER),
    { Ready: '1/3', Status: 'Error' }
  )
  t.hasStrict(
    cellsOf(pods, pod('Running', [done, status('more', running)], { status: { conditions: [] } }), LATER),
    { Status: 'NotReady' }
  )
  t.hasStrict(cellsOf(pods, pod('Running', [done, failed, status('more', running)]), LATER), { Status: 'Running' })
  t.hasStrict(cellsOf(pods, pod('Failed', [failed], { metadata }), LATER), { Status: 'Error' })
  t.hasStrict(cellsOf(pods, pod('Failed', [failed], { metadata })), { Status: 'Terminating' }, 'not so 1.24')
  t.hasStrict(cellsOf(pods, pod('Running', [status('web', running)], { metadata }), LATER), { Status: 'Terminating' })
  t.hasStrict(
    cellsOf(pods, pod('Failed', [failed], { metadata, status: { reason: 'NodeLost' } }), LATER), { Status: 'Unknown' }
  )
  const restarted = status('web', running, { lastState: terminated(1, 'Error', 9) })
  t.hasStrict(
    cellsOf(pods, pod('Running', [restarted]), LATER), { Restarts: '0' }, 'without restarts there is no last one'
  )
  t.hasStrict(cellsOf(pods, pod('Running', [restarted])), { Restarts: '0 (9m ago)' })
})

t.test('gated pods say so, unless they have another reason', async t => {
  const gated = (more: object) => cellsOf(
    pods,
    {
      spec: { containers: [container('web')] },
      status: {
        phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }], ...more
      }
    },
    LATER
  )
  t.hasStrict(gated({}), { Status: 'SchedulingGated' })
  t.hasStrict(gated({ reason: 'Evicted' }), { Status: 'Evicted' })
})

t.test('readiness gates are counted', async t => {
  const spec = { readinessGates: [{ conditionType: 'example.com/a' }, { conditionType: 'example.com/b' }] }
  const conditions = [{ type: 'example.com/a', status: 'True' }, { type: 'example.com/b', status: 'False' }]
  t.hasStrict(
    cellsOf(pods, pod('Running', [status('web', running)], { spec, status: { conditions } })),
    { 'Readiness Gates': '1/2' }
  )
  t.hasStrict(
    cellsOf(
      pods,
      pod(
        'Running', [status('web', running)],
        { spec, status: { conditions: [...conditions, { type: 'example.com/b', status: 'True' }] } }
      )
    ),
    { 'Readiness Gates': '1/2' },
    'each by the first condition of its type'
  )
})

t.test('rows of finished pods have a condition', async t => {
  const conditions = (phase: string) => tableRow(
    pods.stored, made(pods.stored, { spec: { containers: [container('web')] }, status: { phase } }), NOW
  ).conditions
  t.same(conditions('Running'), [])
  t.same(conditions('Succeeded'), [
    { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' }
  ])
  t.same(conditions('Failed'), [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }])
})

t.test('pods can be selected by where and how they run', async t => {
  const values = fieldValues(
    pods.stored,
    made(
      pods.stored,
      pod(
        'Running', [status('web', running)],
        { spec: { serviceAccountName: 'shop' }, status: { nominatedNodeName: 'node-2' } }
      )
    )
  )
  const matches = (text: string) => parseFieldSelector(text, pods.stored).matches(values)
  for (const text of [
    'spec.nodeName=node-1', 'spec.host=node-1', 'status.phase=Running', 'status.podIP=10.1.0.7', 'status.podIPs=',
    'spec.restartPolicy=Always', 'spec.schedulerName=default-scheduler', 'spec.serviceAccountName=shop',
    'status.nominatedNodeName=node-2'
  ]) {
    t.ok(matches(text), text)
  }
  for (const text of ['spec.nodeName=', 'status.phase!=Running', 'status.podIPs=10.1.0.7', 'spec.host!=node-1']) {
    t.notOk(matches(text), text)
  }
  t.throws(
    () => parseFieldSelector('spec.hostname=x', pods.stored), { message: 'field label not supported: spec.hostname' }
  )
})

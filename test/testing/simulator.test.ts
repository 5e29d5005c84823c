/** Simulated nodes and pods: on a running clock and on a held one, by default stages and by those of the test. */
import t, { type Test } from 'tap'
import { batchV1, coordinationV1, coreV1 } from '../../schemas/public.js'
import {
  testServer, type SimulateOptions, type Stage, type TestServer, type TestServerOptions
} from '../../testing/index.js'

async function started (t: Test, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await testServer({ simulate: true, now: new Date('2030-01-01T00:00:00Z'), ...options })
  t.teardown(() => server.dispose())
  return server
}
const pod = (name: string, more: { metadata?: object, spec?: object } = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', ...more.metadata },
  spec: { containers: [{ name: 'web', image: 'web:1' }], ...more.spec }
})
const read = async (server: TestServer, name: string) =>
  await server.client.of(coreV1.Pod).get(name, { namespace: 'default' })
const phase = async (server: TestServer, name: string) => (await read(server, name)).status?.phase
/** What follows from writes of clients, at once on a held clock too. */
const settle = async (server: TestServer) => { await server.clock.move(1) }
const ready = { apiVersion: 'v1', kind: 'Pod' }

t.test('pods are bound to a node and run; nothing of it is recorded', async t => {
  const server = await started(t, {
    fixtures: [pod('a', { spec: { initContainers: [{ name: 'setup', image: 'setup:1' }] } })],
    faults: [{ on: { resource: 'pods/status' }, status: 500 }]
  })
  const { spec, status } = await read(server, 'a')
  t.equal(spec?.nodeName, 'node-0')
  t.match(status, {
    phase: 'Running', podIP: '10.244.0.1', podIPs: [{ ip: '10.244.0.1' }], hostIP: '172.18.0.1',
    startTime: '2030-01-01T00:00:00Z',
    initContainerStatuses: [{ name: 'setup', state: { terminated: { exitCode: 0, reason: 'Completed' } } }],
    containerStatuses: [
      {
        name: 'web',
        image: 'web:1',
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: '2030-01-01T00:00:00Z' } }
      }
    ]
  })
  t.match(Object.fromEntries((status?.conditions ?? []).map(({ type, status }) => [type, status])), {
    PodScheduled: 'True', Initialized: 'True', ContainersReady: 'True', Ready: 'True'
  })
  await server.client.of(coreV1.Pod).create(pod('b') as never)
  await settle(server)
  t.match((await read(server, 'b')).status, { phase: 'Running', podIP: '10.244.0.2' })
  t.equal(server.exchanges.size, 0)
})

t.test('nodes stay Ready: leases are renewed while the clock moves', async t => {
  const server = await started(t, { simulate: { nodes: ['east', 'west'] } })
  for (const name of ['east', 'west']) {
    const { spec, status } = await server.client.of(coreV1.Node).get(name)
    t.strictSame(spec?.taints ?? [], [])
    t.match((status?.conditions ?? []).find(({ type }) => type === 'Ready'), { status: 'True' })
  }
  for (const moved of ['35s', '10m', '1h'] as const) {
    await server.clock.move(moved)
    for (const { spec } of await server.client.of(coordinationV1.Lease).list({ namespace: 'orch-node-lease' }).all()) {
      const age = server.clock.now().getTime() - Date.parse(String(spec?.renewTime))
      t.ok(age <= 40_000, `${spec?.holderIdentity ?? ''} was renewed ${age} ms before`)
    }
  }
})

t.test('pods of jobs succeed, others end as their annotation says, after a second', async t => {
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u' }
  const annotated = (phase: string): object => ({ metadata: { annotations: { 'simulator.orch.io/phase': phase } } })
  const server = await started(t, {
    fixtures: [
      pod('j-1', { metadata: { ownerReferences: [owner] } }), pod('bad', annotated('Failed')),
      pod('good', annotated('Succeeded')), pod('web')
    ]
  })
  const phases = async (): Promise<unknown[]> => [
    await phase(server, 'j-1'), await phase(server, 'bad'), await phase(server, 'good'), await phase(server, 'web')
  ]
  t.strictSame(await phases(), ['Running', 'Running', 'Running', 'Running'])
  await server.clock.move(999)
  t.strictSame(await phases(), ['Running', 'Running', 'Running', 'Running'])
  await server.clock.move(1)
  t.strictSame(await phases(), ['Succeeded', 'Failed', 'Succeeded', 'Running'])
  t.match((await read(server, 'bad')).status?.containerStatuses, [
    {
      ready: false,
      state: {
        terminated: {
          exitCode: 1, reason: 'Error', startedAt: '2030-01-01T00:00:00Z', finishedAt: '2030-01-01T00:00:01Z'
        }
      }
    }
  ])
})

t.test('deleted pods go; finalizers hold them', async t => {
  const server = await started(t, {
    fixtures: [pod('a'), pod('held', { metadata: { finalizers: ['shop.example/wait'] } })]
  })
  const pods = server.client.of(coreV1.Pod)
  for (const name of ['a', 'held']) await pods.delete(name, { namespace: 'default' })
  await settle(server)
  t.strictSame((await pods.list().all()).map(({ metadata }) => metadata?.name), ['held'])
  await pods.patch('held', { metadata: { finalizers: null } }, { namespace: 'default' })
  await settle(server)
  t.strictSame(await pods.list().all(), [])
})

t.test('the scheduler spreads pods over nodes that they fit, and says where there is none', async t => {
  const tainted = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'gpu', labels: { kind: 'gpu' } },
    spec: { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] }
  }
  const affinity = (requirement: object) => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [requirement] } }
  })
  const server = await started(t, {
    simulate: { nodes: 2 },
    fixtures: [
      tainted, ...['a', 'b', 'c', 'd'].map(name => pod(name)),
      pod('tolerant', { spec: { nodeSelector: { kind: 'gpu' }, tolerations: [{ key: 'gpu', operator: 'Exists' }] } }),
      pod('intolerant', { spec: { nodeSelector: { kind: 'gpu' } } }),
      pod('daemon', {
        spec: { affinity: affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] }) }
      }),
      pod('elsewhere', {
        spec: {
          affinity: affinity({
            matchExpressions: [
              { key: 'orch.io/os', operator: 'NotIn', values: ['linux'] }, { key: 'kind', operator: 'DoesNotExist' }
            ]
          })
        }
      }),
      pod('gated', { spec: { schedulerName: 'other' } })
    ]
  })
  const nodeOf = async (name: string) => (await read(server, name)).spec?.nodeName
  t.strictSame((await Promise.all(['a', 'b', 'c', 'd'].map(nodeOf))).sort(), ['node-0', 'node-0', 'node-1', 'node-1'])
  t.strictSame(
    await Promise.all(['tolerant', 'intolerant', 'daemon', 'elsewhere', 'gated'].map(nodeOf)),
    ['gpu', undefined, 'node-1', undefined, undefined]
  )
  t.match((await read(server, 'intolerant')).status, {
    phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }]
  })
  t.strictSame((await read(server, 'gated')).status?.conditions ?? [], [], 'that of another scheduler')
  await server.client.of(coreV1.Node).patch('gpu', { spec: { taints: null } })
  await settle(server)
  t.equal(await nodeOf('intolerant'), 'gpu', 'once there is room')
  const bare = await started(t, { simulate: { nodes: 0 }, fixtures: [pod('a')] })
  t.match((await read(bare, 'a')).status, { phase: 'Pending', conditions: undefined }, 'without nodes nothing is bound')
})

t.test('stages of the test: before the default ones, or instead of them', async t => {
  const definition = {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'cars.shop.example' },
    spec: {
      group: 'shop.example',
      scope: 'Namespaced',
      names: { plural: 'cars', kind: 'Car' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object', properties: { status: { type: 'object', 'x-orch-preserve-unknown-fields': true } }
            }
          }
        }
      ]
    }
  }
  const car = { apiVersion: 'shop.example/v1', kind: 'Car' }
  const stages: Stage[] = [
    {
      name: 'car-built',
      resource: car,
      selector: { matchExpressions: [{ key: '.status.phase', operator: 'DoesNotExist' }] },
      delay: '1m',
      next: {
        patch: { metadata: { labels: { built: 'yes' } } },
        status: ({ metadata }, { now }) => ({ phase: `Built ${metadata.name}`, at: now }),
        event: { reason: 'Built', message: 'ready to drive' }
      }
    },
    {
      name: 'car-scrapped',
      resource: car,
      selector: { matchLabels: { built: 'yes' }, matchAnnotations: { scrap: 'yes' } },
      next: {
        create: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'scrap', namespace: 'default' } }, delete: true
      }
    },
    {
      name: 'pod-ready',
      resource: ready,
      selector: {
        matchExpressions: [
          { key: '.spec.containers[].image', operator: 'In', values: ['web:1'] },
          { key: '.status.phase', operator: 'In', values: ['Pending'] }
        ]
      },
      delay: '2s',
      jitter: '2s',
      when: ({ metadata }) => metadata.name !== 'never',
      next: { status: { phase: 'Running' } }
    }
  ]
  const server = await started(t, {
    simulate: { stages },
    seed: 1,
    fixtures: [definition, { ...car, metadata: { name: 'fast', namespace: 'default' } }, pod('slow'), pod('never')]
  })
  t.strictSame(
    [await phase(server, 'slow'), (await read(server, 'slow')).spec?.nodeName], ['Pending', 'node-0'],
    'bound by the scheduler'
  )
  await server.clock.move('2s')
  t.equal(await phase(server, 'slow'), 'Pending', 'the jitter')
  await server.clock.move('2s')
  t.strictSame([await phase(server, 'slow'), await phase(server, 'never')], ['Running', 'Pending'])
  const cars = server.client.of(car)
  t.equal((await cars.get('fast', { namespace: 'default' }))['status'], undefined)
  await server.clock.move('56s')
  t.match(await cars.get('fast', { namespace: 'default' }), {
    metadata: { labels: { built: 'yes' } }, status: { phase: 'Built fast', at: '2030-01-01T00:01:00Z' }
  })
  t.match(await server.client.of(coreV1.Event).list().all(), [
    { reason: 'Built', type: 'Normal', involvedObject: { kind: 'Car', name: 'fast' } }
  ])
  await cars.patch('fast', { metadata: { annotations: { scrap: 'yes' } } }, { namespace: 'default' })
  await settle(server)
  t.strictSame(await cars.list().all(), [])
  t.ok(await server.client.of(coreV1.ConfigMap).get('scrap', { namespace: 'default' }))
})

t.test('a stage whose time has come applies to what the object is then', async t => {
  const server = await started(t, {
    simulate: {
      defaults: false,
      nodes: 0,
      stages: [
        { name: 'go', resource: ready, selector: { matchLabels: { go: 'yes' } }, delay: '1m', next: { delete: true } }
      ]
    },
    fixtures: [pod('a', { metadata: { labels: { go: 'yes' } } }), pod('b', { metadata: { labels: { go: 'yes' } } })]
  })
  await server.clock.move('30s')
  await server.client.of(coreV1.Pod).patch('a', { metadata: { labels: { go: 'no' } } }, { namespace: 'default' })
  await server.client.of(coreV1.Pod).patch('b', { metadata: { labels: { other: 'yes' } } }, { namespace: 'default' })
  await server.clock.move('30s')
  t.strictSame((await server.client.of(coreV1.Pod).list().all()).map(({ metadata }) => metadata?.name), ['a'])
})

t.test('a stage that follows itself, or that fails, is tried at its pace', async t => {
  const count = { apiVersion: 'v1', kind: 'ConfigMap' }
  const stage: Stage = {
    name: 'count',
    resource: count,
    selector: { matchLabels: { counted: 'yes' } },
    next: {
      patch: object => ({
        data: { count: String(Number((object['data'] as { count?: string } | undefined)?.count ?? 0) + 1) }
      })
    }
  }
  const failing: Stage = {
    name: 'fail',
    resource: count,
    selector: { matchLabels: { failing: 'yes' } },
    next: { patch: { data: { 'not a key!': 'x' } } }
  }
  const map = (name: string, label: string): object => ({
    ...count, metadata: { name, namespace: 'default', labels: { [label]: 'yes' } }
  })
  const written: string[] = []
  const write = process.stderr.write.bind(process.stderr)
  process.stderr.write = (text => { written.push(String(text)); return true }) as typeof write
  t.teardown(() => { process.stderr.write = write })
  const server = await started(t, {
    simulate: { nodes: 0, stages: [stage, failing] }, fixtures: [map('a', 'counted'), map('b', 'failing')]
  })
  await server.clock.move('1m')
  process.stderr.write = write
  const counted = Number((await server.client.of(coreV1.ConfigMap).get('a', { namespace: 'default' })).data?.['count'])
  t.ok(counted >= 50 && counted <= 61, `${counted} times in a minute`)
  t.equal(written.length, 1, 'said once')
  t.match(written[0], /simulation of ConfigMap default\/b: stage fail: .*data/)
})

t.test('stages that undo each other do not keep the clock from moving', async t => {
  const flip = (from: string, to: string): Stage => ({
    name: `to-${to}`,
    resource: { apiVersion: 'v1', kind: 'ConfigMap' },
    selector: { matchLabels: { side: from } },
    next: { patch: { metadata: { labels: { side: to } } } }
  })
  const server = await started(t, {
    simulate: { nodes: 0, stages: [flip('left', 'right'), flip('right', 'left')] },
    fixtures: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default', labels: { side: 'left' } } }
    ]
  })
  const version = async () =>
    Number((await server.client.of(coreV1.ConfigMap).get('a', { namespace: 'default' })).metadata?.resourceVersion)
  const before = await version()
  await server.clock.move('500ms')
  t.equal(await version(), before, 'it waits for the clock')
  await server.clock.move('1s')
  t.ok(await version() > before, 'and goes on')
})

t.test('forks go on, and a clock that runs needs no test to move it', async t => {
  const server = await started(t, { fixtures: [pod('a')] })
  for (let at = 0; at < 3; at++) {
    const fork = await server.fork()
    t.teardown(() => fork.dispose())
    await fork.client.of(coreV1.Pod).create(pod('b') as never)
    await fork.clock.move(1)
    t.match((await read(fork, 'b')).status, { phase: 'Running', podIP: '10.244.0.2' }, 'with an address of its own')
    t.equal(server.exchanges.size, 0)
  }
  const running = await testServer({
    simulate: true, fixtures: [pod('job', { metadata: { annotations: { 'simulator.orch.io/phase': 'Succeeded' } } })]
  })
  t.teardown(() => running.dispose())
  for await (const { object } of running.client.of(coreV1.Pod).watch()) if (object.status?.phase === 'Succeeded') break
  t.equal((await running.client.of(batchV1.Job).list().all()).length, 0)
})

t.test('simulations that cannot be meant are refused with their path', async t => {
  const stage = (more: object): SimulateOptions => ({
    stages: [{ name: 'a', resource: ready, next: { delete: true }, ...more } as Stage]
  })
  for (const [simulate, message] of [
    [{ node: 1 }, /^simulate\.node: there is no such member; .*; did you mean nodes\?/],
    [{ nodes: -1 }, /^simulate\.nodes: -1: must be a number/], [{ nodes: ['A'] }, /^simulate\.nodes/],
    [stage({ nxt: 1 }), /^simulate\.stages\[0\]\.nxt: .*did you mean next\?/],
    [stage({ next: {} }), /^simulate\.stages\[0\]\.next: \{\}: changes nothing/],
    [stage({ next: { stats: {} } }), /\.next\.stats: .*did you mean status\?/],
    [stage({ delay: 'soon' }), /^simulate\.stages\[0\]\.delay: "soon"/],
    [
      stage({ selector: { matchExpressions: [{ key: 'status', operator: 'In' }] } }),
      /matchExpressions\[0\]\.key: "status": must be a path/
    ],
    [
      stage({ selector: { matchExpressions: [{ key: '.status', operator: 'Within' }] } }),
      /operator: "Within": must be one of/
    ],
    [stage({ resource: 'pods' }), /^simulate\.stages\[0\]\.resource/],
    [
      { stages: [...stage({}).stages ?? [], ...stage({}).stages ?? []] },
      /^simulate\.stages\[1\]\.name: "a": is the name of a stage before/
    ]
  ] as ReadonlyArray<readonly [object, RegExp]>) {
    await t.rejects(
      testServer({ simulate }), { name: 'OptionError', message }, JSON.stringify(simulate)
    )
  }
  await t.rejects(
    testServer({ simulate: stage({ resource: { apiVersion: 'shop.example/v1', kind: 'Car' } }) }),
    { message: /no kind Car in shop\.example\/v1/ }
  )
})

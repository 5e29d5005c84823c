/** Jobs, cron jobs and stateful sets where release 1.36 is emulated. */
import t from 'tap'
import { build, type Client, type Json } from '../build.js'

const JOBS = '/apis/batch/v1/namespaces/default/jobs'
const SETS = '/apis/apps/v1/namespaces/default/statefulsets'
const MERGE = 'application/merge-patch+json'
const container = { name: 'c', image: 'i' }
const job = (name: string, spec: Json = {}, pod: Json = {}): Json => ({
  metadata: { name }, spec: { template: { spec: { containers: [container], restartPolicy: 'Never', ...pod } }, ...spec }
})
const causes = (answer: { json: Json }): string[] =>
  ((answer.json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? []).map(
    ({ reason, field }) => `${String(reason).replace('FieldValue', '')} ${String(field)}`
  )

let later: Client
t.before(async () => { later = await build(t, { emulatedVersion: '1.36' }) })

t.test('jobs select their pods by labels with a prefix', async t => {
  const { json } = await later.post(JOBS, job('a'))
  const uid = (json['metadata'] as Json)['uid'] as string
  const labels = {
    'controller-uid': uid, 'job-name': 'a', 'batch.orch.io/controller-uid': uid, 'batch.orch.io/job-name': 'a'
  }
  t.match(json['spec'], {
    manualSelector: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    backoffLimit: 6,
    selector: { matchLabels: { 'batch.orch.io/controller-uid': uid } },
    template: { metadata: { labels } }
  })
  t.notOk(json['spec'].selector.matchLabels['controller-uid'])
  t.notOk((json['metadata'] as Json)['annotations'])
})

t.test('retries of each index change the default of retries where they are known', async t => {
  const each = job('each', { completions: 2, completionMode: 'Indexed', backoffLimitPerIndex: 1 })
  t.match((await later.post(JOBS, each)).json['spec'], { backoffLimitPerIndex: 1, backoffLimit: 2147483647 })
  const { spec } = (await (await build(t)).post(JOBS, each)).json
  t.match(spec, { backoffLimit: 6 })
  t.notOk('backoffLimitPerIndex' in spec)
})

t.test('a job of an earlier release goes on with its labels', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const earlier = await build(t, { storage })
  await earlier.post(JOBS, job('old'))
  await earlier.app.close()
  const server = await build(t, { storage, emulatedVersion: '1.36' })
  const changed = await server.patch(
    `${JOBS}/old`, { spec: { parallelism: 2 }, metadata: { labels: { a: 'b' } } }, MERGE
  )
  t.equal(changed.code, 200, changed.body)
})

t.test('what an earlier release let a status say may stay until that changes', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const earlier = await build(t, { storage })
  await earlier.post(JOBS, job('odd'))
  const odd = { active: 1, ready: 2, conditions: [{ type: 'Complete', status: 'True' }] }
  t.equal((await earlier.patch(`${JOBS}/odd/status`, { status: odd }, MERGE)).code, 200)
  await earlier.app.close()
  const { patch } = await build(t, { storage, emulatedVersion: '1.36' })
  const status = async (value: Json) => causes(await patch(`${JOBS}/odd/status`, { status: value }, MERGE)).toSorted()
  t.same(await status({ failed: 1 }), [])
  t.same(await status({ active: 2 }), ['Invalid status.active'])
  t.same(await status({ active: 3, ready: 4 }), ['Invalid status.active', 'Invalid status.ready'])
  t.same(
    await status({ startTime: '2026-01-02T00:00:00Z', completionTime: '2026-01-01T00:00:00Z' }),
    ['Invalid status.completionTime']
  )
  t.same(await status({ active: 0, ready: 0, startTime: '2026-01-01T00:00:00Z' }), [])
})

t.test('a suspended job of no pods ends without a start, and a resumed one starts anew', async t => {
  await later.post(JOBS, job('empty', { suspend: true, completions: 0 }))
  await later.post(JOBS, job('resumed'))
  const startTime = '2026-01-01T00:00:00Z'
  const status = async (name: string, value: Json, ...conditions: Array<readonly [string, string]>) =>
    causes(await later.patch(
      `${JOBS}/${name}/status`,
      { status: { ...value, conditions: conditions.map(([type, status]) => ({ type, status })) } }, MERGE
    ))
  t.same(await status('empty', { completionTime: startTime }, ['SuccessCriteriaMet', 'True'], ['Complete', 'True']), [])
  t.same(await status('resumed', { startTime }, ['Suspended', 'True']), [])
  t.same(
    await status('resumed', { startTime: '2026-01-02T00:00:00Z' }, ['Suspended', 'True']), ['Required status.startTime']
  )
  t.same(await status('resumed', { startTime: '2026-01-02T00:00:00Z' }, ['Suspended', 'False']), [])
  t.same(
    await status('resumed', {}, ['Failed', 'True'], ['Complete', 'True']),
    [
      'Invalid status.conditions', 'Required status.completionTime', 'Invalid status.conditions',
      'Invalid status.conditions'
    ]
  )
})

t.test('a job with a success policy completes by it', async t => {
  await later.post(
    JOBS,
    job('by-policy', { completionMode: 'Indexed', completions: 2, successPolicy: { rules: [{ succeededCount: 1 }] } })
  )
  const status = async (...types: string[]) => causes(await later.patch(
    `${JOBS}/by-policy/status`,
    {
      status: {
        startTime: '2026-01-01T00:00:00Z', completionTime: '2026-01-01T00:00:01Z',
        conditions: types.map(type => ({ type, status: 'True' }))
      }
    },
    MERGE
  ))
  t.same(await status('Complete'), ['Invalid status.conditions', 'Invalid status.conditions'])
  t.same(await status('SuccessCriteriaMet', 'Complete'), [])
})

const codes = (values: number[], more: Json = {}): Json => ({
  action: 'FailJob', onExitCodes: { operator: 'In', values, ...more }
})
const REFUSED: ReadonlyArray<readonly [title: string, spec: Json, expected: readonly string[], pod?: Json]> = [
  [
    'rules beside restarts', { podFailurePolicy: { rules: [codes([1])] } },
    ['Invalid spec.template.spec.restartPolicy'], { restartPolicy: 'OnFailure' }
  ],
  ['exit codes', {
    podFailurePolicy: {
      rules: [codes([0]), codes([2, 1]), codes([1, 1]), codes([]), codes([1], { containerName: 'x', operator: 'Near' })]
    }
  }, [
    'Invalid spec.podFailurePolicy.rules[0].onExitCodes.values[0]',
    'Invalid spec.podFailurePolicy.rules[1].onExitCodes.values',
    'Duplicate spec.podFailurePolicy.rules[2].onExitCodes.values[1]',
    'Invalid spec.podFailurePolicy.rules[3].onExitCodes.values',
    'Invalid spec.podFailurePolicy.rules[4].onExitCodes.containerName',
    'NotSupported spec.podFailurePolicy.rules[4].onExitCodes.operator']],
  [
    'rules of nothing, and of both',
    { podFailurePolicy: { rules: [{ action: 'Ignore' }, { ...codes([1]), onPodConditions: [{ type: 'Ready' }] }] } },
    ['Invalid spec.podFailurePolicy.rules[0]', 'Invalid spec.podFailurePolicy.rules[1]']
  ],
  [
    'replacing early what may fail',
    { podFailurePolicy: { rules: [codes([1])] }, podReplacementPolicy: 'TerminatingOrFailed' },
    ['NotSupported spec.podReplacementPolicy']
  ],
  [
    'indexes of unindexed jobs', { backoffLimitPerIndex: 1, successPolicy: { rules: [{ succeededCount: 1 }] } },
    ['Invalid spec.backoffLimitPerIndex', 'Invalid spec.successPolicy']
  ],
  [
    'failed indexes without retries of them', { completionMode: 'Indexed', completions: 2, maxFailedIndexes: 3 },
    ['Required spec.backoffLimitPerIndex', 'Invalid spec.maxFailedIndexes']
  ],
  ['successes', {
    completionMode: 'Indexed',
    completions: 3,
    successPolicy: { rules: [{}, { succeededIndexes: '0-3' }, { succeededIndexes: '0,2', succeededCount: 3 }] }
  },
  [
    'Required spec.successPolicy.rules[0]', 'Invalid spec.successPolicy.rules[1].succeededIndexes',
    'Invalid spec.successPolicy.rules[2].succeededCount'
  ]],
  [
    'failing an index without retries of it', { podFailurePolicy: { rules: [{ ...codes([1]), action: 'FailIndex' }] } },
    ['Invalid spec.podFailurePolicy.rules[0].action']
  ],
  ['names of controllers', { managedBy: 'nobody' }, ['Invalid spec.managedBy']]
]

for (const [title, spec, expected, pod] of REFUSED) {
  t.test(`${title} are checked`, async t => {
    t.same(causes(await later.post(JOBS, job('refused', spec, pod))).toSorted(), expected.toSorted())
  })
}

t.test('policies are stored with their defaults, and stay', async t => {
  const { json } = await later.post(JOBS, job('p', {
    completionMode: 'Indexed',
    completions: 4,
    parallelism: 4,
    backoffLimitPerIndex: 1,
    podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] }
  }))
  t.match(json['spec'], {
    podReplacementPolicy: 'Failed',
    backoffLimit: 2147483647,
    podFailurePolicy: { rules: [{ onPodConditions: [{ status: 'True' }] }] }
  })
  t.same(
    causes(await later.patch(
      `${JOBS}/p`, { spec: { podFailurePolicy: null, backoffLimitPerIndex: 2 } }, MERGE
    )).toSorted(),
    ['Invalid spec.backoffLimitPerIndex', 'Invalid spec.podFailurePolicy']
  )
  t.same(causes(await later.patch(`${JOBS}/p`, { spec: { completions: 5 } }, MERGE)), ['Invalid spec.completions'])
  t.equal((await later.patch(`${JOBS}/p`, { spec: { completions: 5, parallelism: 5 } }, MERGE)).code, 200)
  t.same(causes(await later.patch(`${JOBS}/p`, { spec: { completions: null } }, MERGE)), ['Required spec.completions'])
})

t.test('a job ends in the right order', async t => {
  await later.post(JOBS, job('e'))
  const startTime = '2026-01-01T00:00:00Z'
  const status = async (value: Json) => await later.patch(`${JOBS}/e/status`, { status: value }, MERGE)
  t.equal((await status({ startTime, active: 1 })).code, 200)
  const done = (...types: string[]): Json => ({ active: 0, conditions: types.map(type => ({ type, status: 'True' })) })
  t.same(causes(await status({ ...done('Complete') })).toSorted(), [
    'Invalid status.conditions', 'Required status.completionTime'
  ])
  t.same(
    causes(await status({ ...done('SuccessCriteriaMet', 'Complete'), completionTime: '2025-01-01T00:00:00Z' })),
    ['Invalid status.completionTime']
  )
  t.same(causes(await status({ completionTime: startTime })), ['Invalid status.completionTime'])
  t.same(
    causes(await status({ startTime: '2026-01-02T00:00:00Z', terminating: -1 })),
    ['Invalid status.terminating', 'Required status.startTime']
  )
  t.equal(
    (await status({ ...done('SuccessCriteriaMet', 'Complete'), completionTime: '2026-01-01T00:00:01Z' })).code, 200
  )
  t.same(causes(await status({ completionTime: null })), ['Required status.completionTime'])
  t.same(causes(await status({ conditions: [] })).toSorted(), [
    'Invalid status.completionTime', 'Invalid status.conditions', 'Invalid status.conditions'
  ])
})

t.test('a job counts the indexes that it has, and what succeeded stays', async t => {
  await later.post(
    JOBS, job('indexed', { completionMode: 'Indexed', completions: 5, parallelism: 2, backoffLimitPerIndex: 1 })
  )
  await later.post(JOBS, job('plain'))
  const status = async (name: string, value: Json) =>
    causes(await later.patch(`${JOBS}/${name}/status`, { status: value }, MERGE)).toSorted()
  t.same(await status('indexed', { completedIndexes: '1,5', failedIndexes: '3-2' }), [
    'Invalid status.completedIndexes', 'Invalid status.failedIndexes'
  ])
  t.same(await status('indexed', { completedIndexes: '0-2', failedIndexes: '2,4' }), ['Invalid status.failedIndexes'])
  t.same(await status('indexed', { completedIndexes: '0,2', failedIndexes: '1,3-4', succeeded: 2 }), [])
  t.same(await status('indexed', { succeeded: 1 }), ['Invalid status.succeeded'])
  t.same(await status('plain', { completedIndexes: '0', failedIndexes: '' }), [
    'Invalid status.completedIndexes', 'Invalid status.failedIndexes'
  ])
})

t.test('fewer than no pods are not being deleted', async t => {
  for (const kind of ['deployments', 'replicasets']) {
    const url = `/apis/apps/v1/namespaces/default/${kind}`
    await later.post(url, {
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } }
      }
    })
    t.same(
      causes(await later.patch(`${url}/d/status`, { status: { terminatingReplicas: -1 } }, MERGE)),
      ['Invalid status.terminatingReplicas'], kind
    )
    t.equal(
      (await later.patch(
        `${url}/d/status`, { status: { terminatingReplicas: 1 } }, MERGE
      )).json['status'].terminatingReplicas,
      1,
      kind
    )
  }
})

t.test('suspended jobs may ask for other resources', async t => {
  const made = await later.post(JOBS, job('s', { suspend: true }))
  const put = async (name: string, change: Json) => {
    const { json } = await later.get(`${JOBS}/${name}`)
    const spec = json['spec'] as Json
    return await later.put(`${JOBS}/${name}`, {
      ...json,
      spec: {
        ...spec, template: { ...spec['template'] as Json, spec: { ...spec['template'].spec as Json, ...change } }
      }
    })
  }
  t.equal(made.code, 201)
  t.equal(
    (await put('s', {
      containers: [{ ...container, resources: { requests: { cpu: '1' } } }], schedulingGates: [{ name: 'a' }]
    })).code,
    200
  )
  t.same(causes(await put('s', { containers: [{ ...container, image: 'j' }] })), ['Invalid spec.template'])
})

t.test('schedules name their time zone in a field', async t => {
  const CRON = '/apis/batch/v1/namespaces/default/cronjobs'
  const cron = (schedule: string): Json => ({
    metadata: { name: 'c' }, spec: { schedule, jobTemplate: { spec: job('x')['spec'] as Json } }
  })
  t.same(causes(await later.post(CRON, cron('TZ=UTC 0 0 * * *'))), ['Invalid spec.schedule'])
  t.equal((await (await build(t)).post(CRON, cron('TZ=UTC 0 0 * * *'))).code, 201)
})

t.test('stateful sets check their templates whole, and may keep more revisions', async t => {
  const set = (name: string, spec: Json = {}, pod: Json = {}): Json => ({
    metadata: { name },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      serviceName: 's',
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container], ...pod } },
      ...spec
    }
  })
  t.same(causes(await later.post(SETS, set('a', { serviceName: 'a.b' }))), ['Invalid spec.serviceName'])
  t.same(causes(await later.post(
    SETS,
    set(
      'a.b',
      {
        volumeClaimTemplates: [{ metadata: { name: 'v' }, spec: { resources: { requests: { storage: '1' } } } }],
        ordinals: { start: -1 }
      },
      { containers: [{ name: 'c' }] }
    )
  )).toSorted(),
  [
    'Invalid metadata.name', 'Invalid spec.ordinals.start', 'Required spec.template.spec.containers[0].image',
    'Required spec.volumeClaimTemplates[0].spec.accessModes'
  ])
  const claim = (name: string, volumeMode: string): Json => ({
    metadata: { name }, spec: {
      accessModes: ['ReadWriteOnce'], volumeMode, resources: { requests: { storage: '1Gi' } }
    }
  })
  const claims = { volumeClaimTemplates: [claim('data', 'Filesystem'), claim('disk', 'Block')] }
  const mounting = (...names: string[]): Json => ({
    containers: [{
      ...container, volumeMounts: names.map(name => ({ name, mountPath: `/${name}` })),
      volumeDevices: [{ name: 'disk', devicePath: '/dev/disk' }]
    }],
    volumes: [{ name: 'data', emptyDir: {} }, { name: 'tmp', emptyDir: {} }]
  })
  t.equal((await later.post(SETS, set('claiming', claims, mounting('data', 'tmp')))).code, 201)
  t.same(causes(await later.post(SETS, set('unclaimed', claims, mounting('data', 'www')))),
    ['NotFound spec.template.spec.containers[0].volumeMounts[1].name'])
  const made = await later.post(SETS, set('a', { ordinals: { start: 2 } }))
  t.match(made.json['spec'], {
    ordinals: { start: 2 }, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' }
  })
  t.equal(
    (await later.patch(`${SETS}/a`, { spec: { revisionHistoryLimit: 3, ordinals: { start: 1 } } }, MERGE)).code, 200
  )
  t.same(causes(await later.patch(`${SETS}/a`, { spec: { serviceName: 'x' } }, MERGE)), ['Forbidden spec'])
  const earlier = await build(t)
  t.equal((await earlier.post(SETS, set('a.b', {}, { containers: [{ name: 'c' }] }))).code, 201)
})

t.test('templates have no creation time, and had null before', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
  const deployment = (name: string): Json => ({
    metadata: { name },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } }
    }
  })
  const earlier = await build(t, { storage })
  t.match((await earlier.post(DEPLOYMENTS, deployment('a'))).body, '"template":{"metadata":{"creationTimestamp":null,')
  await earlier.app.close()
  const server = await build(t, { storage, emulatedVersion: '1.36' })
  t.notMatch((await server.get(`${DEPLOYMENTS}/a`)).body, '"creationTimestamp":null')
  const made = await server.post(DEPLOYMENTS, deployment('b'))
  t.notMatch(made.body, '"creationTimestamp":null')
  t.notMatch((await server.get(DEPLOYMENTS)).body, '"creationTimestamp":null')
  const put = await server.put(`${DEPLOYMENTS}/a`, (await server.get(`${DEPLOYMENTS}/a`)).json)
  t.equal(
    (put.json['metadata'] as Json)['resourceVersion'],
    ((await server.get(`${DEPLOYMENTS}/a`)).json['metadata'] as Json)['resourceVersion']
  )
  t.match((await server.post(`${DEPLOYMENTS}?dryRun=All`, deployment('c'))).body, '"template":{"metadata":{"labels"')
})

t.test('autoscalers keep the order of metrics and tolerances, and name the group of their target', async t => {
  const of = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
  const scaler = (name: string, spec: Json = {}): Json => ({
    metadata: { name }, spec: { scaleTargetRef: target, maxReplicas: 3, ...spec }
  })
  const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }
  const queue = { type: 'Pods', pods: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '1' } } }
  const inContainer = {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 70 } }
  }
  const metrics = [queue, cpu, inContainer]
  const spec = { metrics, behavior: { scaleUp: { tolerance: '100m' } } }
  t.match((await later.post(of('v2'), scaler('a', spec))).json['spec'], spec)
  t.match((await later.get(`${of('v2')}/a`)).json['spec'], spec)
  t.match(
    (await later.patch(`${of('v1')}/a`, { spec: { targetCPUUtilizationPercentage: 60 } }, MERGE)).json['spec'],
    { targetCPUUtilizationPercentage: 60 }
  )
  t.match((await later.get(`${of('v2')}/a`)).json['spec'].metrics.map(({ type }: Json) => type), [
    'Pods', 'Resource', 'ContainerResource'
  ])
  t.equal((await later.get(`${of('v2')}/a`)).json['spec'].metrics[1].resource.target.averageUtilization, 60)
  t.same(
    causes(await later.post(of('v2'), scaler('b', { behavior: { scaleDown: { tolerance: '-1' } } }))),
    ['Invalid spec.behavior.scaleDown.tolerance']
  )
  t.same(
    causes(await later.post(of('v2'), scaler('b', { scaleTargetRef: { ...target, apiVersion: 'v1' } }))),
    ['Invalid spec.scaleTargetRef.apiVersion']
  )
  t.equal(
    (await later.post(
      of('v2'), scaler('c', { scaleTargetRef: { apiVersion: 'v1', kind: 'ReplicationController', name: 'd' } })
    )).code,
    201
  )
})

t.test('network policies have no status, and what the earlier release stored of one is not shown anew', async t => {
  const POLICIES = '/apis/networking.orch.io/v1/namespaces/default/networkpolicies'
  const made = await later.post(POLICIES, {
    metadata: { name: 'n' }, spec: { podSelector: {} }, status: { conditions: [{ type: 'a' }] }
  })
  t.match(made.headers['warning'], [/unknown field .*status/])
  const silent = await later.post(
    `${POLICIES}?fieldValidation=Strict`, { metadata: { name: 's' }, spec: { podSelector: {} } }
  )
  t.match([silent.code, silent.headers['warning']], [201, undefined], 'who sends none is not told of one')
  const object = { apiVersion: 'networking.orch.io/v1', kind: 'NetworkPolicy', spec: { podSelector: {} } }
  const applied = await later.patch(
    `${POLICIES}/a?fieldManager=f&fieldValidation=Strict`, { ...object, metadata: { name: 'a' } },
    'application/apply-patch+yaml'
  )
  t.match([applied.code, applied.headers['warning']], [201, undefined], applied.body)
  for (const { body } of [
    made, await later.get(`${POLICIES}/n`), await later.get(POLICIES),
    await later.post(`${POLICIES}?dryRun=All`, { metadata: { name: 'm' }, spec: { podSelector: {} } })
  ]) {
    t.notMatch(body, '"status"')
  }
  const document = (await later.get('/openapi/v3/apis/networking.orch.io/v1')).json['components'].schemas
  t.strictSame(
    Object.keys(document['io.orch.api.networking.v1.NetworkPolicy'].properties),
    ['apiVersion', 'kind', 'metadata', 'spec']
  )
  const earlier = await build(t)
  t.match(
    (await earlier.post(POLICIES, { metadata: { name: 'n' }, spec: { podSelector: {} } })).body, /,"status":\{\}\}\n?$/
  )
})

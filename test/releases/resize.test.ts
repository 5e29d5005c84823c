/** Resizes of pods in place, where release 1.36 is emulated. */
import t from 'tap'
import { build, type Client, type Json } from '../build.js'

const PODS = '/api/v1/namespaces/default/pods'
const resources = (cpu: string, memory = '1Gi', more: Json = {}): Json => ({ requests: { cpu, memory, ...more } })
const container = (name: string, of: Json = resources('1')): Json => ({ name, image: 'i', resources: of })
const pod = (name: string, spec: Json = {}, metadata: Json = {}): Json =>
  ({ kind: 'Pod', apiVersion: 'v1', metadata: { name, ...metadata }, spec: { containers: [container('c')], ...spec } })
const causes = (answer: { json: Json }): string[] =>
  ((answer.json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? [])
    .map(({ reason, field, message }) =>
      `${String(reason).replace('FieldValue', '')} ${String(field)}: ${String(message)}`)
const requests = (answer: { json: Json }): unknown =>
  answer.json['spec']?.['containers']?.[0]?.['resources']?.['requests']

let server: Client
t.before(async () => { server = await build(t, { emulatedVersion: '1.36' }) })

t.test('the subresource is there with its gate', async t => {
  const names = async (of: Client) =>
    ((await of.get('/api/v1')).json['resources'] as Json[]).filter(({ name }) => name === 'pods/resize')
  t.match(await names(server), [
    { name: 'pods/resize', namespaced: true, kind: 'Pod', verbs: ['get', 'patch', 'update'] }
  ])
  t.ok((await server.get('/openapi/v3/api/v1')).json['paths']?.['/api/v1/namespaces/{namespace}/pods/{name}/resize'])
  const earlier = await build(t)
  t.same(await names(earlier), [])
  await earlier.post(PODS, pod('a'))
  t.equal((await earlier.patch(`${PODS}/a/resize`, {})).code, 404)
})

t.test('only amounts of cpu and memory are looked at, and each change is counted', async t => {
  await server.post(PODS, pod('a', {}, { labels: { a: 'b' } }))
  const resized = await server.patch(`${PODS}/a/resize`, {
    metadata: { labels: { a: 'c' } }, status: { phase: 'Failed' },
    spec: { activeDeadlineSeconds: 3, containers: [{ ...container('c', resources('2')), image: 'other' }] }
  })
  t.equal(resized.code, 200, resized.body)
  t.match(resized.json, {
    metadata: { generation: 2, labels: { a: 'b' } },
    spec: { containers: [{ image: 'i' }] },
    status: { phase: 'Pending' }
  })
  t.notOk('activeDeadlineSeconds' in resized.json['spec'])
  t.same(requests(resized), { cpu: '2', memory: '1Gi' })
  t.equal(
    (await server.put(`${PODS}/a/resize`, (await server.get(`${PODS}/a/resize`)).json)).json['metadata'].generation, 2
  )
  t.same(
    causes(await server.patch(`${PODS}/a`, {
      spec: { containers: [container('c', resources('3'))] }
    })).map(cause => cause.slice(0, 14)),
    ['Forbidden spec']
  )
})

const ONLY = 'only cpu and memory resources are mutable'
const REFUSED: ReadonlyArray<readonly [
  title: string, from: Json, to: Json, causes: readonly string[], options?: { metadata?: Json, status?: Json }
]> = [
  [
    'another class of service', {},
    { containers: [container('c', { ...resources('1'), limits: { cpu: '1', memory: '1Gi' } })] },
    ['Invalid spec: Pod QOS Class may not change as a result of resizing']
  ],
  [
    'removal of a request', {}, { containers: [container('c', { requests: { cpu: '1' } })] },
    ['Forbidden spec.containers[0].resources.requests: resource requests cannot be removed']
  ],
  [
    'other resources', {}, { containers: [container('c', resources('1', '1Gi', { 'ephemeral-storage': '1' }))] },
    [`Forbidden spec: ${ONLY}`]
  ],
  [
    'another policy',
    {},
    {
      containers: [
        {
          ...container('c', resources('2')), resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
        }
      ]
    },
    [`Forbidden spec: ${ONLY}`]
  ],
  [
    'added containers', {}, { containers: [container('c'), container('d')] },
    ['Forbidden spec.containers: containers may not be added or removed on resize']
  ],
  [
    'renamed containers', {}, { containers: [container('d')] },
    ['Forbidden spec.containers[0].name: containers may not be renamed or reordered on resize']
  ],
  [
    'added init containers', {}, { initContainers: [container('d')] },
    ['Forbidden spec.initContainers: initContainers may not be added or removed on resize']
  ],
  [
    'static pods', {}, { containers: [container('c', resources('2'))] },
    ['Forbidden undefined: static pods cannot be resized'],
    { metadata: { annotations: { 'orch.io/config.mirror': 'x' } } }
  ],
  [
    'Windows', { os: { name: 'windows' } }, { containers: [container('c', resources('2'))] },
    ['Forbidden undefined: windows pods cannot be resized']
  ],
  ['nodes that do not say what containers have', {}, {
    containers: [container('c', resources('2'))]
  }, ['Forbidden spec: Pod running on node without support for resize'],
  {
    status: {
      containerStatuses: [
        { name: 'c', image: 'i', imageID: '', ready: true, restartCount: 0, state: { running: {} } }
      ]
    }
  }],
  [
    'removal of what the pod asks for as a whole', { resources: resources('2', '2Gi') },
    { resources: { requests: { cpu: '2' } } },
    ['Forbidden spec.resources.requests: pod-level resource requests cannot be removed']
  ]
]

for (const [index, [title, from, to, expected, { metadata = {}, status } = {}]] of REFUSED.entries()) {
  t.test(`a resize refuses ${title}`, async t => {
    const path = `${PODS}/refused-${index}`
    const made = await server.post(
      PODS,
      pod(`refused-${index}`, { ...from, ...metadata['annotations'] === undefined ? {} : { nodeName: 'n' } }, metadata)
    )
    t.equal(made.code, 201, made.body)
    if (status !== undefined) t.equal((await server.patch(`${path}/status`, { status })).code, 200)
    const { json } = await server.get(path)
    const answer = await server.put(`${path}/resize`, { ...json, spec: { ...json['spec'] as Json, ...to } })
    t.equal(answer.code, 422, answer.body)
    t.same(
      causes(answer).map(cause => cause.replace(/Invalid value: "\w+": |^(\S+ \S*): (?:Forbidden: )/, '$1: ')
        .replace(/^(\S+ \S*): : /, '$1: ')
        .replace(/: +/g, ': ')),
      expected
    )
  })
}

t.test('a resize refuses init containers that want a restart, of pods from before that was refused', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const restarting = (of: Json): Json => ({
    initContainers: [{
      ...container('i', of), resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
    }]
  })
  const first = await build(
    t, { storage, emulatedVersion: '1.36', featureGates: { InPlacePodVerticalScalingInitContainers: false } }
  )
  t.equal((await first.post(PODS, pod('old', restarting(resources('1'))))).code, 201)
  await first.app.close()
  const second = await build(t, { storage, emulatedVersion: '1.36' })
  const { json } = await second.get(`${PODS}/old`)
  const answer = await second.put(
    `${PODS}/old/resize`, { ...json, spec: { ...json['spec'] as Json, ...restarting(resources('2')) } }
  )
  t.same(
    causes(answer),
    [
      'Forbidden spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of ' +
      'RestartContainer cannot be resized'
    ]
  )
})

t.test('sidecars, init containers and pods as a whole are resized', async t => {
  await server.post(PODS, pod('all', {
    resources: resources('4', '8Gi'), initContainers: [container('i'), { ...container('s'), restartPolicy: 'Always' }]
  }))
  const { json } = await server.get(`${PODS}/all`)
  const spec = json['spec'] as Json
  const next = {
    ...spec,
    resources: resources('5', '8Gi'),
    initContainers: (spec['initContainers'] as Json[]).map(one => ({ ...one, resources: resources('2') }))
  }
  const answer = await server.put(`${PODS}/all/resize`, { ...json, spec: next })
  t.equal(answer.code, 200, answer.body)
  t.match(answer.json, {
    spec: {
      resources: resources('5', '8Gi'), initContainers: [{ resources: resources('2') }, { resources: resources('2') }]
    }
  })
})

t.test('the node must be there, run Linux, have what is asked for and know how', async t => {
  await server.post(PODS, pod('placed', { nodeName: 'n1', initContainers: [container('i')] }))
  const resize = async (cpu: string, list = 'containers') =>
    await server.patch(`${PODS}/placed/resize`, {
      spec: { [list]: [container(list === 'containers' ? 'c' : 'i', resources(cpu))] }
    })
  const missing = await resize('2')
  t.equal(missing.code, 403)
  t.match(missing.json['message'], /node "n1" not found/)
  await server.post('/api/v1/nodes', { metadata: { name: 'n1', labels: { 'orch.io/os': 'windows' } } })
  t.match(await resize('2'), {
    code: 403,
    json: {
      message: /only supported on linux nodes, node "n1" is "windows"/,
      details: { causes: [{ reason: 'UnsupportedPlatform' }] }
    }
  })
  await server.patch('/api/v1/nodes/n1', { metadata: { labels: { 'orch.io/os': 'linux' } } })
  await server.patch('/api/v1/nodes/n1/status', { status: { allocatable: { cpu: '1500m', memory: '4Gi' } } })
  t.match(await resize('2'), {
    code: 403,
    json: {
      message: /enough allocatable resources: cpu, requested: 2000, allocatable: 1500$/,
      details: { causes: [{ reason: 'NodeCapacity' }] }
    }
  })
  t.equal((await resize('1200m')).code, 200)
  t.match(await resize('1200m', 'initContainers'), {
    code: 403,
    json: { message: /requires features InPlacePodVerticalScalingInitContainers which are not available on node "n1"/ }
  })
  await server.patch('/api/v1/nodes/n1/status', {
    status: { declaredFeatures: ['InPlacePodVerticalScalingInitContainers'] }
  })
  t.equal((await resize('1200m', 'initContainers')).code, 200)
})

t.test('ranges and quotas of the namespace apply', async t => {
  await server.post('/api/v1/namespaces', { metadata: { name: 'limited' } })
  const pods = '/api/v1/namespaces/limited/pods'
  await server.post(pods, pod('a'))
  await server.post('/api/v1/namespaces/limited/limitranges', {
    metadata: { name: 'r' }, spec: { limits: [{ type: 'Container', min: { cpu: '500m' } }] }
  })
  const resize = async (cpu: string) =>
    await server.patch(`${pods}/a/resize`, { spec: { containers: [container('c', resources(cpu))] } })
  t.match(await resize('100m'), {
    code: 403, json: { message: /minimum cpu usage per Container is 500m, but request is 100m/ }
  })
  const quotas = '/api/v1/namespaces/limited/resourcequotas'
  await server.post(quotas, { metadata: { name: 'q' }, spec: { hard: { 'requests.cpu': '2' } } })
  await server.patch(`${quotas}/q/status`, { status: { hard: { 'requests.cpu': '2' }, used: { 'requests.cpu': '1' } } })
  t.match(await resize('3'), {
    code: 403,
    json: { message: /exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=1, limited: requests.cpu=2/ }
  })
  t.equal((await resize('1500m')).code, 200)
  t.equal((await server.get(`${quotas}/q`)).json['status'].used['requests.cpu'], '1500m')
})

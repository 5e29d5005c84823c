/** Services, claims and volumes where release 1.36 is emulated. */
import t from 'tap'
import { build, type Client, type Json } from '../build.js'

const SERVICES = '/api/v1/namespaces/default/services'
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims'
const VOLUMES = '/api/v1/persistentvolumes'
const MERGE = 'application/merge-patch+json'
const causes = (answer: { json: Json }): string[] =>
  ((answer.json['details'] as Json | undefined)?.['causes'] as Json[] | undefined ?? []).map(
    ({ reason, field }) => `${String(reason).replace('FieldValue', '')} ${String(field)}`
  )
const service = (name: string, spec: Json = {}): Json => ({
  metadata: { name }, spec: { ports: [{ name: 'p', port: 80 }], ...spec }
})

let later: Client
t.before(async () => { later = await build(t, { emulatedVersion: '1.36' }) })

t.test('names of services may begin with a digit', async t => {
  t.equal((await later.post(SERVICES, service('1a'))).code, 201)
  t.equal((await (await build(t)).post(SERVICES, service('1a'))).code, 422)
})

t.test('services say where traffic goes, and expose the port of node agents', async t => {
  t.match(
    (await later.post(
      SERVICES,
      service('near', { trafficDistribution: 'PreferSameNode', type: 'LoadBalancer', ports: [{ port: 10250 }] })
    )).json['spec'],
    { trafficDistribution: 'PreferSameNode' }
  )
  t.same(causes(await later.post(SERVICES, service('far', { trafficDistribution: 'Far' }))), [
    'NotSupported spec.trafficDistribution'
  ])
  t.match((await later.post(SERVICES, service('out', { externalIPs: ['192.0.2.1'] }))).json['spec'], {
    externalTrafficPolicy: 'Cluster'
  })
})

t.test('addresses of balancers have a mode', async t => {
  await later.post(SERVICES, service('lb', { type: 'LoadBalancer' }))
  const status = async (name: string, ingress: Json[]) =>
    await later.patch(`${SERVICES}/${name}/status`, { status: { loadBalancer: { ingress } } }, MERGE)
  t.match((await status('lb', [{ ip: '192.0.2.1' }, { hostname: 'a.b' }])).json['status'], {
    loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }, { hostname: 'a.b' }] }
  })
  t.same(
    causes(await status('lb', [{ hostname: 'a.b', ipMode: 'Proxy' }, { ip: '192.0.2.1', ipMode: 'Other' }])),
    ['Forbidden status.loadBalancer.ingress[0].ipMode', 'NotSupported status.loadBalancer.ingress[1].ipMode']
  )
  await later.post(SERVICES, service('plain'))
  t.same(causes(await status('plain', [{ ip: '192.0.2.1' }])), ['Forbidden status.loadBalancer.ingress'])
})

t.test('claims get a class later, and other attributes when they are bound', async t => {
  const claim: Json = {
    metadata: { name: 'c' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } }
  }
  await later.post(CLAIMS, claim)
  t.equal((await later.patch(`${CLAIMS}/c`, { spec: { storageClassName: 'fast' } }, MERGE)).code, 200)
  t.same(causes(await later.patch(`${CLAIMS}/c`, { spec: { storageClassName: 'slow' } }, MERGE)), ['Forbidden spec'])
  t.same(
    causes(await later.patch(`${CLAIMS}/c`, { spec: { volumeAttributesClassName: 'gold' } }, MERGE)), ['Forbidden spec']
  )
  await later.patch(`${CLAIMS}/c`, { spec: { volumeName: 'v' } }, MERGE)
  await later.patch(
    `${CLAIMS}/c/status`,
    { status: { phase: 'Bound', capacity: { storage: '1Gi' }, currentVolumeAttributesClassName: 'gold' } }, MERGE
  )
  t.match(
    (await later.patch(`${CLAIMS}/c`, { spec: { volumeAttributesClassName: 'gold' } }, MERGE)).json['spec'],
    { volumeAttributesClassName: 'gold' }
  )
  t.same(
    causes(await later.patch(`${CLAIMS}/c`, { spec: { volumeAttributesClassName: null } }, MERGE)),
    ['Forbidden spec.volumeAttributesClassName']
  )
  t.equal(
    (await later.patch(`${CLAIMS}/c`, { spec: { resources: { requests: { storage: '1500Mi' } } } }, MERGE)).code, 200,
    'just above what it has'
  )
  t.same(
    causes(await later.patch(
      `${CLAIMS}/c/status`, { status: { allocatedResourceStatuses: { storage: 'Soon' } } }, MERGE
    )),
    ['NotSupported status.allocatedResourceStatuses']
  )
})

t.test('hints for nodes are checked', async t => {
  const SLICES = '/apis/discovery.orch.io/v1/namespaces/default/endpointslices'
  const slice = (forNodes: Json[]): Json => ({
    metadata: { name: 's' }, addressType: 'IPv4', endpoints: [{ addresses: ['192.0.2.1'], hints: { forNodes } }]
  })
  t.same(causes(await later.post(SLICES, slice([{ name: 'a' }, { name: 'a' }, { name: 'A_' }]))), [
    'Duplicate endpoints[0].hints.forNodes[1].name', 'Invalid endpoints[0].hints.forNodes[2].name'
  ])
  t.same(
    causes(await later.post(SLICES, slice(Array.from({ length: 9 }, (_, index) => ({ name: `n${index}` }))))),
    ['TooMany endpoints[0].hints.forNodes']
  )
})

t.test('volumes note when their phase changes', async t => {
  const volume: Json = {
    metadata: { name: 'v' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      hostPath: { path: '/a' },
      volumeAttributesClassName: 'gold'
    }
  }
  t.same(causes(await later.post(VOLUMES, volume)), ['Required spec.csi'])
  const made = await later.post(VOLUMES, {
    ...volume,
    spec: {
      ...volume['spec'] as Json,
      hostPath: undefined,
      csi: { driver: 'd', volumeHandle: 'h', nodeExpandSecretRef: { name: 's', namespace: 'n' } }
    }
  })
  t.match(made.json, {
    spec: { csi: { nodeExpandSecretRef: { name: 's' } } }, status: { phase: 'Pending', lastPhaseTransitionTime: /^20/ }
  })
  const bound = await later.patch(
    `${VOLUMES}/v/status`, { status: { phase: 'Bound', lastPhaseTransitionTime: '2001-01-01T00:00:00Z' } }, MERGE
  )
  t.match(bound.json['status'], { phase: 'Bound', lastPhaseTransitionTime: '2001-01-01T00:00:00Z' })
  const kept = await later.put(`${VOLUMES}/v/status`, { ...bound.json, status: { phase: 'Bound', message: 'm' } })
  t.match(
    kept.json['status'], { message: 'm', lastPhaseTransitionTime: '2001-01-01T00:00:00Z' },
    'writers that do not know the time keep it'
  )
  t.notMatch(
    (await later.patch(`${VOLUMES}/v/status`, { status: { phase: 'Released' } }, MERGE)).json['status'],
    { lastPhaseTransitionTime: /^2001/ }
  )
  t.same(
    causes(await later.patch(`${VOLUMES}/v`, { spec: { volumeAttributesClassName: null } }, MERGE)),
    ['Forbidden spec.volumeAttributesClassName']
  )
})

t.test('hints for nodes are stored, and unknown before', async t => {
  const SLICES = '/apis/discovery.orch.io/v1/namespaces/default/endpointslices'
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const slice = {
    metadata: { name: 's' },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.2.3'], hints: { forNodes: [{ name: 'n' }] } }],
    ports: null
  }
  const server = await build(t, { storage, emulatedVersion: '1.36' })
  t.match((await server.post(SLICES, slice)).json['endpoints'], slice.endpoints)
  await server.app.close()
  const earlier = await build(t, { storage })
  t.match(
    (await earlier.post(SLICES, { ...slice, metadata: { name: 't' } })).headers['warning'], [/unknown field .*forNodes/]
  )
  t.equal((await earlier.patch(`${SLICES}/s`, { metadata: { labels: { a: 'b' } } })).code, 200)
  await earlier.app.close()
  t.match(
    (await (await build(t, { storage, emulatedVersion: '1.36' })).get(`${SLICES}/s`)).json['endpoints'], slice.endpoints
  )
})

t.test('ranges of balancers are told apart, and annotations about topology agree', async t => {
  const earlier = await build(t)
  const both = async (sent: Json): Promise<string[][]> => [
    causes(await later.post(`${SERVICES}?dryRun=All`, sent)), causes(await earlier.post(`${SERVICES}?dryRun=All`, sent))
  ]
  const ranged = service(
    'ranged', { type: 'LoadBalancer', loadBalancerSourceRanges: [' 192.0.2.0/24 ', 'x', '192.0.2.0/33'] }
  )
  t.same(
    await both(ranged),
    [
      ['Invalid spec.LoadBalancerSourceRanges[1]', 'Invalid spec.LoadBalancerSourceRanges[2]'],
      ['Invalid spec.LoadBalancerSourceRanges']
    ]
  )
  const annotated = (hints: string): Json => ({
    ...service('annotated'),
    metadata: {
      name: 'annotated',
      annotations: { 'service.orch.io/topology-aware-hints': hints, 'service.orch.io/topology-mode': 'Auto' }
    }
  })
  t.same(await both(annotated('Disabled')), [['Invalid metadata.annotations[service.orch.io/topology-mode]'], []])
  t.same(await both(annotated('Auto')), [[], []])
})

t.test('secrets of volumes have long names, and labels in their affinity may get new ones', async t => {
  const earlier = await build(t)
  const volume = (name: string, spec: Json): Json => ({
    metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...spec }
  })
  const secret = (name: string, part: Json): Json => volume(
    'v', { csi: { driver: 'd', volumeHandle: 'h', [name]: part } }
  )
  for (const name of [
    'controllerPublishSecretRef', 'controllerExpandSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef'
  ]) {
    t.same(
      causes(await later.post(`${VOLUMES}?dryRun=All`, secret(name, {}))),
      [`Required spec.csi.${name}.name`, `Required spec.csi.${name}.namespace`]
    )
    t.same(
      causes(await later.post(`${VOLUMES}?dryRun=All`, secret(name, { name: '_', namespace: '_' }))),
      [`Invalid spec.csi.${name}.name`, `Invalid spec.csi.${name}.namespace`]
    )
    t.same(causes(await later.post(`${VOLUMES}?dryRun=All`, secret(name, { name: 'a.b', namespace: 'c' }))), [])
  }
  t.same(
    causes(await earlier.post(
      `${VOLUMES}?dryRun=All`, secret('nodePublishSecretRef', { name: 'a.b', namespace: 'c' })
    )),
    ['Invalid spec.csi.name']
  )
  const nodeAffinity = (key: string, value = 'a'): Json => ({
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }] }
    }
  })
  const changed = async (client: Client, old: Json, spec: Json): Promise<string[]> => {
    const { json } = await client.post(
      VOLUMES, { ...volume('', { hostPath: { path: '/a' }, ...old }), metadata: { generateName: 'a-' } }
    )
    return causes(await client.patch(`${VOLUMES}/${String(json['metadata'].name)}`, { spec }, MERGE))
  }
  const [old, now] = ['failure-domain.beta.orch.io/zone', 'topology.orch.io/zone']
  t.same(await changed(later, nodeAffinity(old), nodeAffinity(now)), [])
  t.same(await changed(later, nodeAffinity(old), nodeAffinity(now, 'b')), ['Invalid nodeAffinity'])
  t.same(await changed(later, nodeAffinity(now), nodeAffinity(old)), ['Invalid nodeAffinity'])
  t.same(await changed(earlier, nodeAffinity(old), nodeAffinity(now)), ['Invalid nodeAffinity'])
  t.same(
    causes(await later.post(VOLUMES, volume('v', { hostPath: { path: '/a' }, ...nodeAffinity('a', '-1') }))),
    ['Invalid spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0]']
  )
})

t.test('claims name groups, get a class when they are bound, and report only what storage does', async t => {
  const claim = (name: string, more: Json = {}, metadata: Json = {}): Json => ({
    metadata: { name, ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more }
  })
  const source = { dataSourceRef: { kind: 'A', name: 'a', apiGroup: '^' } }
  t.same(
    causes(await later.post(CLAIMS, claim('s', source))),
    ['Invalid spec.dataSource.apiGroup', 'Invalid spec.dataSourceRef.apiGroup']
  )
  t.same(causes(await (await build(t)).post(CLAIMS, claim('s', source))), [])
  await later.post(CLAIMS, claim('bound', { volumeName: 'v' }))
  t.equal((await later.patch(`${CLAIMS}/bound`, { spec: { storageClassName: 'a' } }, MERGE)).code, 200)
  await later.post(CLAIMS, claim('annotated', {}, { annotations: { 'volume.beta.orch.io/storage-class': 'a' } }))
  t.same(
    causes(await later.patch(`${CLAIMS}/annotated`, { spec: { storageClassName: 'b' } }, MERGE)), ['Forbidden spec']
  )
  const status = async (sent: Json): Promise<string[]> => causes(await later.patch(
    `${CLAIMS}/bound/status`, { status: sent }, MERGE
  )).toSorted()
  t.same(
    await status({ allocatedResources: { storage: '-1', cpu: '1' } }),
    ['Invalid status.allocatedResources[storage]', 'NotSupported status.allocatedResources']
  )
  t.same(
    await status({
      allocatedResourceStatuses: { 'a b': 'NodeResizePending', cpu: 'NodeResizePending', 'a.b/c': 'NodeResizePending' }
    }),
    ['Invalid status.allocatedResourceStatuses', 'NotSupported status.allocatedResourceStatuses']
  )
  const earlier = await build(t)
  await earlier.post(CLAIMS, claim('bound'))
  const patch = { status: { allocatedResourceStatuses: { storage: 'NodeResizePending' } } }
  t.match(await earlier.patch(`${CLAIMS}/bound/status`, patch, MERGE), {
    code: 200, headers: { warning: ['299 - "unknown field \\"status.allocatedResourceStatuses\\""'] }
  }, 'and unknown to 1.24, although that has the gate')
})

t.test('quotas count claims by their class of attributes', async t => {
  const QUOTAS = '/api/v1/namespaces/default/resourcequotas'
  const quota = (name: string, spec: Json): Json => ({ metadata: { name }, spec })
  const scoped = (operator: string, values?: string[]): Json => ({
    hard: { persistentvolumeclaims: '1' },
    scopeSelector: {
      matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator, ...values === undefined ? {} : { values } }]
    }
  })
  t.same(
    causes(await later.post(QUOTAS, quota('pods', { hard: { pods: '1' }, scopes: ['VolumeAttributesClass'] }))),
    ['Invalid spec.scopes']
  )
  t.same(
    causes(await (await build(t)).post(QUOTAS, quota('early', scoped('Exists')))),
    ['Invalid spec.scopeSelector.matchExpressions.scopeName']
  )
  t.equal((await later.post(QUOTAS, quota('gold', scoped('In', ['gold'])))).code, 201)
  t.equal(
    (await later.patch(
      `${QUOTAS}/gold/status`,
      { status: { hard: { persistentvolumeclaims: '1' }, used: { persistentvolumeclaims: '0' } } }, MERGE
    )).code,
    200
  )
  const claim = async (name: string, volumeAttributesClassName?: string): Promise<number> =>
    (await later.post(
      CLAIMS,
      {
        metadata: { name },
        spec: {
          accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } },
          ...volumeAttributesClassName === undefined ? {} : { volumeAttributesClassName }
        }
      }
    )).code
  t.same(
    [await claim('g1', 'gold'), await claim('g2', 'gold'), await claim('s1', 'silver'), await claim('n1')],
    [201, 403, 201, 201]
  )
  t.equal((await later.delete(`${QUOTAS}/gold`)).code, 200)
})

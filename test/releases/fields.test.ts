/** Fields that came after the interface's release, where either release is emulated. */
import t from 'tap'
import { build, type Client, type Json } from '../build.js'

const PODS = '/api/v1/namespaces/default/pods'
const pod = (name: string, spec: Json = {}, container: Json = {}): Json => ({
  kind: 'Pod', apiVersion: 'v1', metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec }
})
const strict = (server: Client, object: Json) => server.post(`${PODS}?fieldValidation=Strict`, object)
const APPLY = 'application/apply-patch+yaml'

t.test('an earlier release does not know a later field', async t => {
  const server = await build(t)
  const refused = await strict(
    server, pod('a', { hostUsers: false }, { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] })
  )
  t.match(refused, {
    code: 400,
    json: {
      message: 'strict decoding error: unknown field "spec.containers[0].resizePolicy", unknown field "spec.hostUsers"'
    }
  })
  const made = await server.post(PODS, pod('a', { hostUsers: false }))
  t.match(made, { code: 201, headers: { warning: ['299 - "unknown field \\"spec.hostUsers\\""'] } })
  t.notOk('hostUsers' in (made.json['spec'] as Json))
  const url = `${PODS}/b?fieldManager=m`
  t.match(await server.patch(url, pod('b', { hostUsers: false }), APPLY), {
    code: 400, json: { message: /\.spec\.hostUsers: field not declared in schema/ }
  })
  const definitions = (await server.get('/openapi/v2')).json['definitions'] as Record<string, { properties: Json }>
  t.notOk('hostUsers' in (definitions['io.orch.api.core.v1.PodSpec']?.properties ?? {}))
})

t.test('a later release has its fields, and keeps them for an earlier one', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const later = await build(t, { storage, emulatedVersion: '1.36' })
  const policy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
  t.match(await strict(later, pod('a', { hostUsers: false }, { resizePolicy: policy })), {
    code: 201, json: { spec: { hostUsers: false, containers: [{ resizePolicy: policy }] } }
  })
  const definitions = (await later.get('/openapi/v2')).json['definitions'] as Record<string, { properties: Json }>
  t.ok('hostUsers' in (definitions['io.orch.api.core.v1.PodSpec']?.properties ?? {}))
  await later.app.close()
  const earlier = await build(t, { storage })
  const kept = await earlier.get(`${PODS}/a`)
  t.match(kept.json['spec'], { hostUsers: false, containers: [{ resizePolicy: policy }] })
  const labelled = await earlier.put(`${PODS}/a?fieldValidation=Strict`, {
    ...kept.json, metadata: { ...kept.json['metadata'] as Json, labels: { x: 'y' } }
  })
  t.match(labelled, { code: 200, json: { metadata: { labels: { x: 'y' } }, spec: { hostUsers: false } } })
  await earlier.app.close()
  const again = await build(t, { storage, emulatedVersion: '1.36' })
  t.match((await again.get(`${PODS}/a`)).json['spec'], { hostUsers: false, containers: [{ resizePolicy: policy }] })
})

t.test('fields whose gate is off are known to a later release, and dropped', async t => {
  const featureGates = { ClusterTrustBundle: true, ClusterTrustBundleProjection: true, GenericWorkload: true }
  const sources = [
    { clusterTrustBundle: { name: 'b', path: 'p' } }, { podCertificate: { signerName: 'a/b', keyType: 'RSA3072' } },
    { serviceAccountToken: { path: 't' } }
  ]
  const spec = { schedulingGroup: { podGroupName: 'g' }, volumes: [{ name: 'v', projected: { sources } }] }
  const lease = {
    metadata: { name: 'a' }, spec: { strategy: 'OldestEmulationVersion', preferredHolder: 'x', holderIdentity: 'y' }
  }
  const LEASES = '/apis/coordination.orch.io/v1/namespaces/default/leases'
  const server = await build(t, { emulatedVersion: '1.36' })
  for (const one of [server, await build(t, { emulatedVersion: '1.36', featureGates })]) {
    const made = await strict(one, pod('a', spec))
    t.equal(made.code, 201)
    t.notOk('schedulingGroup' in (made.json['spec'] as Json))
    t.same(made.json['spec'].volumes[0].projected.sources, [{}, {}, {
      serviceAccountToken: { path: 't', expirationSeconds: 3600 }
    }])
    const signalled = await strict(one, pod('s', { os: { name: 'linux' } }, { lifecycle: { stopSignal: 'SIGTERM' } }))
    t.same([signalled.code, signalled.json['spec'].containers[0].lifecycle], [201, undefined])
    const held = await one.post(`${LEASES}?fieldValidation=Strict`, lease)
    t.equal(held.code, 201)
    t.same(held.json['spec'], { holderIdentity: 'y' })
  }
  const earlier = await build(t)
  t.match(await strict(earlier, pod('a', { schedulingGroup: {} })), { code: 400 })
  t.match(await earlier.post(`${LEASES}?fieldValidation=Strict`, lease), {
    code: 400, json: { message: /unknown field "spec.preferredHolder", unknown field "spec.strategy"/ }
  })
})

t.test('a source of a claim in another namespace needs its gate, and is dropped whole without', async t => {
  const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims?fieldValidation=Strict'
  const dataSourceRef = { apiGroup: 'a.example', kind: 'A', name: 'a', namespace: 'other' }
  const claim = (more: Json, name = 'a') => ({
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } }, dataSourceRef, ...more }
  })
  const off = await build(t, { emulatedVersion: '1.36' })
  const { code, json: { spec } } = await off.post(CLAIMS, claim({}))
  t.same([code, spec.dataSource, spec.dataSourceRef], [201, undefined, undefined])
  const on = await build(t, { emulatedVersion: '1.36', featureGates: { CrossNamespaceVolumeDataSource: true } })
  const kept = (await on.post(CLAIMS, claim({}))).json['spec']
  t.same([kept.dataSource, kept.dataSourceRef], [undefined, dataSourceRef])
  const { namespace: _, ...dataSource } = dataSourceRef
  t.same((await on.post(CLAIMS, claim({
    dataSource: { kind: 'PersistentVolumeClaim', name: 'b' }
  }, 'b'))).json['details'].causes.map(({ field }: Json) => field), ['spec'])
  t.same((await on.post(CLAIMS, claim({
    dataSourceRef: { ...dataSource, namespace: 'A' }
  }, 'c'))).json['details'].causes.map(({ field }: Json) => field), ['spec.dataSourceRef.namespace'])
  t.match((await on.post(CLAIMS, claim({
    resources: { claims: [{ name: 'a' }], requests: { storage: '1' } }
  }, 'd'))).json['message'], 'unknown field "spec.resources.claims"')
  const typesOf = async (server: Client) => {
    const { definitions } = (await server.get('/openapi/v2')).json
    const { dataSourceRef, resources } = definitions['io.orch.api.core.v1.PersistentVolumeClaimSpec'].properties
    return [dataSourceRef, resources].map(property => /v1\.(\w+)"/.exec(JSON.stringify(property))?.[1])
  }
  t.same(await typesOf(on), ['TypedObjectReference', 'VolumeResourceRequirements'])
  t.same(await typesOf(await build(t)), ['TypedLocalObjectReference', 'ResourceRequirements'])
})

t.test('an earlier release does not know tolerances of autoscalers, and a gate drops them', async t => {
  const SCALERS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
  const scaler = (name: string) => ({
    metadata: { name }, spec: {
      maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      behavior: { scaleUp: { tolerance: '0.1' } }
    }
  })
  const server = await build(t)
  t.match(await server.post(`${SCALERS}?fieldValidation=Strict`, scaler('a')), {
    code: 400, json: { message: /unknown field "spec.behavior.scaleUp.tolerance"/ }
  })
  const featureGates = { HPAConfigurableTolerance: false }
  for (const one of [server, await build(t, { emulatedVersion: '1.36', featureGates })]) {
    const made = await one.post(SCALERS, scaler('a'))
    t.equal(made.code, 201)
    t.notOk('tolerance' in made.json['spec'].behavior.scaleUp)
    t.match(made.json['spec'].behavior.scaleUp, { selectPolicy: 'Max' })
  }
})

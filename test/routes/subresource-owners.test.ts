/** Owners after writes through subresources. */
import t from 'tap'
import { build, type Json } from '../build.js'
import { SAMPLES } from '../samples.js'
import { DEPLOYMENTS, apply, ownersOf } from './owners.js'

const MERGE = 'application/merge-patch+json'

for (const { type, url, sent, owned } of [
  {
    type: 'apps/deployments',
    url: DEPLOYMENTS,
    sent: { labels: { l: '1' }, annotations: { a: '1' } },
    owned: '{"f:metadata":{"f:annotations":{"f:a":{}}}}'
  },
  {
    type: '/pods',
    url: '/api/v1/namespaces/default/pods',
    sent: { labels: { l: '1' }, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }] },
    owned: '{"f:metadata":{"f:labels":{"f:l":{}}}}'
  },
  {
    type: 'flowcontrol.apiserver.orch.io/flowschemas',
    url: '/apis/flowcontrol.apiserver.orch.io/v1beta2/flowschemas',
    sent: { labels: { l: '1' }, annotations: { a: '1' } },
    owned: undefined
  }
]) {
  t.test(`the applier of the status of ${type} owns no metadata that it does not change`, async t => {
    const server = await build(t)
    const { code, json: { kind, apiVersion } } = await server.post(url, { ...SAMPLES[type], metadata: { name: 'x' } })
    t.equal(code, 201)
    const { json } = await apply(server, `${url}/x/status`, 'me', {
      kind, apiVersion, metadata: { name: 'x', ...sent }, status: {}
    })
    t.equal(
      ownersOf(json)['Apply me status']?.replace(',"f:status":{}', '').replace('{"f:status":{}}', '') || undefined,
      owned
    )
    const changed = await server.patch(`${url}/x/status`, { metadata: { labels: { l: '2' } } }, MERGE)
    t.same(changed.json.metadata.labels, type === '/pods' ? { ...json.metadata.labels, l: '2' } : json.metadata.labels)
  })
}

t.test('the status of types that came since says nothing about metadata', async t => {
  const server = await build(
    t,
    {
      emulatedVersion: '1.36', featureGates: { StorageVersionMigrator: true, DRADeviceTaintRules: true },
      api: { disabled: [] }
    }
  )
  for (const [type, url] of [
    [
      'admissionregistration.orch.io/validatingadmissionpolicies',
      '/apis/admissionregistration.orch.io/v1/validatingadmissionpolicies'
    ],
    ['networking.orch.io/servicecidrs', '/apis/networking.orch.io/v1/servicecidrs'],
    ['resource.orch.io/devicetaintrules', '/apis/resource.orch.io/v1beta2/devicetaintrules'],
    ['resource.orch.io/resourceclaims', '/apis/resource.orch.io/v1/namespaces/default/resourceclaims'],
    [
      'storagemigration.orch.io/storageversionmigrations',
      '/apis/storagemigration.orch.io/v1beta1/storageversionmigrations'
    ]
  ] as const) {
    const { code, json: { kind, apiVersion } } = await server.post(
      url, { ...SAMPLES[type], metadata: { name: 'x', labels: { l: '1' } } }
    )
    t.equal(code, 201, type)
    const applied = await apply(
      server, `${url}/x/status`, 'me', { kind, apiVersion, metadata: { name: 'x', labels: { m: '1' } }, status: {} }
    )
    t.match(applied, { code: 200, json: { metadata: { labels: { l: '1', m: undefined } } } }, type)
    t.notMatch(ownersOf(applied.json)['Apply me status'] ?? '', /metadata/, type)
    const { json } = await server.patch(
      `${url}/x/status`, { metadata: { labels: { l: '2' }, annotations: { a: '1' }, finalizers: ['example.com/f'] } },
      MERGE
    )
    t.match(json.metadata, { labels: { l: '1' }, annotations: undefined }, type)
    t.notMatch(json.metadata.finalizers ?? [], ['example.com/f'], type)
  }
})

t.test('a client that adds an ephemeral container owns that alone', async t => {
  const server = await build(t)
  const url = '/api/v1/namespaces/default/pods'
  await server.post(url, { ...SAMPLES['/pods'], metadata: { name: 'x' } })
  const { json } = await server.patch(
    `${url}/x/ephemeralcontainers?fieldManager=me`,
    { metadata: { labels: { l: '1' } }, spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } },
    'application/strategic-merge-patch+json'
  )
  t.equal(json.metadata.labels, undefined)
  t.same(Object.keys(JSON.parse(ownersOf(json)['Update me ephemeralcontainers'] ?? '{}') as object), ['f:spec'])
})

t.test('a client that approves a request owns the approval', async t => {
  const server = await build(t)
  const url = '/apis/certificates.orch.io/v1/certificatesigningrequests'
  await server.post(url, { metadata: { name: 'x' }, ...SAMPLES['certificates.orch.io/certificatesigningrequests'] })
  const conditions = [{ type: 'Approved', status: 'True', reason: 'because' }]
  const { json } = await server.patch(`${url}/x/approval?fieldManager=me`, { status: { conditions } }, MERGE)
  t.match(JSON.parse(ownersOf(json)['Update me approval'] ?? '{}'), {
    'f:status': { 'f:conditions': { 'k:{"type":"Approved"}': { 'f:reason': {} } } }
  })
})

t.test('conflicts over replicas are reported in the version of the scale, or of the object', async t => {
  const server = await build(t)
  const deployment = SAMPLES['apps/deployments'] as Json
  await server.post(`${DEPLOYMENTS}?fieldManager=maker`, {
    metadata: { name: 'd' }, spec: { ...deployment['spec'], replicas: 2 }
  })
  const scale = (manager: string, replicas: number, query = '') => apply(
    server, `${DEPLOYMENTS}/d/scale`, manager,
    { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas } }, query
  )
  t.match(await scale('me', 3), {
    code: 409,
    json: { message: 'Apply failed with 1 conflict: conflict with "maker" using autoscaling/v1: .spec.replicas' }
  })
  await server.patch(`${DEPLOYMENTS}/d/scale?fieldManager=other`, { spec: { replicas: 4 } }, MERGE)
  t.match(await scale('me', 3), {
    json: {
      details: {
        causes: [
          { message: 'conflict with "other" with subresource "scale" using autoscaling/v1', field: '.spec.replicas' }
        ]
      }
    }
  })
  t.match(
    await apply(server, `${DEPLOYMENTS}/d`, 'me', {
      apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { replicas: 3 }
    }),
    { json: { details: { causes: [{ message: 'conflict with "other" with subresource "scale" using apps/v1' }] } } }
  )
  for (const replicas of [0, 1, 2 ** 31 - 1]) {
    t.equal((await scale('me', replicas, '&force=true')).code, 200, `${replicas} replicas`)
  }
  t.match(ownersOf((await server.get(`${DEPLOYMENTS}/d`)).json), { 'Apply me scale': '{"f:spec":{"f:replicas":{}}}' })
})

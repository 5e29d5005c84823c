/** What one release has stored, and the other reads: its defaults, and what it allows. */
import t from 'tap'
import { build, listen, PROTOBUF, Watch, type Json } from '../build.js'
import { openBackend } from '../../storage/open.js'
import { decodeProtobuf } from '../../schemas/codec/protobuf/decode.js'
import { Job } from '../../schemas/api/batch/jobs.js'

const JOBS = '/apis/batch/v1/namespaces/default/jobs'
const SERVICES = '/api/v1/namespaces/default/services'
const MERGE = 'application/merge-patch+json'
const service = (name: string, spec: Json): Json => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } })
const job = (name: string): Json => ({
  metadata: { name }, spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } } }
})
const DEFAULTED = { manualSelector: false, podReplacementPolicy: 'TerminatingOrFailed' }

for (const mediaType of ['application/vnd.orch.protobuf', 'application/json'] as const) {
  t.test(`in every answer, stored as ${mediaType}`, async t => {
    const storage = { kind: 'embedded', directory: t.testdir(), mediaType } as const
    const earlier = await listen(t, { storage })
    const made = (await earlier.post(JOBS, job('j'))).json
    t.equal(made['spec'].manualSelector, undefined)
    t.equal(
      (await earlier.post(
        SERVICES, service('exposed', { externalIPs: ['192.0.2.1'] })
      )).json['spec'].externalTrafficPolicy,
      undefined
    )
    t.equal((await earlier.post(SERVICES, service('balanced', { type: 'LoadBalancer' }))).code, 201)
    const ingress = [{ ip: '192.0.2.2' }, { hostname: 'a.example.com' }]
    t.strictSame(
      (await earlier.patch(
        `${SERVICES}/balanced/status`, { status: { loadBalancer: { ingress } } }, MERGE
      )).json['status'].loadBalancer.ingress,
      ingress
    )
    const plain = `${SERVICES}/exposed/status`
    t.equal((await earlier.patch(plain, { status: { loadBalancer: { ingress } } }, MERGE)).code, 200, 'of any type')
    await earlier.app.close()

    const server = await listen(t, { storage, emulatedVersion: '1.36' })
    const stands = (await server.get(`${SERVICES}/exposed`)).json
    t.equal((await server.put(plain, stands)).code, 200, 'what stands may be written again')
    const further = { status: { loadBalancer: { ingress: [{ ip: '192.0.2.3' }] } } }
    t.match(
      (await server.patch(plain, further, MERGE)).json['details'].causes, [{ field: 'status.loadBalancer.ingress' }]
    )
    const { json } = await server.get(`${JOBS}/j`)
    t.match(json['spec'], DEFAULTED)
    t.match((await server.get(JOBS)).json['items'][0].spec, DEFAULTED, 'in lists')
    t.match(
      decodeProtobuf(Job, (await server.get(`${JOBS}/j`, { accept: PROTOBUF })).raw).object.spec, DEFAULTED,
      'in protobuf'
    )
    const watch = await Watch.open(t, `${server.url}${JOBS}?watch=1`)
    t.match((await watch.take(1))[0]?.object['spec'], DEFAULTED, 'in watches')
    watch.close()
    t.equal((await server.get(`${SERVICES}/exposed`)).json['spec'].externalTrafficPolicy, 'Cluster')
    t.strictSame((await server.get(`${SERVICES}/balanced`)).json['status'].loadBalancer.ingress, [
      { ip: '192.0.2.2', ipMode: 'VIP' }, ingress[1]
    ])

    t.equal(
      (await server.put(`${JOBS}/j`, json)).json['metadata'].generation, made['metadata'].generation,
      'defaults are no change'
    )
    t.match((await server.patch(`${JOBS}/j`, { metadata: { labels: { a: 'b' } } }, MERGE)).json, {
      metadata: { generation: made['metadata'].generation }, spec: DEFAULTED
    })
    t.equal(
      (await server.put(`${SERVICES}/exposed`, {
        ...service('exposed', { externalIPs: ['192.0.2.1'] })
      })).json['spec'].externalTrafficPolicy,
      'Cluster',
      'in an update that omits it'
    )
    await server.app.close()
    const again = await listen(t, { storage })
    t.match((await again.get(`${JOBS}/j`)).json['spec'], DEFAULTED, 'what was stored by then stays')
    t.match(await again.patch(`${SERVICES}/exposed`, { metadata: { labels: { a: 'b' } } }, MERGE), { code: 200 })
  })
}

t.test('1.24 refuses what only 1.36 allows, and leaves it where it stands', async t => {
  const storage = await openBackend({ kind: 'memory' })
  t.teardown(() => storage.close())
  const [earlier, later] = [await build(t, { storage }), await build(t, { storage, emulatedVersion: '1.36' })]
  const container = {
    name: 'c', image: 'i', env: [{ name: '1 a', value: 'x' }], envFrom: [{ prefix: '1-', configMapRef: { name: 'm' } }]
  }
  const claim = { spec: { accessModes: ['ReadWriteOncePod'], resources: { requests: { storage: '1Gi' } } } }
  const spec = {
    containers: [container],
    dnsConfig: { searches: ['.', '_a.b'] },
    volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: claim } }]
  }
  for (const [path, object] of [
    [SERVICES, service('1a', {})], [SERVICES, service('out', { externalIPs: ['192.0.2.1'] })],
    [SERVICES, service('near', { trafficDistribution: 'PreferSameNode' })],
    [SERVICES, service('agent', { type: 'LoadBalancer', ports: [{ port: 10250 }] })],
    ['/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec }],
    [
      '/api/v1/namespaces/default/podtemplates',
      { metadata: { name: 't' }, template: { metadata: { labels: { a: 'b' } }, spec } }
    ],
    [
      '/apis/apps/v1/namespaces/default/deployments',
      {
        metadata: { name: 'd' },
        spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec } }
      }
    ]
  ] as Array<[string, Json]>) {
    const made = await later.post(path, object)
    t.equal(made.code, 201, made.body)
    const url = `${path}/${String(made.json['metadata'].name)}`
    const { json } = await earlier.get(url)
    t.match(await earlier.put(url, json), { code: 200 }, url)
    t.match(await earlier.patch(url, { metadata: { labels: { a: 'b' }, finalizers: [] } }, MERGE), { code: 200 }, url)
    if (url.endsWith('/out')) continue // as it came, it has no policy yet
    const again = { ...object, metadata: { name: `${String(made.json['metadata'].name)}2` } }
    if (url.endsWith('/near')) t.notOk('trafficDistribution' in (await earlier.post(path, again)).json['spec'])
    else t.equal((await earlier.post(path, again)).code, 422, url)
  }
})

/** Objects that 1.24 has stored have the defaults of 1.36 where that reads them. */
import t from 'tap'
import { listen, PROTOBUF, Watch, type Json } from '../build.js'
import { decodeProtobuf } from '../../schemas/codec/protobuf/decode.js'
import { Job } from '../../schemas/api/batch/jobs.js'

const JOBS = '/apis/batch/v1/namespaces/default/jobs'
const SERVICES = '/api/v1/namespaces/default/services'
const MERGE = 'application/merge-patch+json'
const service = (name: string, spec: Json): Json => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } })
const job = (name: string): Json => ({ metadata: { name }, spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } } } })
const DEFAULTED = { manualSelector: false, podReplacementPolicy: 'TerminatingOrFailed' }

for (const mediaType of ['application/vnd.orch.protobuf', 'application/json'] as const) {
  t.test(`in every answer, stored as ${mediaType}`, async t => {
    const storage = { kind: 'embedded', directory: t.testdir(), mediaType } as const
    const earlier = await listen(t, { storage })
    const made = (await earlier.post(JOBS, job('j'))).json
    t.equal(made['spec'].manualSelector, undefined)
    t.equal((await earlier.post(SERVICES, service('exposed', { externalIPs: ['192.0.2.1'] }))).json['spec'].externalTrafficPolicy, undefined)
    t.equal((await earlier.post(SERVICES, service('balanced', { type: 'LoadBalancer' }))).code, 201)
    const ingress = [{ ip: '192.0.2.2' }, { hostname: 'a.example.com' }]
    t.strictSame((await earlier.patch(`${SERVICES}/balanced/status`, { status: { loadBalancer: { ingress } } }, MERGE)).json['status'].loadBalancer.ingress, ingress)
    await earlier.app.close()

    const server = await listen(t, { storage, emulatedVersion: '1.36' })
    const { json } = await server.get(`${JOBS}/j`)
    t.match(json['spec'], DEFAULTED)
    t.match((await server.get(JOBS)).json['items'][0].spec, DEFAULTED, 'in lists')
    t.match(decodeProtobuf(Job, (await server.get(`${JOBS}/j`, { accept: PROTOBUF })).raw).object.spec, DEFAULTED, 'in protobuf')
    const watch = await Watch.open(t, `${server.url}${JOBS}?watch=1`)
    t.match((await watch.take(1))[0]?.object['spec'], DEFAULTED, 'in watches')
    watch.close()
    t.equal((await server.get(`${SERVICES}/exposed`)).json['spec'].externalTrafficPolicy, 'Cluster')
    t.strictSame((await server.get(`${SERVICES}/balanced`)).json['status'].loadBalancer.ingress, [{ ip: '192.0.2.2', ipMode: 'VIP' }, ingress[1]])

    t.equal((await server.put(`${JOBS}/j`, json)).json['metadata'].generation, made['metadata'].generation, 'defaults are no change')
    t.match((await server.patch(`${JOBS}/j`, { metadata: { labels: { a: 'b' } } }, MERGE)).json, { metadata: { generation: made['metadata'].generation }, spec: DEFAULTED })
    t.equal((await server.put(`${SERVICES}/exposed`, { ...service('exposed', { externalIPs: ['192.0.2.1'] }) })).json['spec'].externalTrafficPolicy, 'Cluster', 'in an update that omits it')
    await server.app.close()
    const again = await listen(t, { storage })
    t.match((await again.get(`${JOBS}/j`)).json['spec'], DEFAULTED, 'what was stored by then stays')
    t.equal((await again.patch(`${SERVICES}/exposed`, { metadata: { labels: { a: 'b' } } }, MERGE)).code, 200)
  })
}

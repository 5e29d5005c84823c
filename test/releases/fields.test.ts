/** Fields that came after the interface's release, where either release is emulated. */
import t from 'tap'
import { build, type Client, type Json } from '../build.js'

const PODS = '/api/v1/namespaces/default/pods'
const pod = (name: string, spec: Json = {}, container: Json = {}): Json => ({
  kind: 'Pod', apiVersion: 'v1', metadata: { name }, spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec }
})
const strict = (server: Client, object: Json) => server.post(`${PODS}?fieldValidation=Strict`, object)
const APPLY = 'application/apply-patch+yaml'

t.test('an earlier release does not know a later field', async t => {
  const server = await build(t)
  const refused = await strict(server, pod('a', { hostUsers: false }, { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] }))
  t.match(refused, { code: 400, json: { message: 'strict decoding error: unknown field "spec.containers[0].resizePolicy", unknown field "spec.hostUsers"' } })
  const made = await server.post(PODS, pod('a', { hostUsers: false }))
  t.match(made, { code: 201, headers: { warning: ['299 - "unknown field \\"spec.hostUsers\\""'] } })
  t.notOk('hostUsers' in (made.json['spec'] as Json))
  const url = `${PODS}/b?fieldManager=m`
  t.match(await server.patch(url, pod('b', { hostUsers: false }), APPLY), { code: 400, json: { message: /\.spec\.hostUsers: field not declared in schema/ } })
  const definitions = (await server.get('/openapi/v2')).json['definitions'] as Record<string, { properties: Json }>
  t.notOk('hostUsers' in (definitions['io.orch.api.core.v1.PodSpec']?.properties ?? {}))
})

t.test('a later release has its fields, and keeps them for an earlier one', async t => {
  const storage = { kind: 'embedded', directory: t.testdir() } as const
  const later = await build(t, { storage, emulatedVersion: '1.36' })
  const policy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
  t.match(await strict(later, pod('a', { hostUsers: false }, { resizePolicy: policy })), { code: 201, json: { spec: { hostUsers: false, containers: [{ resizePolicy: policy }] } } })
  const definitions = (await later.get('/openapi/v2')).json['definitions'] as Record<string, { properties: Json }>
  t.ok('hostUsers' in (definitions['io.orch.api.core.v1.PodSpec']?.properties ?? {}))
  await later.app.close()
  const earlier = await build(t, { storage })
  const kept = await earlier.get(`${PODS}/a`)
  t.match(kept.json['spec'], { hostUsers: false, containers: [{ resizePolicy: policy }] })
  const labelled = await earlier.put(`${PODS}/a?fieldValidation=Strict`, { ...kept.json, metadata: { ...kept.json['metadata'] as Json, labels: { x: 'y' } } })
  t.match(labelled, { code: 200, json: { metadata: { labels: { x: 'y' } }, spec: { hostUsers: false } } })
  await earlier.app.close()
  const again = await build(t, { storage, emulatedVersion: '1.36' })
  t.match((await again.get(`${PODS}/a`)).json['spec'], { hostUsers: false, containers: [{ resizePolicy: policy }] })
})

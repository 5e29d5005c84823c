import t from 'tap'
import { build, type Json, type Client } from '../../build.js'

const PODS = '/api/v1/namespaces/default/pods'
const pod = (name: string): Json => ({
  metadata: { name, annotations: { a: '1' } }, spec: { containers: [{ name: 'c', image: 'i' }] }
})
const binding = (name: string, more: Json = {}): Json => ({
  metadata: { name, ...more['metadata'] }, target: more['target'] ?? { kind: 'Node', name: 'n1' }
})
async function withPod (t: Parameters<typeof build>[0], ...names: string[]): Promise<Client> {
  const server = await build(t)
  for (const name of names) await server.post(PODS, pod(name))
  return server
}

t.test('a binding puts a pod on a node, once', async t => {
  const server = await withPod(t, 'p')
  const { json: { metadata: { managedFields } } } = await server.get(`${PODS}/p`)
  const bound = await server.post(`${PODS}/p/binding`, binding('p', { metadata: { annotations: { b: '2' } } }))
  t.same([bound.code, bound.json.kind, bound.json.status, bound.json.code], [201, 'Status', 'Success', 201])
  const { json } = await server.get(`${PODS}/p`)
  t.equal(json.spec.nodeName, 'n1')
  t.same(json.metadata.annotations, { a: '1', b: '2' })
  t.same(json.metadata.managedFields, managedFields, 'the annotations have no owner')
  t.match(json.status.conditions, [{ type: 'PodScheduled', status: 'True', lastTransitionTime: /Z$/ }])
  t.match(await server.post(`${PODS}/p/binding`, binding('p')), {
    code: 409, json: { reason: 'Conflict', message: /already assigned to node "n1"/ }
  })
})

t.test('a binding may be posted by itself', async t => {
  const server = await withPod(t, 'p')
  t.equal((await server.post('/api/v1/namespaces/default/bindings', binding('p'))).code, 201)
  t.equal((await server.get(`${PODS}/p`)).json.spec.nodeName, 'n1')
  t.equal((await server.post('/api/v1/namespaces/default/bindings', binding('missing'))).code, 404)
  t.match(await server.post('/api/v1/namespaces/default/bindings', { target: { name: 'n1' } }), {
    code: 400, json: { message: 'Name parameter required.' }
  })
})

t.test('a binding names its pod, a node and, if it likes, which pod it means', async t => {
  const server = await withPod(t, 'p')
  const url = `${PODS}/p/binding`
  t.equal((await server.post(url, binding('q'))).code, 400)
  t.equal((await server.post(url, binding('p', { metadata: { namespace: 'other' } }))).code, 400)
  t.match(await server.post(url, binding('p', { target: { kind: 'Pod' } })), {
    code: 422, json: { details: { causes: [{ field: 'target.kind' }, { field: 'target.name' }] } }
  })
  t.equal((await server.post(url, binding('p', { metadata: { uid: 'another' } }))).code, 409)
  t.equal((await server.post(url, binding('p', { metadata: { resourceVersion: '1' } }))).code, 409)
  t.equal((await server.post(`${url}?dryRun=All`, binding('p'))).code, 201)
  t.equal((await server.get(`${PODS}/p`)).json.spec.nodeName, undefined)
})

t.test('a pod that is going is bound to nothing', async t => {
  const server = await build(t)
  await server.post(PODS, { ...pod('p'), metadata: { name: 'p', finalizers: ['example.com/keep'] } })
  await server.delete(`${PODS}/p`)
  t.match(await server.post(`${PODS}/p/binding`, binding('p')), { code: 409, json: { message: /is being deleted/ } })
})

t.test('a pod with scheduling gates is bound to nothing', async t => {
  const server = await build(t, { emulatedVersion: '1.36' })
  await server.post(PODS, {
    ...pod('p'), spec: { ...pod('p')['spec'], schedulingGates: [{ name: 'example.com/wait' }] }
  })
  t.match(await server.post(`${PODS}/p/binding`, binding('p')), {
    code: 409, json: { reason: 'Conflict', message: /non-empty \.spec\.schedulingGates/ }
  })
  t.equal((await server.patch(`${PODS}/p`, { spec: { schedulingGates: [] } })).code, 200)
  t.equal((await server.post(`${PODS}/p/binding`, binding('p'))).code, 201)
})

import t from 'tap'
import { build } from '../build.js'
import { CERTIFICATE, REQUEST } from '../certificate-requests.js'

const PODS = '/api/v1/namespaces/default/pods'
const REQUESTS = '/apis/certificates.orch.io/v1/certificatesigningrequests'
const container = { name: 'c', image: 'i' }

t.test('the subresource changes only ephemeral containers', async t => {
  const server = await build(t)
  const { json } = await server.post(PODS, { metadata: { name: 'p' }, spec: { containers: [container] } })
  const debug = { name: 'debug', image: 'tools' }
  const put = await server.put(`${PODS}/p/ephemeralcontainers`, {
    ...json, spec: { ...json.spec, nodeName: 'n', ephemeralContainers: [debug] }, status: { phase: 'Failed' }
  })
  t.equal(put.code, 200)
  t.match(put.json.spec.ephemeralContainers, [debug])
  t.equal(put.json.spec.nodeName, undefined)
  t.same(put.json.status, json.status)
  t.same(put.json.spec.containers, json.spec.containers)
  t.equal((await server.get(`${PODS}/p/ephemeralcontainers`)).json.kind, 'Pod')
  t.match(
    await server.patch(`${PODS}/p`, { metadata: { labels: { a: 'b' } }, spec: { ephemeralContainers: null } }),
    { code: 422 }
  )
})

t.test('an approval changes only the conditions of a request', async t => {
  const server = await build(t)
  const made = await server.post(REQUESTS, {
    metadata: { name: 'r' }, spec: { request: REQUEST, signerName: 'example.com/one', usages: ['client auth'] }
  })
  t.equal(made.code, 201)
  const condition = { type: 'Approved', status: 'True', reason: 'Known' }
  const approved = await server.put(`${REQUESTS}/r/approval`, {
    ...made.json,
    spec: { ...made.json.spec, signerName: 'example.com/two' },
    status: { conditions: [condition], certificate: 'AAAA' }
  })
  t.equal(approved.code, 200)
  t.match(approved.json, {
    spec: { signerName: 'example.com/one' }, status: { conditions: [condition], certificate: undefined }
  })
  const signed = await server.patch(`${REQUESTS}/r/status`, { status: { certificate: CERTIFICATE } })
  t.match(signed.json.status, { conditions: [condition], certificate: CERTIFICATE })
  const more = await server.patch(`${REQUESTS}/r/approval`, {
    status: { conditions: [condition, { type: 'Seen', status: 'True' }], certificate: null }
  })
  t.match(more.json.status, { conditions: [condition, { type: 'Seen' }], certificate: CERTIFICATE })
})

t.test('connections are found in discovery, and take the methods they have', async t => {
  const server = await build(t)
  await server.post(PODS, { metadata: { name: 'p' }, spec: { containers: [container] } })
  const listed = (await server.get('/api/v1')).json.resources.map(
    ({ name, kind, verbs }: { name: string, kind: string, verbs: string[] }) => `${name} ${kind} ${verbs.join(',')}`
  )
  for (const one of [
    'pods/attach PodAttachOptions create,get', 'pods/exec PodExecOptions create,get', 'pods/log Pod get',
    'pods/portforward PodPortForwardOptions create,get',
    'pods/proxy PodProxyOptions create,delete,get,patch,update',
    'services/proxy ServiceProxyOptions create,delete,get,patch,update',
    'nodes/proxy NodeProxyOptions create,delete,get,patch,update'
  ]) t.ok(listed.includes(one), one)
  for (const [method, path] of [
    ['PUT', 'exec'], ['POST', 'log'], ['HEAD', 'log'], ['OPTIONS', 'exec'], ['DELETE', 'portforward']
  ] as const) {
    t.equal((await server.call(method, `${PODS}/p/${path}`)).code, 405, `${method} ${path}`)
  }
  t.equal((await server.get(`${PODS}/p/nothing`)).code, 404)
  t.equal((await server.get(`${PODS}/p/exec/more`)).code, 404)
  t.equal((await server.call('HEAD', PODS)).code, 405)
  t.equal((await server.call('HEAD', '/api/v1/nothing')).code, 404)
})

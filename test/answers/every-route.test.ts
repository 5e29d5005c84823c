/** What is answered without failing passes the hooks of a host once, on every route. */
import t from 'tap'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyRequest } from 'fastify'
import Fastify from '../fastify.js'
import orch from '../../app.js'
import { client, type Json } from '../build.js'
import { callingAgent, nodeAgent, withPod } from '../node-agent.js'
import { polled } from '../polled.js'

/** Routes that answer nothing without other servers, or keys of an issuer. */
const FAILING = [
  /\/openid/, /\/apis\/:group\/:version\/(watch\/)?namespaces\/:name$/, /\/(pods|services)\/:name\/proxy/,
  /^\/apis\/\*$/
]

const RBAC = '/apis/rbac.authorization.orch.io/v1'
const SPACE = '/api/v1/namespaces/default'
const SCALE = '/apis/apps/v1/namespaces/default/deployments/web/scale'
/** Longer than the parameters of a host's router. */
const LONG = 'n'.repeat(150)
const configMap = (name: string): Json => ({ metadata: { name }, data: { a: 'b' } })
const deployment = {
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  }
}

const REQUESTS: ReadonlyArray<readonly [method: string, url: string, body?: unknown, type?: string]> = [
  ...[
    '/metrics', '/healthz', '/livez', '/readyz', '/healthz/ping', '/livez/ping', '/readyz/ping'
  ].map(url => ['GET', url] as const),
  ...[
    '/debug/pprof', '/debug/pprof/', '/debug/pprof/profile?seconds=1', '/debug/pprof/heap', '/debug/pprof/goroutine'
  ].map(url => ['GET', url] as const),
  ...['/debug/caches', '/debug/pprof/block?seconds=1', '/debug/pprof/cmdline'].map(url => ['GET', url] as const),
  ...[
    '/version', '/api', '/apis', '/apis/apps', '/api/v1', '/apis/apps/v1'
  ].flatMap(url => [['GET', url], ['GET', `${url}/`]] as const),
  ...['', '/openapi/v2', '/openapi/v3', '/openapi/v3/api/v1'].map(url => ['GET', url] as const),
  ['POST', `${SPACE}/configmaps`, configMap('one')],
  ['PUT', `${SPACE}/configmaps/one`, configMap('one')],
  ['POST', `${SPACE}/configmaps`, configMap(LONG)],
  ['PUT', `${SPACE}/configmaps/${LONG}`, configMap(LONG)],
  ['PATCH', `${SPACE}/configmaps/one`, { data: { a: 'c' } }, 'application/merge-patch+json'],
  [
    'PATCH', `${SPACE}/configmaps/two?fieldManager=me`, { apiVersion: 'v1', kind: 'ConfigMap', ...configMap('two') },
    'application/apply-patch+yaml'
  ],
  ...[
    'configmaps', 'configmaps/one', 'pods/web/status', 'pods/web/log'
  ].map(path => ['GET', `${SPACE}/${path}`] as const),
  ['POST', `${SPACE}/pods/web/eviction`, { metadata: { name: 'web' } }],
  ['DELETE', `${SPACE}/configmaps/one`],
  ['DELETE', `${SPACE}/configmaps`],
  ...[
    'configmaps', 'nodes/n', 'nodes/n/status', 'namespaces/default', 'namespaces/default/status', 'componentstatuses'
  ].map(path => ['GET', `/api/v1/${path}`] as const),
  ['POST', '/api/v1/namespaces', { metadata: { name: 'gone' } }],
  ['PUT', '/api/v1/namespaces/gone/finalize', { metadata: { name: 'gone' }, spec: {} }],
  [
    'POST', '/apis/authorization.orch.io/v1/selfsubjectaccessreviews',
    { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } }
  ],
  ['POST', '/apis/apps/v1/namespaces/default/deployments', deployment],
  ['PATCH', SCALE, { spec: { replicas: 2 } }, 'application/merge-patch+json'],
  ['GET', SCALE],
  ['POST', `${RBAC}/clusterroles`, { metadata: { name: 'one' } }],
  ...['clusterroles', 'clusterroles/one', 'namespaces/default/roles'].map(path => ['GET', `${RBAC}/${path}`] as const),
  ['GET', '/apis/apps/v1/namespaces/default/deployments/web'],
  ['GET', '/apis/apiextensions.orch.io/v1/customresourcedefinitions/gadgets.example.com/status'],
  ['GET', '/api/v1/nodes/n/proxy/stats'],
  ['OPTIONS', '/api/v1/nodes/n/proxy/stats'],
  ...[
    'namespaces', 'nodes/n', 'namespaces/default', 'namespaces/default/configmaps', 'namespaces/default/configmaps/two'
  ].map(path => ['GET', `/api/v1/watch/${path}`] as const),
  ...['clusterroles', 'clusterroles/admin', 'namespaces/default/roles', 'namespaces/default/roles/one'].map(
    path => ['GET', `/apis/rbac.authorization.orch.io/v1/watch/${path}`] as const
  )
]

const definition = {
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
  }
}

t.test('every answer that does not fail passes onSend once', async t => {
  const agent = await nodeAgent(t, { request: (_request, response) => { response.end('a line\n') } })
  const app = Fastify({ forceCloseConnections: true })
  const routes = new Set<string>()
  const passed = new Map<FastifyRequest, number>()
  const answered = new Map<string, [request: FastifyRequest, code: number]>()
  app.addHook('onRoute', ({ url }) => { routes.add(url) })
  app.addHook('onSend', async (request, reply) => {
    passed.set(request, (passed.get(request) ?? 0) + 1)
    answered.set(String(request.headers['x-request']), [request, reply.statusCode])
  })
  await app.register(orch, { prefix: '/cluster', profiling: {}, connections: callingAgent(agent) })
  t.teardown(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const own = client(app)
  const below = {
    ...own,
    get: (url: string) => own.get(`/cluster${url}`),
    post: (url: string, body: unknown) => own.post(`/cluster${url}`, body),
    patch: (url: string, body: unknown) => own.patch(`/cluster${url}`, body)
  }
  await polled(async () => (await below.get('/readyz')).code === 200)
  await withPod(below, agent.port)
  await below.post('/apis/apiextensions.orch.io/v1/customresourcedefinitions', definition)

  for (const [method, path, body, type = 'application/json'] of REQUESTS) {
    const name = `${method} ${path}`.trim()
    const content = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      'x-request': name,
      ...content === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(content) }
    }
    const request = httpRequest({ port, method, path: `/cluster${path}`, headers, agent: false })
      .on('error', () => {})
      .end(content)
    const [response] = await once(request, 'response')
    if (path.includes('/watch/')) request.destroy() // its head is enough
    else await once(response.resume(), 'end')
    const [asked, code] = answered.get(name) ?? []
    t.ok(Number(response.statusCode) < 400, `${name} ${String(response.statusCode)}`)
    t.equal(code, response.statusCode, name)
    t.equal(asked === undefined ? 0 : passed.get(asked), 1, name)
  }
  const covered = new Set([...answered.values()].map(([{ routeOptions }]) => routeOptions.url))
  const missing = [...routes].filter(url =>
    url.startsWith('/cluster') && !covered.has(url)).map(url => url.slice('/cluster'.length))
  t.same(missing.filter(url => !FAILING.some(failing => failing.test(url))), [], 'every route has answered')
})

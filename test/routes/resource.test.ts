import t from 'tap'
import Fastify from 'fastify'
import orch from '../../app.js'
import { build } from '../build.js'

t.test('printRoutes shows the patterns of the API', async t => {
  const { app: fastify } = await build(t)
  const routes = fastify.printRoutes({ commonPrefix: false })
  for (const url of [
    '/api/:version/namespaces/:namespace/:resource/:name', '/apis/:group/:version/:resource/:name/:subresource',
    '/api/:version/namespaces/:name/finalize'
  ]) {
    t.ok(fastify.hasRoute({ method: 'PATCH', url }), url)
  }
  t.notOk(fastify.hasRoute({ method: 'POST', url: '/api/:version/watch/:resource' }), 'watches are read')
  t.match(routes, /:subresource \(GET, POST, PUT, PATCH, DELETE\)/)
})

t.test('a host\'s generators of documents learn of the routes that they are hidden', async t => {
  const host = Fastify()
  t.teardown(() => host.close())
  const routes: Array<{ readonly url: string, readonly schema?: unknown }> = []
  host.addHook('onRoute', route => { routes.push(route) })
  await host.register(orch, { prefix: '/cluster' })
  await host.ready()
  t.ok(routes.length > 40)
  t.same(
    routes.filter(({ schema }) => (schema as { hide?: boolean } | undefined)?.hide !== true).map(({ url }) => url), []
  )
})

t.test('hooks of a host learn the route by its URL', async t => {
  const host = Fastify()
  t.teardown(() => host.close())
  const seen: Array<string | undefined> = []
  host.addHook('onResponse', async request => { seen.push(request.routeOptions.url) })
  await host.register(orch, { prefix: '/cluster' })
  const paths = [
    '/api/v1/namespaces/default/configmaps', '/api/v1/namespaces/default/configmaps/none', '/api/v1/watch/nothings',
    '/apis/no.such/v1/things', '/apis/no.such/v1/things/a/b/c'
  ]
  for (const path of paths) await host.inject(`/cluster${path}`)
  t.same(seen, [
    '/cluster/api/:version/namespaces/:namespace/:resource',
    '/cluster/api/:version/namespaces/:namespace/:resource/:name',
    '/cluster/api/:version/watch/:resource', '/cluster/apis/:group/:version/:resource', '/cluster/apis/*'
  ])
})

t.test('a subresource whose feature gate is off is not served', async t => {
  const url = '/api/v1/namespaces/default/pods/none/ephemeralcontainers'
  const [on, off] = [await build(t), await build(t, { featureGates: { EphemeralContainers: false } })]
  t.match((await on.get(url)).json, { message: 'pods "none" not found' })
  t.match((await off.get(url)).json, { code: 404, message: 'the server could not find the requested resource' })
})

t.test('verbs that a resource does not have are answered with 405', async t => {
  const { call } = await build(t)
  const configs = '/api/v1/namespaces/default/configmaps'
  for (const [method, path, code] of [
    ['DELETE', '/apis/apps/v1/deployments', 405], ['PATCH', configs, 405], ['POST', `${configs}/a`, 405],
    ['HEAD', configs, 405], ['OPTIONS', configs, 405],
    ['GET', '/apis/authorization.orch.io/v1/selfsubjectaccessreviews', 405], ['GET', `${configs}/a/status`, 404],
    ['HEAD', '/api/v1/nothings', 404], ['GET', '/api/v1/configmaps/a', 404]
  ] as const) t.equal((await call(method, path)).code, code, `${method} ${path}`)
})

t.test('names longer than a parameter of the host may be are served', async t => {
  const host = Fastify({ routerOptions: { maxParamLength: 20 } })
  t.teardown(() => host.close())
  await host.register(orch, {})
  const name = 'a'.repeat(200)
  const created = await host.inject({
    method: 'POST',
    url: '/api/v1/namespaces/default/configmaps',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ metadata: { name } })
  })
  t.equal(created.statusCode, 201)
  t.equal((await host.inject(`/api/v1/namespaces/default/configmaps/${name}`)).statusCode, 200)
})

t.test('a path in other case is not served, though the router of the host takes it for the same', async t => {
  const host = Fastify({ routerOptions: { caseSensitive: false } })
  t.teardown(() => host.close())
  await host.register(orch, {})
  t.equal((await host.inject('/api/v1/PODS')).statusCode, 404)
  t.equal((await host.inject('/api/v1/pods')).statusCode, 200)
})

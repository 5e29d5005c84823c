import t from 'tap'
import Fastify from 'fastify'
import orch from '../../app.js'
import { build } from '../build.js'

t.test('printRoutes lists the API, a path and its methods for each resource', async t => {
  const { app: fastify } = await build(t)
  const routes = fastify.printRoutes({ commonPrefix: false })
  for (const path of ['/api/v1/namespaces/:namespace/pods', '/apis/rbac.authorization.orch.io/v1/clusterrolebindings']) t.ok(fastify.hasRoute({ method: 'GET', url: path }), path)
  t.ok(fastify.hasRoute({ method: 'PATCH', url: '/apis/apps/v1/namespaces/:namespace/deployments/:name/scale' }))
  t.ok(fastify.hasRoute({ method: 'GET', url: '/apis/apps/v1/deployments' }), 'the form for all namespaces')
  t.notOk(fastify.hasRoute({ method: 'DELETE', url: '/apis/apps/v1/deployments' }))
  t.notOk(fastify.hasRoute({ method: 'GET', url: '/apis/authorization.orch.io/v1/subjectaccessreviews' }), 'reviews are only created')
  t.match(routes, /clusterrolebindings \(GET, POST, DELETE\)/)
})

t.test('a subresource whose feature gate is off has no route', async t => {
  const url = '/api/v1/namespaces/:namespace/pods/:name/ephemeralcontainers'
  const on = await build(t)
  t.ok(on.app.hasRoute({ method: 'PATCH', url }))
  const off = await build(t, { featureGates: { EphemeralContainers: false } })
  t.notOk(off.app.hasRoute({ method: 'PATCH', url }))
})

t.test('hooks of a host learn the route by its URL', async t => {
  const host = Fastify()
  t.teardown(() => host.close())
  const seen: Array<string | undefined> = []
  host.addHook('onResponse', async request => { seen.push(request.routeOptions.url) })
  await host.register(orch, { prefix: '/cluster' })
  const paths = ['/api/v1/namespaces/default/configmaps', '/api/v1/namespaces/default/configmaps/none', '/api/v1/watch/nothings', '/apis/no.such/v1/things']
  for (const path of paths) await host.inject(`/cluster${path}`)
  t.same(seen, ['/cluster/api/v1/namespaces/:namespace/configmaps', '/cluster/api/v1/namespaces/:namespace/configmaps/:name', '/cluster/api/:version/watch/*', '/cluster/apis/*'])
})

t.test('with shared routes the same paths are served, with the same answers', async t => {
  const [shared, own] = [await build(t, { api: { sharedRoutes: true } }), await build(t)]
  t.notOk(shared.app.hasRoute({ method: 'GET', url: '/api/v1/namespaces/:namespace/pods' }))
  const configs = '/api/v1/namespaces/default/configmaps'
  for (const { post } of [shared, own]) t.equal((await post(configs, { metadata: { name: 'a' } })).code, 201)
  for (const [method, path] of [
    ['GET', configs], ['GET', `${configs}/a`], ['GET', `${configs}/none`], ['GET', `${configs}/a/status`], ['GET', '/api/v1/nothings'], ['GET', '/apis/apps/v1/deployments'], ['DELETE', '/apis/apps/v1/deployments'],
    ['GET', '/apis/authorization.orch.io/v1/selfsubjectaccessreviews'], ['HEAD', configs], ['PATCH', `${configs}/a`], ['POST', `${configs}/a`], ['GET', '/api/v1/namespaces/default/pods/a/log'], ['OPTIONS', configs], ['GET', '/api/v1'], ['GET', `/api/v1/watch/namespaces/default/${'x'.repeat(300)}`]
  ] as const) {
    const [one, other] = [await shared.call(method, path), await own.call(method, path)]
    t.strictSame([one.code, one.json['reason'], one.json['message']], [other.code, other.json['reason'], other.json['message']], `${method} ${path}`)
  }
  t.equal((await shared.call('DELETE', `${configs}/a`)).code, 200)
})

t.test('names longer than a parameter of the host may be are served', async t => {
  const host = Fastify({ routerOptions: { maxParamLength: 20 } })
  t.teardown(() => host.close())
  await host.register(orch, {})
  const name = 'a'.repeat(200)
  const created = await host.inject({ method: 'POST', url: '/api/v1/namespaces/default/configmaps', headers: { 'content-type': 'application/json' }, payload: JSON.stringify({ metadata: { name } }) })
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

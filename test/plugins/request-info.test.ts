import t from 'tap'
import { connect } from 'node:net'
import { auditIdOf } from '../../plugins/shared/audit-id.js'
import Fastify from '../fastify.js'
import orch from '../../app.js'
import type { Attributes } from '../../auth/authorizer.js'
import { watches } from '../../plugins/request-info/paths.js'
import { parseRequest } from '../request-info.js'
import { listen } from '../build.js'

const info = (method: string, path: string, query = '') => {
  const { verb, group, version, resource, subresource, namespace, name, isResourceRequest } =
    parseRequest(method, path, query)
  return isResourceRequest ? [verb, group, version, resource, subresource, namespace, name].join('|') : `path ${verb}`
}

t.test('authorizers see the selectors of collections as requirements, in release 1.36', async t => {
  for (const emulatedVersion of ['1.24', '1.36'] as const) {
    const seen: Attributes[] = []
    const server = await listen(t, {
      emulatedVersion,
      authorization: {
        modes: [],
        authorizers: [{ name: 'own', authorize: attributes => { seen.push(attributes); return { decision: 'Allow' } } }]
      }
    })
    const ask = async (method: 'GET' | 'DELETE', url: string): Promise<unknown> => {
      await server.call(method, url)
      const { selectors } = (seen.at(-1) as Attributes).info
      return selectors && [selectors.fields, selectors.labels]
    }
    const [query, all] = ['fieldSelector=metadata.name%3Dx&labelSelector=a', '/api/v1/namespaces/default/configmaps']
    const told = emulatedVersion === '1.36'
      ? [[{ key: 'metadata.name', operator: 'In', values: ['x'] }], [{ key: 'a', operator: 'Exists' }]]
      : undefined
    t.same(await ask('GET', `${all}?${query}`), told)
    t.equal((seen.at(-1) as Attributes).info.name, 'x')
    t.same(await ask('DELETE', `${all}?${query}`), told)
    t.same(await ask('GET', `${all}?${query}&watch=1&timeoutSeconds=1`), told)
    for (const url of [
      all, `${all}/x?${query}`, `/api/v1/watch/namespaces/default/configmaps?${query}&timeoutSeconds=1`
    ]) {
      t.same(await ask('GET', url), undefined, url)
    }
    t.same(
      await ask('GET', `${all}?fieldSelector=a&labelSelector=a%3D%3D%3D`), told && [[], []],
      'one that cannot be read is none'
    )
  }
})

t.test('paths become attributes', async t => {
  const G = 'rbac.authorization.orch.io'
  for (const [method, path, query, expected] of [
    ['GET', `/apis/${G}/v1/clusterrolebindings`, '', `list|${G}|v1|clusterrolebindings|||`],
    ['GET', `/apis/${G}/v1/clusterrolebindings`, 'watch=1', `watch|${G}|v1|clusterrolebindings|||`],
    ['GET', `/apis/${G}/v1/clusterrolebindings`, 'watch=false', `list|${G}|v1|clusterrolebindings|||`],
    ['GET', `/apis/${G}/v1/clusterrolebindings/x`, 'watch=1', `get|${G}|v1|clusterrolebindings|||x`],
    ['GET', `/apis/${G}/v1/watch/clusterrolebindings`, '', `watch|${G}|v1|clusterrolebindings|||`],
    ['GET', `/apis/${G}/v1/watch/clusterrolebindings/x`, 'watch=0', `watch|${G}|v1|clusterrolebindings|||x`],
    ['GET', '/api/v1/watch/namespaces/n/configmaps', '', 'watch||v1|configmaps||n|'],
    ['GET', '/api/v1/watch/namespaces/n/configmaps/x', '', 'watch||v1|configmaps||n|x'],
    ['GET', '/api/v1/watch/namespaces/n', '', 'watch||v1|namespaces||n|n'],
    ['GET', '/api/v1/watch', '', 'list||v1|watch|||'],
    ['DELETE', '/api/v1/watch/configmaps', '', 'delete||v1|watch|||configmaps'],
    ['GET', '/api/v1/namespaces/n/configmaps', 'fieldSelector=metadata.name%3Dx', 'list||v1|configmaps||n|x'],
    ['GET', '/api/v1/configmaps', 'watch=1&fieldSelector=type%3Da,metadata.name%3D%3Dx', 'watch||v1|configmaps|||x'],
    ['GET', '/api/v1/configmaps', 'fieldSelector=metadata.name!%3Dx', 'list||v1|configmaps|||'],
    ['GET', '/api/v1/configmaps', 'fieldSelector=metadata.name%3Da%252Fb', 'list||v1|configmaps|||'],
    ['GET', '/api/v1/configmaps', 'fieldSelector=metadata.name%3Dx\\', 'list||v1|configmaps|||'],
    [
      'DELETE', '/api/v1/namespaces/n/configmaps', 'fieldSelector=metadata.name%3Dx',
      'deletecollection||v1|configmaps||n|'
    ],
    ['DELETE', `/apis/${G}/v1/clusterrolebindings`, '', `deletecollection|${G}|v1|clusterrolebindings|||`],
    ['DELETE', `/apis/${G}/v1/clusterrolebindings/x`, '', `delete|${G}|v1|clusterrolebindings|||x`],
    ['PUT', '/api/v1/namespaces/n/configmaps/x', '', 'update||v1|configmaps||n|x'],
    ['PATCH', '/api/v1/namespaces/n/configmaps/x/status', '', 'patch||v1|configmaps|status|n|x'],
    ['POST', '/api/v1/namespaces/n/configmaps', '', 'create||v1|configmaps||n|'],
    [
      'GET', '/apis/a.example.com/v1/namespaces/n/things/x/forward/22/tcp', '',
      'get|a.example.com|v1|things|forward|n|x'
    ],
    ['GET', '/apis/apps/v1/namespaces/n/deployments/x/scale/22', '', 'path get'],
    ['GET', '/api/v1/namespaces', '', 'list||v1|namespaces|||'],
    ['GET', '/api/v1/namespaces/n', '', 'get||v1|namespaces||n|n'],
    ['PUT', '/api/v1/namespaces/n/finalize', '', 'update||v1|namespaces|finalize|n|n'],
    ['GET', '/api/v1/namespaces/n/status', '', 'get||v1|namespaces|status|n|n'],
    ['HEAD', '/api/v1/namespaces/n', '', 'get||v1|namespaces||n|n'],
    ['GET', '/api/v1/%6eamespaces/a%20b', '', 'get||v1|namespaces||a b|a b'],
    ['GET', '/api/v1/configmaps/', '', 'list||v1|configmaps|||'],
    ['GET', '/api/v1/namespaces/n/pods/p/proxy', '', 'get||v1|pods|proxy|n|p'],
    ['POST', '/api/v1/namespaces/n/pods/https:p:8443/proxy/a/b/c', 'watch=1', 'create||v1|pods|proxy|n|https:p:8443'],
    ['HEAD', '/api/v1/namespaces/n/services/s/proxy/../../../x//', '', 'get||v1|services|proxy|n|s'],
    ['DELETE', '/api/v1/nodes/x/proxy/a%2Fb%00', '', 'delete||v1|nodes|proxy||x'],
    ['OPTIONS', '/api/v1/nodes/x/proxy/', '', 'options||v1|nodes|proxy||x'],
    ['GET', '/api/v1/namespaces/n/pods/p/exec/a', '', 'path get'],
    ['GET', '/api/v1/namespaces/n/configmaps/p/proxy/a', '', 'path get'],
    ['GET', '/api/v1/watch/nodes/x/proxy/a', '', 'path get'],
    ['GET', '/apis/apps/v1/namespaces/n/pods/p/proxy/a', '', 'path get'],
    ['GET', '/api/v1/namespaces/../pods/p/proxy/a', '', 'path get'],
    ['GET', '/api/v1', '', 'path get'],
    ['GET', '/apis', '', 'path get'],
    ['GET', `/apis/${G}/v1`, '', 'path get'],
    ['GET', '/healthz', '', 'path get'],
    ['OPTIONS', '/', '', 'path options'],
    ['GET', '/api/v1/a/b/c/d/e/f', '', 'path get'],
    ['GET', '//', '', 'path get']
  ] as const) t.equal(info(method, path, query), expected, `${method} ${path}?${query}`)
})

t.test('a proxied request is described by the path below the proxy', async t => {
  for (const [path, rest] of [['', ''], ['/', '/'], ['/a/b/', '/a/b/'], ['//a/../%C3%A4%2Fb', '//a/../ä/b']]) {
    const { rest: below, path: whole } = parseRequest('GET', `/api/v1/nodes/n%6F/proxy${path}`)
    t.equal(below, rest)
    t.equal(whole, `/api/v1/nodes/no/proxy${rest}`)
  }
  t.throws(() => parseRequest('GET', '/api/v1/nodes/n/proxy/%zz'), { name: 'StatusError', message: /percent-encoded/ })
  t.throws(() => parseRequest('GET', '/api/v1/nodes/a%2Fb/proxy/'), { name: 'StatusError', message: /encoded "\/"/ })
})

t.test('a hidden slash, a NUL and broken encodings are refused', async t => {
  for (const path of [
    '/api/v1/namespaces/a%2fb', '/api/v1/namespaces/a%00', '/api/v1/namespaces/%', '/api/v1/namespaces/%ff%fe',
    '/api/v1/namespaces/%zz'
  ]) {
    t.throws(() => parseRequest('GET', path), { name: 'StatusError', message: /path/ }, path)
  }
})

t.test('watch is set by its presence', async t => {
  for (const query of [
    'watch', 'watch=', 'watch=1', 'watch=true', 'limit=1&watch=True', 'watch=maybe', 'watch=1&watch=0'
  ]) {
    t.ok(watches(query), query)
  }
  for (const query of ['', 'watch=0', 'watch=false', 'watch=FALSE', 'watching=1', 'x=watch']) {
    t.notOk(watches(query), query)
  }
})

t.test('a host\'s lenient router cannot reach routes under other spellings', async t => {
  const app = Fastify({
    routerOptions: { caseSensitive: false, ignoreTrailingSlash: true, ignoreDuplicateSlashes: true }
  })
  t.teardown(() => app.close())
  const seen: string[] = []
  await app.register(orch, {
    prefix: '/c',
    authorization: {
      authorizers: [
        {
          name: 'guard',
          authorize: ({ info }: Attributes) => {
            seen.push(info.path)
            return { decision: info.path === '/version' ? 'Deny' : 'Allow' }
          }
        }
      ]
    }
  })
  t.equal((await app.inject('/c/version')).statusCode, 403)
  for (const url of ['/c/VERSION', '/c//version', '/c/version#x', 'http://host/c/version']) {
    t.ok([400, 403, 404].includes((await app.inject({ method: 'GET', url })).statusCode), url)
  }
})

t.test('the root of the server is served under a prefix too, with and without a slash', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(orch, { prefix: '/c' })
  for (const url of ['/c', '/c/', '/c?x=1']) t.match((await app.inject(url)).json(), { paths: /\/api/ }, url)
})

t.test('each request has a UUID of its own', async t => {
  const seen = new Set(Array.from({ length: 1000 }, () => auditIdOf({})))
  t.equal(seen.size, 1000)
  t.equal([...seen].every(id => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)), true)
})

t.test('a request without a version of HTTP is refused by a server of a host too', async t => {
  const { port } = await listen(t)
  for (const [line, code] of [
    ['GET /livez', 400], ['GET /livez HTTP/0.9', 400], ['GET /livez HTTP/1.0', 200]
  ] as const) {
    const socket = connect({ port, host: '127.0.0.1' })
    t.teardown(() => socket.destroy())
    socket.write(`${line}\r\n\r\n`)
    let answer = ''
    for await (const piece of socket) answer += String(piece)
    t.match(answer, new RegExp(`^HTTP/1.1 ${code} `), line)
  }
})

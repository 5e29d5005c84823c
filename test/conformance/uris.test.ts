/** Interface, 'Resource URIs' and 'API groups and versions': every row of the table, for every type that is served. */
import t from 'tap'
import { build, type Json, type Client } from '../build.js'

const RBAC = '/apis/rbac.authorization.orch.io/v1'
const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' }

interface Type {
  readonly base: string
  readonly plural: string
  readonly kind: string
  readonly apiVersion: string
  readonly body: Json
}

const CLUSTER: readonly Type[] = [
  {
    base: RBAC,
    plural: 'clusterrolebindings',
    kind: 'ClusterRoleBinding',
    apiVersion: 'rbac.authorization.orch.io/v1',
    body: { roleRef }
  },
  {
    base: RBAC,
    plural: 'clusterroles',
    kind: 'ClusterRole',
    apiVersion: 'rbac.authorization.orch.io/v1',
    body: { rules: [] }
  },
  { base: '/api/v1', plural: 'namespaces', kind: 'Namespace', apiVersion: 'v1', body: {} }
]
const NAMESPACED: readonly Type[] = [
  {
    base: RBAC,
    plural: 'rolebindings',
    kind: 'RoleBinding',
    apiVersion: 'rbac.authorization.orch.io/v1',
    body: { roleRef }
  },
  { base: RBAC, plural: 'roles', kind: 'Role', apiVersion: 'rbac.authorization.orch.io/v1', body: { rules: [] } },
  { base: '/api/v1', plural: 'configmaps', kind: 'ConfigMap', apiVersion: 'v1', body: { data: { a: 'b' } } },
  { base: '/api/v1', plural: 'secrets', kind: 'Secret', apiVersion: 'v1', body: { data: { a: 'Yg==' } } },
  { base: '/api/v1', plural: 'serviceaccounts', kind: 'ServiceAccount', apiVersion: 'v1', body: {} }
]

const named = (json: Json, kept: (name: string) => boolean): string[] =>
  (json.items as Json[]).map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`).filter(kept)

async function made (
  t: { equal: (found: unknown, wanted: unknown, title: string) => unknown }, server: Client, url: string,
  { body, plural }: Type, name: string
): Promise<void> {
  t.equal((await server.post(url, { ...body, metadata: { name } })).code, 201, `${plural} ${name}`)
}

for (const type of CLUSTER) {
  const { base, plural, kind, apiVersion } = type
  t.test(`${plural}: of the cluster`, async t => {
    const server = await build(t)
    const url = `${base}/${plural}`
    for (const name of ['one', 'two']) await made(t, server, url, type, name)
    const list = await server.get(url)
    t.match(list, { code: 200, json: { kind: `${kind}List`, apiVersion } })
    t.same(named(list.json, name => name === '/one' || name === '/two'), ['/one', '/two'])
    t.match(await server.get(`${url}/one`), { code: 200, json: { kind, apiVersion, metadata: { name: 'one' } } })
    t.equal((await server.get(`${url}/none`)).json.reason, 'NotFound')
    t.equal((await server.get(`${url}/one/none`)).code, 404, 'a subresource that it does not have')
    t.equal((await server.get(`${base}/namespaces/default/${plural}`)).code, 404, 'in no namespace')
    t.equal((await server.get(`${base}/namespaces/default/${plural}/one`)).code, 404)
  })
}

for (const type of NAMESPACED) {
  const { base, plural, kind, apiVersion } = type
  t.test(`${plural}: in namespaces`, async t => {
    const server = await build(t)
    await server.post('/api/v1/namespaces', { metadata: { name: 'other' } })
    const within = (namespace: string): string => `${base}/namespaces/${namespace}/${plural}`
    for (const [namespace, name] of [['default', 'one'], ['default', 'two'], ['other', 'one']] as const) {
      await made(t, server, within(namespace), type, name)
    }
    const mine = (name: string): boolean => /^(?:default|other)\/(?:one|two)$/.test(name)
    const all = await server.get(`${base}/${plural}`)
    t.match(all, { code: 200, json: { kind: `${kind}List`, apiVersion } })
    t.same(named(all.json, mine), ['default/one', 'default/two', 'other/one'], 'across all namespaces')
    t.same(named((await server.get(within('default'))).json, mine), ['default/one', 'default/two'], 'in the namespace')
    t.same(named((await server.get(within('missing'))).json, () => true), [], 'in one that is not there')
    t.match(await server.get(`${within('other')}/one`), {
      code: 200, json: { kind, apiVersion, metadata: { name: 'one', namespace: 'other' } }
    })
    t.equal((await server.get(`${within('other')}/two`)).json.reason, 'NotFound')
    t.equal((await server.get(`${within('default')}/one/none`)).code, 404, 'a subresource that it does not have')
    t.equal((await server.get(`${base}/${plural}/one`)).code, 404, 'a name without its namespace')
    t.equal(
      (await server.post(`${base}/${plural}`, {
        ...type.body, metadata: { name: 'three', namespace: 'default' }
      })).code,
      405,
      'namespaced objects are created below their namespace'
    )
    t.equal((await server.call('DELETE', `${base}/${plural}`)).code, 405, 'and deleted there')
    t.equal((await server.call('DELETE', within('other'))).code, 200)
    t.same(
      named((await server.get(`${base}/${plural}`)).json, mine), ['default/one', 'default/two'],
      'a collection in one namespace is deleted there alone'
    )
  })
}

t.test('namespaced objects are deleted with their namespace', async t => {
  const server = await build(t)
  await server.post('/api/v1/namespaces', { metadata: { name: 'going' } })
  const urls = NAMESPACED.map(({ base, plural }) => `${base}/namespaces/going/${plural}`)
  // as many as types
  for (const [index, type] of NAMESPACED.entries()) await made(t, server, urls[index] as string, type, 'inside')
  await server.delete('/api/v1/namespaces/going')
  for (const deadline = Date.now() + 60_000; (await server.get('/api/v1/namespaces/going')).code !== 404;) {
    if (Date.now() > deadline) throw new Error('the namespace is still there')
    await new Promise(resolve => { setImmediate(resolve) })
  }
  for (const url of urls) {
    t.same((await server.get(url)).json.items, [], url)
    t.equal((await server.get(`${url}/inside`)).code, 404)
  }
})

t.test('no namespace leads to another, nor to what is of the cluster', async t => {
  const seen: string[] = []
  // A user who may do everything in one namespace, and nothing outside.
  const server = await build(t, {
    authorization: {
      authorizers: [
        {
          name: 'one-namespace',
          authorize: ({ info }) => ({
            decision: !info.isResourceRequest || info.namespace === 'default' ? 'Allow' : 'Deny'
          })
        }
      ]
    }
  })
  for (const [method, path] of [
    ['GET', '/api/v1/namespaces/default/namespaces'],
    ['GET', '/api/v1/namespaces/default/namespaces/orch-system'],
    ['DELETE', '/api/v1/namespaces/default/namespaces/orch-system'],
    ['DELETE', '/api/v1/namespaces/default/namespaces'],
    ['POST', '/api/v1/namespaces/default/namespaces'],
    ['GET', '/api/v1/namespaces/default/namespaces/orch-system/status'],
    ['GET', `${RBAC}/namespaces/default/clusterroles`],
    ['DELETE', `${RBAC}/namespaces/default/clusterroles`]
  ] as const) {
    const { code } = await server.call(method, path, method === 'POST' ? { metadata: { name: 'made' } } : undefined)
    if (code !== 404) seen.push(`${method} ${path}: ${code}`)
  }
  t.same(seen, [])
  t.equal((await server.get('/api/v1/namespaces/orch-system')).code, 403)
  t.equal((await server.get('/api/v1/namespaces/default')).code, 200, 'a namespace is in itself')
})

t.test('the core group has a prefix of its own, named groups another', async t => {
  const server = await build(t)
  t.match(await server.get('/api/v1/namespaces/default'), { code: 200, json: { kind: 'Namespace', apiVersion: 'v1' } })
  t.match(await server.get('/api/v1/namespaces'), { code: 200, json: { kind: 'NamespaceList', apiVersion: 'v1' } })
  for (const path of [
    '/apis/v1/namespaces', '/apis/core/v1/namespaces', '/api/v2/namespaces',
    '/api/rbac.authorization.orch.io/v1/clusterroles', '/apis/rbac.authorization.orch.io/v2/clusterroles',
    '/apis/rbac.authorization.orch.io/clusterroles', '/apis/other.orch.io/v1/clusterroles', '/api/v1/clusterroles',
    `${RBAC}/configmaps`, '/clusterroles'
  ]) {
    t.match(await server.get(path), { code: 404, json: { kind: 'Status', reason: 'NotFound' } }, path)
  }
})

t.test('a subresource is a path below its object', async t => {
  const server = await build(t)
  t.match(await server.get('/api/v1/namespaces/default/status'), {
    code: 200, json: { kind: 'Namespace', metadata: { name: 'default' }, status: { phase: 'Active' } }
  })
  t.match(
    await server.patch('/api/v1/namespaces/default/status', {
      status: { conditions: [{ type: 'NamespaceDeletionContentFailure', status: 'False' }] }
    }),
    { code: 200, json: { status: { phase: 'Active' } } }
  )
  t.equal(
    (await server.get('/api/v1/namespaces/status')).code, 404,
    'a collection has no status: this is an object of that name'
  )
})

t.test('no name in a path is that of another object', async t => {
  const server = await build(t)
  const url = `${RBAC}/clusterroles`
  const names = [
    'plain', 'system:node', 'ü', 'a b', 'a+b', 'a&b=c', 'a?b', 'a#b', '"q"', '\u{1f600}', 'a\tb', '*', '~', '..a',
    'a..', 'CaSe', 'case'
  ]
  for (const name of names) t.equal((await server.post(url, { metadata: { name } })).code, 201, name)
  for (const name of names) t.equal((await server.get(`${url}/${encodeURIComponent(name)}`)).json.metadata?.name, name)
  for (const name of ['%C3%BC', 'a%20b', '%', 'PLAIN', 'plain ', 'u\u0308']) {
    t.equal((await server.get(`${url}/${encodeURIComponent(name)}`)).code, 404, name)
  }
  t.same((await server.get(url)).json.items.length, names.length)
})

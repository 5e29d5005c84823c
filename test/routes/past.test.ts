/** The past of a namespace that replaced another of its name is the former tenant's. */
import t from 'tap'
import { openMemory } from '../../storage/embedded/memory.js'
import { build, listen, Watch, type Client, type Json } from '../build.js'
import { polled } from '../polled.js'

const users = {
  authenticators: [
    {
      name: 'test',
      authenticate: ({ headers }: { headers: Json }) => ({
        username: String(headers['x-user'] ?? 'root'),
        uid: '',
        groups: headers['x-user'] === undefined ? ['system:masters'] : [],
        extra: {}
      })
    }
  ]
}
const TENANT = { 'x-user': 'tenant' }
const READER = { 'x-user': 'reader' }

const urlOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`

async function make (server: Client, namespace: string, tenant: string): Promise<void> {
  t.equal((await server.post('/api/v1/namespaces', { metadata: { name: namespace } })).code, 201)
  const role = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'admin' }
  t.equal(
    (await server.post(`/apis/rbac.authorization.orch.io/v1/namespaces/${namespace}/rolebindings`, {
      metadata: { name: 'tenant' },
      roleRef: role,
      subjects: [{ kind: 'User', name: tenant, apiGroup: 'rbac.authorization.orch.io' }]
    })).code,
    201
  )
}

async function remove (server: Client, namespace: string): Promise<void> {
  await server.delete(`/api/v1/namespaces/${namespace}`)
  await polled(async () => (await server.get(`/api/v1/namespaces/${namespace}`)).code === 404)
}

const put = async (server: Client, namespace: string, name: string): Promise<string> => {
  const { code, json } = await server.post(urlOf(namespace), { metadata: { name }, data: { of: namespace } })
  t.equal(code, 201)
  return json['metadata'].resourceVersion as string
}

t.test('versions from before a namespace that replaced another are expired for its tenant', async t => {
  const server = await listen(t, { authentication: users, authorization: { modes: ['RBAC'] } } as never)
  await server.post('/apis/rbac.authorization.orch.io/v1/clusterroles', {
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['get', 'list', 'watch'] }]
  })
  await server.post('/apis/rbac.authorization.orch.io/v1/clusterrolebindings', {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'reader' },
    subjects: [{ kind: 'User', name: 'reader', apiGroup: 'rbac.authorization.orch.io' }]
  })
  const before = (await server.get(urlOf('team'))).json['metadata'].resourceVersion as string
  await make(server, 'team', 'former')
  await put(server, 'team', 'secret')
  const former = await put(server, 'team', 'secret2')
  const running = await Watch.open(
    t, `${server.url}${urlOf('team')}?watch=1&resourceVersion=${former}`, { 'x-user': 'former' }
  )
  const { json: page } = await server.get(`${urlOf('team')}?limit=1`, { 'x-user': 'former' })
  await remove(server, 'team')
  const between = (await server.get(urlOf('team'))).json['metadata'].resourceVersion as string
  await make(server, 'team', 'tenant')
  const own = await put(server, 'team', 'own')
  // so that its version says nothing
  await server.patch('/api/v1/namespaces/team', { metadata: { labels: { later: 'yes' } } })

  const exact = (version: string): string => `${urlOf('team')}?resourceVersion=${version}&resourceVersionMatch=Exact`
  for (const version of [before, former, between]) {
    t.match(
      await server.get(exact(version), TENANT), { code: 410, json: { reason: 'Expired' } }, `a list at ${version}`
    )
    t.match(await server.get(`${urlOf('team')}?limit=1&resourceVersion=${version}`, TENANT), { code: 410 })
    t.match(await server.call('DELETE', `${exact(version)}&dryRun=All`, undefined, TENANT), { code: 410 })
    t.match(
      await server.get(`${urlOf('team')}?watch=1&resourceVersion=${version}&timeoutSeconds=1`, TENANT), { code: 410 }
    )
    t.match(
      await server.get(`/api/v1/watch/namespaces/team/configmaps?resourceVersion=${version}&timeoutSeconds=1`, TENANT),
      { code: 410 }
    )
    t.match(await server.get(`${urlOf('team')}?resourceVersion=${version}`, TENANT), { code: 200 }, 'not older than')
  }
  t.match(
    await server.get(`${urlOf('team')}?limit=1&continue=${String(page['metadata'].continue)}`, TENANT), { code: 410 }
  )
  t.match(
    await server.get(`/api/v1/watch/namespaces/team?resourceVersion=${former}&timeoutSeconds=1`, TENANT), { code: 410 },
    'the namespace itself'
  )

  t.same(
    (await server.get(exact(own), TENANT)).json['items'].map(({ metadata }: Json) => metadata['name'] as string),
    ['own']
  )
  const watch = await Watch.open(t, `${server.url}${urlOf('team')}?watch=1&resourceVersion=${own}`, TENANT)
  await put(server, 'team', 'next')
  t.equal((await watch.take(1))[0]?.object['metadata'].name, 'next')

  t.same(
    (await server.get(exact(former), READER)).json['items'].map(({ metadata }: Json) =>
      metadata['name'] as string).filter((name: string) => name.startsWith('secret')),
    ['secret', 'secret2'],
    'who may list all namespaces reads on'
  )
  t.equal((await server.get(`${urlOf('team')}?watch=1&resourceVersion=${former}&timeoutSeconds=1`, READER)).code, 200)
  await running.until(() => running.events.some(({ object }) => object['metadata']?.name === 'own'))
  t.ok(running.events.some(({ type }) => type === 'DELETED'), 'a watch that runs goes on')
})

t.test('a namespace that is the first of its name changes nothing', async t => {
  const server = await listen(t, { authentication: users, authorization: { modes: ['RBAC'] } } as never)
  const before = (await server.get(urlOf('first'))).json['metadata'].resourceVersion as string
  await make(server, 'other', 'tenant')
  await remove(server, 'other')
  await make(server, 'first', 'tenant')
  await put(server, 'first', 'own')
  await server.patch('/api/v1/namespaces/first', { metadata: { labels: { later: 'yes' } } })
  t.match(
    await server.get(`${urlOf('first')}?resourceVersion=${before}&resourceVersionMatch=Exact`, TENANT),
    { code: 200, json: { items: [] } }
  )
  const watch = await Watch.open(t, `${server.url}${urlOf('first')}?watch=1&resourceVersion=${before}`, TENANT)
  await watch.until(() => watch.events.some(({ object }) => object['metadata'].name === 'own'))
  t.pass('its events since then are sent')
})

t.test('what was compacted is expired, whatever the namespace was before', async t => {
  const backend = await openMemory()
  t.teardown(() => backend.close())
  const server = await build(t, {
    authentication: users, authorization: { modes: ['RBAC'] }, storage: backend
  } as never)
  await make(server, 'team', 'former')
  const former = await put(server, 'team', 'secret')
  await remove(server, 'team')
  await make(server, 'team', 'tenant')
  await put(server, 'team', 'own')
  await server.patch('/api/v1/namespaces/team', { metadata: { labels: { later: 'yes' } } })
  await backend.compact(await backend.revision())
  for (const query of [
    `watch=1&timeoutSeconds=1&resourceVersion=${former}`, `resourceVersion=${former}&resourceVersionMatch=Exact`
  ]) {
    t.match(await server.get(`${urlOf('team')}?${query}`, TENANT), { code: 410 }, query)
  }
})

/** `--authorization-mode=RBAC`: who may do what, by roles and bindings made through the server itself. */
import t from 'tap'
import Fastify from 'fastify'
import orch from '../../../app.js'
import type { Backend } from '../../../storage/backend.js'
import { openBackend } from '../../../storage/open.js'
import { build, client, type Client, type Json, type Answer, type Test } from '../../build.js'
import { polled } from '../../polled.js'

const RBAC = '/apis/rbac.authorization.orch.io/v1'
const GROUP = 'rbac.authorization.orch.io'
const TOKENS = [
  'root,root,1,"system:masters"', 'ann,ann,2,"devs,ops"', 'bob,bob,3,"devs"', 'eve,eve,4',
  'robot,system:serviceaccount:team:robot,5,"system:serviceaccounts,system:serviceaccounts:team"'
].join('\n')

interface As extends Record<'get' | 'delete', (url: string) => Promise<Answer>> {
  post: (url: string, body: unknown) => Promise<Answer>
  put: (url: string, body: unknown) => Promise<Answer>
  patch: (url: string, body: unknown) => Promise<Answer>
}

async function start (t: Test): Promise<{ server: Client, as: (token: string) => As }> {
  const server = await build(t, { authentication: { tokens: `${TOKENS}\n` }, authorization: { modes: ['RBAC'] } })
  const as = (token: string): As => {
    const headers = { authorization: `Bearer ${token}` }
    return {
      get: url => server.call('GET', url, undefined, headers),
      delete: url => server.call('DELETE', url, undefined, headers),
      post: (url, body) => server.call('POST', url, body, headers),
      put: (url, body) => server.call('PUT', url, body, headers),
      patch: (url, body) =>
        server.call('PATCH', url, body, { ...headers, 'content-type': 'application/merge-patch+json' })
    }
  }
  for (const name of ['team', 'other']) await as('root').post('/api/v1/namespaces', { metadata: { name } })
  return { server, as }
}

const role = (name: string, rules: Json[], more: Json = {}): Json => ({ metadata: { name, ...more }, rules })
const binding = (name: string, roleRef: { kind?: string, name: string }, ...subjects: Json[]): Json => ({
  metadata: { name }, roleRef: { apiGroup: GROUP, kind: 'ClusterRole', ...roleRef }, subjects
})
const user = (name: string): Json => ({ kind: 'User', name })
const rule = (verbs: string, groups: string, resources: string, resourceNames?: string[]): Json => ({
  verbs: verbs.split(','),
  apiGroups: groups.split(','),
  resources: resources.split(','),
  ...(resourceNames === undefined ? {} : { resourceNames })
})

t.test('only roles grant rights; health and version are open to all', async t => {
  const { server, as } = await start(t)
  for (const path of ['/healthz', '/livez', '/readyz', '/version']) {
    t.equal((await server.get(path)).code, 200, `anonymous ${path}`)
  }
  t.match(await server.get('/api'), {
    code: 403, json: { message: 'forbidden: User "system:anonymous" cannot get path "/api"' }
  })
  t.equal((await as('eve').get('/api')).code, 200, 'discovery is open to all authenticated users')
  t.match(await as('eve').get('/api/v1/namespaces/team/configmaps'), {
    code: 403,
    json: {
      reason: 'Forbidden',
      message:
        'configmaps is forbidden: User "eve" cannot list resource "configmaps" in API group "" in the namespace "team"'
    }
  })
  t.equal((await as('root').get('/api/v1/configmaps')).code, 200, 'system:masters may do everything')
  t.equal(
    (await as('eve').post('/apis/authorization.orch.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'team' } }
    })).json['status'].allowed,
    false
  )
})

t.test('before roles and bindings are loaded, what they would decide is 503 and not 403', async t => {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  let load = (): void => {}
  const held = new Promise<void>(resolve => { load = resolve })
  const list: Backend['list'] = async request => {
    if (request.start.includes('rolebindings')) await held
    return await store.list(request)
  }
  const slow = new Proxy(store, {
    get: (target, name) => {
      const member: unknown = name === 'list' ? list : Reflect.get(target, name)
      return typeof member === 'function' ? (member as () => unknown).bind(target) : member
    }
  })
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(orch, {
    storage: slow, authentication: { tokens: `${TOKENS}\n` }, authorization: { modes: ['RBAC'] }
  })
  await app.ready()
  const server = client(app)
  const as = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
  const early = await server.get('/api', as('eve'))
  t.match(early, {
    code: 503,
    headers: { 'retry-after': '1' },
    json: {
      reason: 'ServiceUnavailable',
      message: 'the request cannot be authorized yet: RBAC: roles and bindings are not loaded yet'
    }
  })
  t.equal(
    (await server.get('/api', { ...as('eve'), 'impersonate-user': 'ann' })).code, 503,
    'nor is it decided whom one may be'
  )
  t.equal((await server.get('/api', as('root'))).code, 200, 'system:masters may do everything at once')
  load()
  await polled(async () => (await server.get('/readyz')).code === 200)
  t.equal((await server.get('/api', as('eve'))).code, 200)
})

t.test(
  'rules name verbs, groups, resources, names and paths; ' +
  'bindings users, groups and accounts, everywhere or in a namespace',
  async t => {
    const { as } = await start(t)
    const root = as('root')
    const made = async (url: string, body: Json): Promise<void> => {
      t.equal((await root.post(`${RBAC}/${url}`, body)).code, 201)
    }
    await made(
      'clusterroles',
      role('reader', [rule('get,list,watch', '', 'configmaps,pods/status'), rule('update', 'apps', '*/scale')])
    )
    await made('clusterroles', role('one', [rule('get,delete', '', 'secrets', ['shown'])]))
    await made('clusterroles', role('paths', [{ verbs: ['get'], nonResourceURLs: ['/metrics', '/openapi/*'] }]))
    await made('namespaces/team/roles', role('writer', [rule('create', '*', '*')]))
    await made('clusterrolebindings', binding('ann-everywhere', { name: 'reader' }, user('ann')))
    await made(
      'namespaces/team/rolebindings', binding('team-reads', { name: 'reader' }, { kind: 'Group', name: 'devs' })
    )
    await made(
      'namespaces/team/rolebindings',
      binding('robot-writes', { kind: 'Role', name: 'writer' }, { kind: 'ServiceAccount', name: 'robot' })
    )
    await made('namespaces/team/rolebindings', binding('one-secret', { name: 'one' }, user('bob')))
    await made('clusterrolebindings', binding('paths', { name: 'paths' }, { kind: 'Group', name: 'ops' }))
    await root.post('/api/v1/namespaces/team/secrets', { metadata: { name: 'shown' } })
    for (const [who, method, url, code] of [
      ['ann', 'get', '/api/v1/namespaces/other/configmaps', 200], ['ann', 'get', '/api/v1/configmaps', 200],
      ['ann', 'get', '/api/v1/namespaces/team/secrets', 403],
      ['bob', 'get', '/api/v1/namespaces/team/configmaps', 200],
      ['bob', 'get', '/api/v1/namespaces/other/configmaps', 403], ['bob', 'get', '/api/v1/configmaps', 403],
      ['bob', 'get', '/api/v1/namespaces/team/secrets/shown', 200],
      ['bob', 'get', '/api/v1/namespaces/team/secrets/hidden', 403],
      ['bob', 'get', '/api/v1/namespaces/team/secrets', 403],
      ['bob', 'get', '/api/v1/namespaces/team/pods/a', 403],
      ['bob', 'get', '/api/v1/namespaces/team/pods/a/status', 404],
      ['ann', 'get', '/metrics', 200], ['bob', 'get', '/metrics', 403], ['ann', 'get', '/openapi/v2', 200],
      ['robot', 'get', '/api/v1/namespaces/team/configmaps', 403],
      ['eve', 'get', '/api/v1/namespaces/team/configmaps', 403]
    ] as const) t.equal((await as(who)[method](url)).code, code, `${who} ${method} ${url}`)
    t.equal((await as('robot').post('/api/v1/namespaces/team/configmaps', { metadata: { name: 'made' } })).code, 201)
    t.equal((await as('robot').post('/api/v1/namespaces/other/configmaps', { metadata: { name: 'made' } })).code, 403)
    t.equal(
      (await as('ann').put('/apis/apps/v1/namespaces/team/deployments/a/scale', {
        metadata: { name: 'a' }, spec: {}
      })).code,
      404,
      'by the star before the subresource'
    )
    t.equal((await as('ann').put('/apis/apps/v1/namespaces/team/deployments/a', { metadata: { name: 'a' } })).code, 403)
    t.equal((await root.delete(`${RBAC}/clusterrolebindings/ann-everywhere`)).code, 200)
    t.equal(
      (await as('ann').get('/api/v1/configmaps')).code, 403, 'a removed right no longer applies to the next request'
    )
  }
)

t.test('an unresolvable binding is named in a refusal and does not prevent an allowance by another', async t => {
  const { as } = await start(t)
  const root = as('root')
  await root.post(`${RBAC}/clusterrolebindings`, binding('dangling', { name: 'missing' }, user('ann')))
  await root.post(
    `${RBAC}/clusterrolebindings`,
    binding('with-namespace', { name: 'cluster-admin' }, { ...user('eve'), namespace: 'team' })
  )
  t.match(await as('ann').get('/api/v1/nodes'), {
    code: 403,
    json: {
      message:
        'nodes is forbidden: User "ann" cannot list resource "nodes" in API group "" at the cluster scope: RBAC: ' +
        'clusterrole.rbac.authorization.orch.io "missing" not found'
    }
  })
  t.match(await as('eve').get('/api/v1/nodes'), {
    code: 403, json: { message: /RBAC: User "eve" has a namespace, "team"$/ }
  })
  await root.post(`${RBAC}/clusterroles`, role('nodes', [rule('list', '', 'nodes')]))
  await root.post(`${RBAC}/clusterrolebindings`, binding('nodes', { name: 'nodes' }, user('ann')))
  t.equal((await as('ann').get('/api/v1/nodes')).code, 200)
})

t.test('a namespace full of bindings without a role, or of rules, is answered with the first of them', async t => {
  const { as } = await start(t)
  const root = as('root')
  for (let at = 0; at < 30; at++) {
    await root.post(
      `${RBAC}/namespaces/team/rolebindings`, binding(`b${at}`, { kind: 'Role', name: `missing-${at}` }, user('eve'))
    )
  }
  const { message } = (await as('eve').get('/api/v1/namespaces/team/secrets')).json as { message: string }
  t.equal(message.match(/not found/g)?.length, 20)
  t.match(message, /, and 10 more bindings that cannot be resolved$/)
  for (let at = 0; at < 5; at++) {
    await root.post(
      `${RBAC}/namespaces/team/roles`,
      role(`large-${at}`, Array.from({ length: 3000 }, (_, index) => rule('get', '', `r${index}`, [`n${at}`])))
    )
    await root.post(
      `${RBAC}/namespaces/team/rolebindings`, binding(`large-${at}`, { kind: 'Role', name: `large-${at}` }, user('ann'))
    )
  }
  const { status } = (await as('ann').post('/apis/authorization.orch.io/v1/selfsubjectrulesreviews', {
    spec: { namespace: 'team' }
  })).json as { status: Json }
  t.match(status, {
    incomplete: true, evaluationError: 'the rules hold more than 50000 values, of which these are the first'
  })
  t.ok(status['resourceRules'].length > 9_000 && status['resourceRules'].length < 10_000)
  t.equal((await as('ann').get('/api/v1/namespaces/team/r2999/n4')).code, 404, 'they all apply')
})

t.test('the default roles and bindings exist, and aggregated roles are filled', async t => {
  const { as } = await start(t)
  const root = as('root')
  const names = async (url: string): Promise<string[]> =>
    (await root.get(`${RBAC}/${url}`)).json['items'].map(({ metadata }: Json) => metadata['name'])
  t.equal((await names('clusterroles')).length, 62)
  t.ok((await names('clusterrolebindings')).includes('system:public-info-viewer'))
  t.same((await names('namespaces/orch-public/roles')), ['system:controller:bootstrap-signer'])
  const ofClaims = (await root.get(
    `${RBAC}/clusterroles/system:controller:statefulset-controller`
  )).json['rules'].filter(({ resources }: Json) => resources.includes('persistentvolumeclaims'))
  t.same(
    ofClaims, [{ verbs: ['create', 'get'], apiGroups: [''], resources: ['persistentvolumeclaims'] }],
    'no rule of a feature that is off'
  )
  const view = (await root.get(`${RBAC}/clusterroles/view`)).json
  t.match(view, {
    metadata: { labels: { 'orch.io/bootstrapping': 'rbac-defaults' } },
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { 'rbac.authorization.orch.io/aggregate-to-view': 'true' } }]
    }
  })
  await root.post(
    `${RBAC}/clusterroles`,
    role(
      'more', [rule('get', 'example.com', 'widgets')],
      { labels: { 'rbac.authorization.orch.io/aggregate-to-view': 'true' } }
    )
  )
  const filled = async (): Promise<boolean> =>
    JSON.stringify((await root.get(`${RBAC}/clusterroles/admin`)).json['rules']).includes('example.com')
  for (let tries = 0; tries < 200 && !await filled(); tries++) await new Promise(resolve => { setTimeout(resolve, 10) })
  t.ok(await filled(), 'view is gathered by edit, and that by admin')
  await root.post(`${RBAC}/namespaces/team/rolebindings`, binding('ann-edits', { name: 'edit' }, user('ann')))
  t.equal((await as('ann').get('/api/v1/namespaces/team/secrets')).code, 200)
  t.equal((await as('ann').get('/api/v1/namespaces/other/secrets')).code, 403)
})

t.test('aggregated roles that select each other settle, and keep what others give them alone', async t => {
  const { as } = await start(t)
  const root = as('root')
  const ring = [['c', 'a'], ['b', 'c'], ['a', 'b'], ['pair', 'twin'], ['twin', 'pair']]
  for (const [name = '', selects = ''] of ring) {
    await root.post(`${RBAC}/clusterroles`, {
      ...role(name, [rule('get', '', `of-${name}`)], { labels: { x: name } }),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { x: selects } }] }
    })
  }
  const given = [rule('get', '', 'given')]
  await root.post(`${RBAC}/clusterroles`, role('giver', given, { labels: { x: 'b' } }))
  await root.post(`${RBAC}/clusterroles`, role('other-giver', given, { labels: { x: 'twin' } }))
  const now = async (): Promise<Json[]> =>
    await Promise.all(ring.map(async ([name]) => (await root.get(`${RBAC}/clusterroles/${name}`)).json))
  let [before, after] = [[] as Json[], await now()]
  for (let tries = 0; tries < 15 && JSON.stringify(before) !== JSON.stringify(after); tries++) {
    before = after
    await new Promise(resolve => { setTimeout(resolve, 200) })
    after = await now()
  }
  t.same(after, before, 'nothing is written any more')
  for (const { metadata, rules } of after) t.same(rules, given, metadata['name'])
})

t.test('thousands of rules are aggregated once each, in proportional time', async t => {
  const { as } = await start(t)
  const root = as('root')
  await root.post(`${RBAC}/clusterroles`, {
    metadata: { name: 'all' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { x: 'y' } }] }
  })
  const since = process.cpuUsage()
  // The roles share half of their rules.
  for (const [name, from] of [['one', 0], ['two', 1000]] as const) {
    const rules = Array.from({ length: 2000 }, (_, at) => rule('get', '', `r${from + at}`))
    t.equal((await root.post(`${RBAC}/clusterroles`, role(name, rules, { labels: { x: 'y' } }))).code, 201)
  }
  const gathered = async (): Promise<number> =>
    ((await root.get(`${RBAC}/clusterroles/all`)).json['rules'] ?? []).length
  await polled(async () => await gathered() === 3000)
  const { user, system } = process.cpuUsage(since)
  t.ok(user + system < 20_000_000, `${user + system} us`)
})

t.test('users cannot grant rights they lack, unless they may escalate or bind', async t => {
  const { as } = await start(t)
  const root = as('root')
  await root.post(
    `${RBAC}/clusterroles`,
    role('role-writer', [rule('create,update,patch,get', GROUP, 'roles,rolebindings'), rule('get', '', 'pods')])
  )
  await root.post(
    `${RBAC}/namespaces/team/rolebindings`, binding('ann-writes-roles', { name: 'role-writer' }, user('ann'))
  )
  const ann = as('ann')
  const roles = `${RBAC}/namespaces/team/roles`
  t.equal((await ann.post(roles, role('pods', [rule('get', '', 'pods')]))).code, 201)
  t.match(await ann.post(roles, role('secrets', [rule('get,list', '', 'secrets,pods')])), {
    code: 403,
    json: {
      message:
        `roles.${GROUP} "secrets" is forbidden: user "ann" (groups=["devs","ops","system:authenticated"]) ` +
        'is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get","list"]}\n' +
        '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'
    }
  })
  t.equal((await ann.patch(`${roles}/pods`, { rules: [rule('*', '', 'pods')] })).code, 403, 'nor by a patch')
  t.equal(
    (await ann.patch(`${roles}/pods`, { metadata: { labels: { a: 'b' } } })).code, 200,
    'a user who has the rights of a role may change it'
  )
  await root.post(roles, role('above', [rule('get', '', 'secrets')]))
  t.equal(
    (await ann.patch(`${roles}/above`, { metadata: { labels: { a: 'b' } } })).code, 403, 'a user without them may not'
  )
  t.equal(
    (await ann.patch(`${roles}/above`, { metadata: { finalizers: ['example.com/hold'] } })).code, 200,
    'but changes that garbage collection makes grant nothing'
  )
  const bindings = `${RBAC}/namespaces/team/rolebindings`
  t.equal((await ann.post(bindings, binding('bob', { name: 'view' }, user('bob')))).code, 403)
  t.equal((await ann.post(bindings, binding('bob', { kind: 'Role', name: 'pods' }, user('bob')))).code, 201)
  t.equal((await ann.post(bindings, binding('nothing', { kind: 'Role', name: 'missing' }, user('bob')))).code, 404)
  await root.post(
    `${RBAC}/clusterroles`,
    role('binder', [rule('bind', GROUP, 'clusterroles', ['view']), rule('escalate', GROUP, 'roles')])
  )
  await root.post(bindings, binding('ann-binds', { name: 'binder' }, user('ann')))
  t.equal((await ann.post(bindings, binding('bob-views', { name: 'view' }, user('bob')))).code, 201)
  t.equal((await ann.post(bindings, binding('bob-admin', { name: 'admin' }, user('bob')))).code, 403)
  t.equal((await ann.post(roles, role('secrets', [rule('*', '*', '*')]))).code, 201)
})

t.test('a self-review lists the rules of the user who sends it', async t => {
  const { as } = await start(t)
  await as('root').post(
    `${RBAC}/clusterroles`, role('lists', [rule('list', '', 'pods'), { verbs: ['get'], nonResourceURLs: ['/x'] }])
  )
  await as('root').post(`${RBAC}/clusterrolebindings`, binding('lists', { name: 'lists' }, user('ann')))
  const { status } = (await as('ann').post('/apis/authorization.orch.io/v1/selfsubjectrulesreviews', {
    spec: { namespace: 'team' }
  })).json as { status: Json }
  t.equal(status['incomplete'], false)
  t.ok(status['resourceRules'].some(({ resources, verbs }: Json) => resources[0] === 'pods' && verbs[0] === 'list'))
  t.ok(status['nonResourceRules'].some(({ nonResourceURLs }: Json) => nonResourceURLs[0] === '/x'))
  await as('root').post(
    `${RBAC}/namespaces/team/rolebindings`, binding('dangling', { kind: 'Role', name: 'missing' }, user('ann'))
  )
  const dangling = (await as('ann').post('/apis/authorization.orch.io/v1/selfsubjectrulesreviews', {
    spec: { namespace: 'team' }
  })).json
  t.match(
    dangling, { status: { ...status, incomplete: false, evaluationError: /"missing" not found/ } },
    'a binding without a role takes nothing away'
  )
})

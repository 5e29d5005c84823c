/** The advice in a 403: who gets it, that it is true, and that it costs little. */
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { advice } from '../../../auth/rbac/advice.js'
import { parseRequest } from '../../request-info.js'
import type { Authorizer } from '../../../app.js'
import { build, type Answer, type Client, type Json } from '../../build.js'

const RBAC = '/apis/rbac.authorization.orch.io/v1'
const TOKENS = 'root,root,1,system:masters\nann,ann,2\nbob,bob,3\neve,eve,4\nmax,max,5\n'
const PODS = '/api/v1/namespaces/team/pods'
const REFUSED = (user: string): string =>
  `pods is forbidden: User "${user}" cannot list resource "pods" in API group "" in the namespace "team"`

type Call = (token: string, method: string, url: string, body?: Json) => Promise<Answer>

async function start (t: Test, authorizers: Authorizer[] = []): Promise<{ server: Client, call: Call }> {
  const server = await build(t, { authentication: { tokens: TOKENS }, authorization: { modes: ['RBAC'], authorizers } })
  const call: Call = (token, method, url, body) => server.call(method, url, body, { authorization: `Bearer ${token}` })
  const made = async (url: string, body: Json): Promise<void> => {
    t.equal((await call('root', 'POST', url, body)).code, 201, url)
  }
  const bind = async (name: string, kind: 'ClusterRole' | 'Role', user: string, where = ''): Promise<void> => {
    await made(`${RBAC}/${where === '' ? 'clusterrolebindings' : `namespaces/${where}/rolebindings`}`, {
      metadata: { name: `${name}-${user}` },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind, name },
      subjects: [{ kind: 'User', name: user }]
    })
  }
  const reads = (...resources: string[]): Json[] => [
    { verbs: ['list'], apiGroups: ['rbac.authorization.orch.io'], resources }
  ]
  for (const name of ['team', 'other']) await made('/api/v1/namespaces', { metadata: { name } })
  await made(`${RBAC}/clusterroles`, {
    metadata: { name: 'role-reader' }, rules: reads('clusterroles', 'clusterrolebindings')
  })
  await made(`${RBAC}/clusterroles`, { metadata: { name: 'half-reader' }, rules: reads('clusterroles', 'roles') })
  await made(`${RBAC}/namespaces/team/roles`, {
    metadata: { name: 'team-reader' }, rules: reads('roles', 'rolebindings')
  })
  await made(`${RBAC}/namespaces/team/roles`, {
    metadata: { name: 'pods-<of>-team' }, rules: [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }]
  })
  await made(`${RBAC}/namespaces/other/roles`, {
    metadata: { name: 'pods-of-other' }, rules: [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }]
  })
  await bind('role-reader', 'ClusterRole', 'ann')
  await bind('team-reader', 'Role', 'bob', 'team')
  await bind('half-reader', 'ClusterRole', 'eve')
  return { server, call }
}

t.test('the refusal names no roles to users who may not read roles', async t => {
  const { server, call } = await start(t)
  for (const user of ['eve', 'max']) {
    const { body } = await call(user, 'GET', PODS)
    const status = JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: REFUSED(user),
      reason: 'Forbidden',
      details: { kind: 'pods' },
      code: 403
    })
    t.equal(body, `${status}\n`)
  }
  t.equal((await server.get(PODS)).json['message'], REFUSED('system:anonymous'))
  t.equal(
    (await call('bob', 'GET', '/api/v1/namespaces/other/pods')).json['message'],
    REFUSED('bob').replace('team', 'other'), 'his right to read roles ends with his namespace'
  )
  t.equal(
    (await call('bob', 'GET', '/api/v1/pods')).json['message'],
    REFUSED('bob').replace('in the namespace "team"', 'at the cluster scope')
  )
})

t.test('users who may read roles learn which role would allow the request, smallest first, and the rule', async t => {
  const { call } = await start(t)
  const rule = 'the rule {apiGroups: [""], resources: ["pods"], verbs: ["list"]}'
  t.match((await call('ann', 'GET', PODS)).json, {
    code: 403,
    reason: 'Forbidden',
    details: { kind: 'pods' },
    message:
      `${REFUSED('ann')}; it would be allowed by ClusterRole "view", ClusterRole "edit" or ClusterRole "admin" if it ` +
      `were bound to this user, or by ${rule}`
  })
  t.equal(
    (await call('bob', 'GET', PODS)).json['message'],
    `${REFUSED('bob')}; it would be allowed by Role "pods-&lt;of&gt;-team" if it were bound to this user, ` +
    `or by ${rule}`,
    'those of his namespace alone'
  )
  t.match(
    (await call('ann', 'GET', '/metrics')).json['message'],
    /^forbidden: User "ann" cannot get path "\/metrics"; it would be allowed by ClusterRole "system:monitoring" or ClusterRole "cluster-admin" if it were bound to this user, or by the rule \{nonResourceURLs: \["\/metrics"\], verbs: \["get"\]\}$/
  )
  t.match((await call('ann', 'GET', '/nothing')).json['message'], 'by ClusterRole "cluster-admin" if it were bound')
})

t.test('the rule is true: a role with it allows the request', async t => {
  const { call } = await start(t)
  await call('root', 'POST', '/api/v1/namespaces/team/configmaps', { metadata: { name: 'one' } })
  for (const [at, [method, url, body]] of ([
    ['GET', PODS], ['GET', '/api/v1/namespaces/team/configmaps/one'],
    ['POST', '/api/v1/namespaces/team/configmaps', { metadata: { name: 'two' } }], ['GET', '/apis/apps/v1/deployments'],
    ['DELETE', '/api/v1/namespaces/team/configmaps/one'], ['GET', '/metrics'], ['GET', '/api/v1/nodes']
  ] as Array<[string, string, Json?]>).entries()) {
    const { json } = await call('ann', method, url, body)
    const rule = parse(/the rule (\{.*\})$/.exec(String(json['message']))?.[1] ?? '') as Json
    const name = `advised-${at}`
    await call('root', 'POST', `${RBAC}/clusterroles`, { metadata: { name }, rules: [rule] })
    await call('root', 'POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name: 'ann' }]
    })
    t.ok((await call('ann', method, url, body)).code < 300, `${method} ${url} by ${JSON.stringify(rule)}`)
  }
})

t.test('there is no advice if another authorizer denies', async t => {
  const { call } = await start(t, [
    {
      name: 'strict',
      authorize: ({ user, info }) => ({
        decision: user.username === 'ann' && info.resource === 'pods' ? 'Deny' : 'NoOpinion'
      })
    }
  ])
  t.equal((await call('ann', 'GET', PODS)).json['message'], REFUSED('ann'))
})

t.test('another authorizer that denies reading roles withholds the advice too', async t => {
  for (const remote of [true, false]) {
    const { call } = await start(t, [{
      name: 'strict',
      authorize: ({ user, info }) => {
        const ruling = {
          decision: user.username === 'ann' && info.resource === 'clusterrolebindings'
            ? 'Deny' as const
            : 'NoOpinion' as const
        }
        return remote ? Promise.resolve(ruling) : ruling
      }
    }])
    t.equal((await call('ann', 'GET', `${RBAC}/clusterrolebindings`)).code, 403)
    t.equal((await call('ann', 'GET', PODS)).json['message'], REFUSED('ann'))
    t.match((await call('bob', 'GET', PODS)).json['message'], 'it would be allowed by')
  }
})

t.test('advice to an impersonator depends on the rights of the impersonated user', async t => {
  const { server } = await start(t)
  const ask = async (user: string): Promise<string> =>
    (await server.get(PODS, { authorization: 'Bearer root', 'impersonate-user': user })).json['message'] as string
  t.equal(await ask('max'), REFUSED('max'))
  t.match(await ask('ann'), 'it would be allowed by')
})

t.test('a bounded number of roles is examined, and few are named', async t => {
  const info = parseRequest('GET', PODS)
  let taken = 0
  function * endless (rules: Json[]): Generator<[string, Json[]]> { for (;;) yield [`role-${taken++}`, rules] }
  t.equal(
    advice(info, [{ kind: 'Role', roles: endless([{ verbs: ['get'], apiGroups: ['x'], resources: ['y'] }]) }]),
    'it would be allowed by the rule {apiGroups: [""], resources: ["pods"], verbs: ["list"]}'
  )
  t.ok(taken < 10_000)
  taken = 0
  advice(info, [
    {
      kind: 'Role',
      roles: endless([{ verbs: ['get'], apiGroups: Array.from({ length: 3000 }, String), resources: ['y'] }])
    }
  ])
  t.ok(taken < 10, 'large rules count for more')
  taken = 0
  advice(info, [{ kind: 'Role', roles: endless([]) }])
  t.ok(taken <= 10_001, 'and so do roles without rules')
  taken = 0
  t.equal(
    advice(info, [
      { kind: 'Role', roles: endless([{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }]) }
    ]).match(/Role "/g)?.length,
    3
  )
})

/** Impersonation: the required permissions, where both users are reported, and the remaining headers. */
import t from 'tap'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import Fastify from '../fastify.js'
import { server as orch, type Authorizer, type ServerOptions, type UserInfo } from '../../app.js'
import { extraKey } from '../../plugins/shared/sent-headers.js'
import { modesOf } from '../../plugins/impersonation/constrained.js'
import type { Impersonation } from '../../plugins/impersonation/headers.js'
import { BINDINGS, build, client, type Client, type Json } from '../build.js'
import { codeOver, flagged, SERVER_FILES } from '../flagged-server.js'
import { authority } from '../serving/authority.js'

type Headers = Record<string, string | string[]>
interface Built extends Client {
  /** Authorizer questions about impersonation, in order. */
  readonly asked: string[]
  readonly seen: UserInfo[]
  readonly headers: string[]
  readonly code: (headers: Headers) => Promise<number>
}

/** A server whose authorizer allows everything except the given permissions. */
async function serve (
  t: { teardown: (fn: () => unknown) => void }, denied: readonly string[] = [], options: ServerOptions = {}
): Promise<Built> {
  const asked: string[] = []
  const seen: UserInfo[] = []
  const headers: string[] = []
  const authorizer: Authorizer = {
    name: 'spy',
    authorize: ({ user, info }) => {
      if (info.verb !== 'impersonate') {
        if (info.isResourceRequest) seen.push(user)
        return { decision: 'Allow' }
      }
      const what = [
        user.username, info.group, info.version, info.resource, info.subresource, info.namespace, info.name
      ].join('|')
      asked.push(what)
      return { decision: denied.some(one => what.includes(one)) ? 'Deny' : 'Allow', reason: 'not for you' }
    }
  }
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(async scope => {
    await orch(scope, {
      authentication: { tokens: 'abc,ann,u1,ops\n' }, authorization: { authorizers: [authorizer] }, ...options
    })
    scope.addHook('onRequest', (request, _reply, done) => {
      headers.push(JSON.stringify([request.headers, request.raw.rawHeaders]))
      done()
    })
  })
  await app.ready()
  const code: Built['code'] = async more => {
    asked.length = seen.length = headers.length = 0
    return (await app.inject({
      url: BINDINGS, headers: { authorization: 'Bearer abc', ...more } as Record<string, string>
    })).statusCode
  }
  return { ...client(app), asked, seen, headers, code }
}

t.test('each impersonated attribute is authorized for the original user', async t => {
  const { code, asked, seen } = await serve(t)
  t.equal(
    await code({
      'Impersonate-User': 'bob',
      'impersonate-group': ['dev', 'a, b'],
      'Impersonate-Uid': '7',
      'Impersonate-Extra-Scopes': ['view', 'edit'],
      'impersonate-extra-A%2f%42': 'x'
    }),
    200
  )
  t.same(asked, [
    'ann|||users|||bob', 'ann|||groups|||dev', 'ann|||groups|||a, b',
    'ann|authentication.orch.io|v1|userextras|scopes||view', 'ann|authentication.orch.io|v1|userextras|scopes||edit',
    'ann|authentication.orch.io|v1|userextras|a/B||x',
    'ann|authentication.orch.io|v1|uids|||7'
  ])
  t.same(
    seen,
    [
      {
        username: 'bob',
        uid: '7',
        groups: ['dev', 'a, b', 'system:authenticated'],
        extra: { scopes: ['view', 'edit'], 'a/B': ['x'] }
      }
    ],
    'and then the request is his'
  )
})

t.test('an extra without a key is one, too', async t => {
  const { code, asked } = await serve(t)
  t.equal(await code({ 'Impersonate-User': 'bob', 'Impersonate-Extra-': 'x' }), 200)
  t.same(asked, ['ann|||users|||bob', 'ann|authentication.orch.io|v1|userextras|||x'])
  t.equal(await code({ 'Impersonate-Extra-': 'x' }), 400)
})

t.test('a user has the groups of his kind unless others are named', async t => {
  const { code, asked, seen } = await serve(t)
  for (const [headers, groups] of [
    [{ 'impersonate-user': 'bob' }, ['system:authenticated']],
    [{ 'impersonate-user': 'bob', 'impersonate-group': 'system:authenticated' }, ['system:authenticated']],
    [{ 'impersonate-user': 'bob', 'impersonate-group': 'system:unauthenticated' }, ['system:unauthenticated']],
    [{ 'impersonate-user': 'system:anonymous' }, ['system:unauthenticated']],
    [
      { 'impersonate-user': 'system:serviceaccount:x:y' },
      ['system:serviceaccounts', 'system:serviceaccounts:x', 'system:authenticated']
    ],
    [{ 'impersonate-user': 'system:serviceaccount:x:y', 'impersonate-group': 'dev' }, ['dev', 'system:authenticated']]
  ] as ReadonlyArray<[Headers, string[]]>) {
    t.equal(await code(headers), 200)
    t.same(seen[0]?.groups, groups, JSON.stringify(headers))
  }
  t.equal(asked[0], 'ann|||serviceaccounts||x|y')
  for (const name of [
    'system:serviceaccount:x', 'system:serviceaccount:x:y:z', 'system:serviceaccount:X:y', 'system:serviceaccount::y'
  ]) {
    await code({ 'impersonate-user': name })
    t.equal(asked[0], `ann|||users|||${name}`, 'which is no service account')
  }
})

t.test('one thing that is not allowed refuses the request', async t => {
  const { code, seen, call } = await serve(t, ['|users|||root', 'system:masters', '|scopes|', '|uids|'])
  for (const headers of [
    { 'impersonate-user': 'root' },
    { 'impersonate-user': 'bob', 'impersonate-group': ['dev', 'system:masters'] },
    { 'impersonate-user': 'bob', 'impersonate-extra-scopes': 'x' },
    { 'impersonate-user': 'bob', 'impersonate-uid': '1' }
  ]) {
    t.equal(await code(headers), 403, JSON.stringify(headers))
    t.same(seen, [])
  }
  const answer = await call('GET', BINDINGS, undefined, { authorization: 'Bearer abc', 'impersonate-user': 'root' })
  t.equal(
    answer.json.message,
    'users "root" is forbidden: ' +
    'User "ann" cannot impersonate resource "users" in API group "" at the cluster scope: not for you'
  )
  t.equal(await code({ 'impersonate-user': 'bob' }), 200)
})

t.test('impersonation of no user, or of several, is 400 before authorization', async t => {
  const { code, asked, seen } = await serve(t)
  for (const headers of [
    { 'impersonate-group': 'dev' }, { 'impersonate-uid': '7' }, { 'impersonate-extra-x': 'y' },
    { 'impersonate-user': '', 'impersonate-group': 'dev' },
    { 'impersonate-user': ['bob', 'eve'] }, { 'impersonate-user': 'bob', 'impersonate-uid': ['1', '2'] },
    { 'impersonate-user': '\u00ff' },
    { 'impersonate-user': 'bob', 'impersonate-group': Array.from({ length: 501 }, (_, at) => `g${at}`) }
  ]) {
    t.equal(await code(headers), 400, JSON.stringify(headers).slice(0, 100))
    t.same([asked, seen], [[], []])
  }
})

t.test('later hooks do not see the headers, and similar names have no effect', async t => {
  const { code, seen, headers } = await serve(t)
  t.equal(await code({ 'impersonate-user': 'bob', 'impersonate-extra-x': 'y', 'x-kept': 'kept' }), 200)
  t.equal(await code({ impersonate_user: 'bob', 'impersonate-other': 'x', 'x-kept': 'kept' }), 200)
  t.equal(seen[0]?.username, 'ann')
  t.equal(await code({ 'impersonate-user': '\u00c3\u00a9' }), 200)
  t.equal(seen[0]?.username, 'é', 'names are UTF-8')
  t.equal(extraKey('%zz'), '%zz')
  for (const one of headers) t.notMatch(one, /impersonate/i)
})

t.test('audit events name both users', async t => {
  const path = `${t.testdir()}/audit.log`
  const { code, app } = await serve(t, ['root'], { audit: { path } })
  await code({ 'impersonate-user': 'bob', 'impersonate-group': 'dev' })
  await code({ 'impersonate-user': 'root' })
  await app.close()
  const events = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Json)
    .filter(({ stage }) => stage === 'ResponseComplete')
  t.match(events[0], {
    user: { username: 'ann' }, impersonatedUser: { username: 'bob', groups: ['dev', 'system:authenticated'] }
  })
  t.match(events[1], { user: { username: 'ann' }, impersonatedUser: undefined, responseStatus: { code: 403 } })
})

t.test('over HTTP/2 as well, with a body or without', async t => {
  const clients = authority('clients')
  const folder = t.testdir({ ...SERVER_FILES, ca: clients.certificate })
  const headers: string[] = []
  const server = await flagged(t, folder, [`--client-ca-file=${folder}/ca`], {}, scope => {
    scope.addHook('onRequest', (request, _reply, done) => {
      headers.push(JSON.stringify([request.headers, request.raw.rawHeaders]))
      done()
    })
  })
  const session = server.session(clients.issue({ commonName: 'ann', uses: ['client'] }))
  const as = { 'impersonate-user': 'bob', 'impersonate-group': ['dev', 'ops'] }
  headers.length = server.seen.length = 0
  t.equal(await codeOver(session, as), 200)
  const stream = session.request({ ':path': BINDINGS, ':method': 'POST', 'content-type': 'application/json', ...as })
  stream.end('{}')
  stream.resume()
  await once(stream, 'close')
  t.match(server.seen, [{ username: 'bob', groups: ['dev', 'ops', 'system:authenticated'] }, { username: 'bob' }])
  t.equal(headers.length, 2)
  for (const one of headers) t.notMatch(one, /impersonate/i)
})

t.test(
  'constrained impersonation is allowed for what the request does, and otherwise the unconstrained one', async t => {
    const asked: string[] = []
    let granted: readonly string[] = []
    const authorizer: Authorizer = {
      name: 'grants',
      authorize: ({ user, info: { verb, group, resource, subresource, name } }) => {
        const what = [verb, group, resource, subresource, name].join('|')
        asked.push(what)
        return { decision: user.username !== 'ann' || granted.includes(what) ? 'Allow' : 'Deny', reason: '' }
      }
    }
    const path = `${t.testdir()}/audit.log`
    const server = await build(t, {
      emulatedVersion: '1.36',
      audit: { path },
      authentication: { tokens: 'abc,ann,u1,ops\n' },
      authorization: { authorizers: [authorizer] }
    })
    const ask = async (headers: Headers, ...grants: string[]) => {
      granted = grants
      asked.length = 0
      return await server.post(
        '/apis/authentication.orch.io/v1/selfsubjectreviews', {},
        { authorization: 'Bearer abc', ...headers } as Record<string, string>
      )
    }
    const CREATE = '|authentication.orch.io|selfsubjectreviews||'
    const on = (mode: string) => `impersonate-on:${mode}:create${CREATE}`
    const who = (answer: { json: Json }): Json => answer.json['status'].userInfo
    const bob = await ask(
      { 'impersonate-user': 'bob' }, on('user-info'), 'impersonate:user-info|authentication.orch.io|users||bob'
    )
    t.match(who(bob), { username: 'bob', groups: ['system:authenticated'] })
    t.match(
      await ask({ 'impersonate-user': 'bob' }, 'impersonate:user-info|authentication.orch.io|users||bob'),
      { code: 403, json: { message: /cannot impersonate-on:user-info:create/ } }
    )
    t.equal((await ask({ 'impersonate-user': 'bob' }, on('user-info'))).code, 403)
    t.match(
      who(await ask({ 'impersonate-user': 'bob' }, 'impersonate||users||bob')), { username: 'bob' },
      'without a constraint'
    )
    const groups = ['a', 'b', 'c', 'd']
    t.match(
      who(await ask(
        { 'impersonate-user': 'bob', 'impersonate-group': groups as unknown as string }, on('user-info'),
        'impersonate:user-info|authentication.orch.io|users||bob',
        'impersonate:user-info|authentication.orch.io|groups||*'
      )),
      { groups: [...groups, 'system:authenticated'] }
    )
    const extra = Object.fromEntries(['a', 'b', 'c', 'd'].map(name => [`impersonate-extra-x.example%2f${name}`, name]))
    t.match(
      who(await ask(
        { 'impersonate-user': 'bob', ...extra }, on('user-info'),
        'impersonate:user-info|authentication.orch.io|users||bob',
        'impersonate:user-info|authentication.orch.io|userextras|*|*'
      )),
      { extra: { 'x.example/d': ['d'] } }
    )
    t.equal(
      (await ask(
        { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' }, on('user-info'),
        'impersonate:user-info|authentication.orch.io|users||bob',
        'impersonate:user-info|authentication.orch.io|groups||system:masters'
      )).code,
      403
    )
    const node = await ask(
      { 'impersonate-user': 'system:node:n1' }, on('arbitrary-node'),
      'impersonate:arbitrary-node|authentication.orch.io|nodes||n1'
    )
    t.match(who(node), { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] })
    t.notOk(asked.some(what => what.includes('associated-node')), 'ann is on no node')
    const account = await ask(
      { 'impersonate-user': 'system:serviceaccount:team:robot' }, on('serviceaccount'),
      'impersonate:serviceaccount|authentication.orch.io|serviceaccounts||robot'
    )
    t.match(who(account), { groups: ['system:serviceaccounts', 'system:serviceaccounts:team', 'system:authenticated'] })
    await server.app.close()
    t.match(readFileSync(path, 'utf8'), '"authenticationMetadata":{"impersonationConstraint":"impersonate:user-info"}')
  }
)

t.test('who runs on a node may act as that node', async t => {
  const requester = {
    username: 'system:serviceaccount:a:b', uid: '', groups: [], extra: { 'authentication.orch.io/node-name': ['n1'] }
  }
  const of = (user: string) => modesOf({ users: [user], uids: [], groups: [], extra: new Map() }, requester)
  t.match(of('system:node:n1'), [
    { name: 'associated-node', permissions: [{ resource: 'nodes', name: '*' }] },
    { name: 'arbitrary-node', permissions: [{ resource: 'nodes', name: 'n1' }] }
  ])
  t.same(of('system:node:n2').map(({ name }) => name), ['arbitrary-node'])
  t.same(of('system:node:n1').map(mode => mode.requester.extra), [
    { 'authentication.orch.io/associated-node-keys': ['authentication.orch.io/node-name'] }, requester.extra
  ], 'a grant for one node is one for each, so no value says which')
})

t.test('nodes and accounts are impersonated by name alone, and keys of extra have a domain', t => {
  const requester = { username: 'ann', uid: '', groups: [], extra: {} }
  const of = (user: string, more: Partial<Impersonation> = {}) =>
    modesOf({ users: [user], uids: [], groups: [], extra: new Map(), ...more }, requester)
  for (const user of ['system:node:n1', 'system:serviceaccount:a:b']) {
    t.equal(of(user).length, 1)
    for (const more of [
      { uids: ['1'] }, { groups: ['dev'] }, { extra: new Map([['a.example/b', ['c']]]) }
    ]) t.same(of(user, more), [], `${user} ${JSON.stringify(more)}`)
  }
  t.match(
    of('system:node:Not_One', { uids: ['1'] }),
    [{ name: 'user-info', permissions: [{ resource: 'users', name: 'system:node:Not_One' }, { resource: 'uids' }] }]
  )
  for (const [key, isGood] of [
    ['a.example/b', true], ['a.example/b/c', true], ['a/b', true], ['scopes', false], ['a.example/', false],
    ['a.example/B', false], ['A.example/b', false], ['/b', false], ['', false]
  ] as const) {
    t.equal(of('bob', { extra: new Map([[key, ['c']]]) })[0]?.problem === undefined, isGood, key)
  }
  t.end()
})

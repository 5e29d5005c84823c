import t from 'tap'
import Fastify from '../../fastify.js'
import { server as orch } from '../../../app.js'
import { ANONYMOUS } from '../../../plugins/authentication/index.js'
import { bearerToken, parseTokenFile, tokenFileAuthenticator } from '../../../plugins/authentication/token-file.js'
import { clientCertificateAuthenticator } from '../../../plugins/authentication/client-certificate.js'
import type { Attributes, Authorizer } from '../../../auth/authorizer.js'
import { BINDINGS, build } from '../../build.js'

const TOKENS = 'abc,ann,u1,"dev,ops"\n"quo""ted",bob,u2\n# a comment\n\nxyz,carl,u3,one\n'

/** Records the users that it sees. */
function spy (): Authorizer & { seen: Attributes[] } {
  const seen: Attributes[] = []
  return { name: 'spy', seen, authorize: attributes => { seen.push(attributes); return { decision: 'Allow' } } }
}

t.test('the token file names users, uids and groups', async t => {
  const authenticator = tokenFileAuthenticator(TOKENS)
  const who = (authorization: string) =>
    authenticator.authenticate({ headers: { authorization }, certificate: undefined })
  t.match(who('Bearer abc'), { username: 'ann', uid: 'u1', groups: ['dev', 'ops'] })
  t.match(who('bearer quo"ted'), { username: 'bob', uid: 'u2', groups: [] })
  t.match(who('Bearer xyz'), { groups: ['one'] })
  t.equal(who('Bearer nope'), undefined)
  t.match(
    [...parseTokenFile(`\uFEFF${TOKENS}`).keys()], [...parseTokenFile(TOKENS).keys()],
    'a mark of the byte order is no part of the first token'
  )
  t.equal(who('Basic abc'), undefined)
  for (const [text, message] of [
    ['a,b', /line 1: at least 3 columns/],
    ['a,,1', /line 1: the user name is empty/],
    ['x,y,z\n,b,c', /line 2: the token is empty/],
    ['"a,b,c', /line 1: a quoted column does not end/]
  ] as const) {
    t.throws(() => parseTokenFile(text), { message })
  }
})

t.test('only the Bearer scheme carries tokens', async t => {
  t.equal(bearerToken('Bearer t'), 't')
  t.equal(bearerToken('BEARER t '), 't')
  for (const header of [undefined, '', 'Bearer', 'Bearer  ', 'Bearer  t', 'Basic t', 'Token t']) {
    t.equal(bearerToken(header), undefined)
  }
})

t.test('requests have a user, and every authenticated one is in the group of all', async t => {
  const authorizer = spy()
  const server = await build(t, { authentication: { tokens: TOKENS }, authorization: { authorizers: [authorizer] } })
  authorizer.seen.length = 0
  await server.get(BINDINGS, { authorization: 'Bearer abc' })
  await server.get(BINDINGS)
  t.match(authorizer.seen.map(({ user }) => user), [
    { username: 'ann', groups: ['dev', 'ops', 'system:authenticated'] }, ANONYMOUS
  ])
  t.notOk(authorizer.seen[1]?.user.groups.includes('system:authenticated'))
})

t.test('an unknown token is 401 even where anonymous is allowed; without credentials it depends', async t => {
  const open = await build(t, { authentication: { tokens: TOKENS } })
  const refused = await open.get(BINDINGS, { authorization: 'Bearer nope' })
  t.match(refused, { code: 401, json: { kind: 'Status', status: 'Failure', reason: 'Unauthorized', code: 401 } })
  t.equal((await open.get(BINDINGS)).code, 200)
  const closed = await build(t, {
    authentication: {
      tokens: TOKENS,
      anonymous: false,
      authenticators: [
        {
          name: 'probe',
          authenticate: ({ headers }) => headers['user-agent'] === 'lightMyRequest' &&
            headers.authorization === undefined &&
            headers['x-none'] === undefined
            ? { username: 'probe', uid: '', groups: [], extra: {} }
            : undefined
        }
      ]
    }
  })
  t.equal((await closed.get(BINDINGS, { 'x-none': '1' })).code, 401)
  t.equal(
    (await closed.get('/nothing/here', { 'x-none': '1' })).code, 401,
    'without credentials a missing path is 401 like any other'
  )
  t.equal((await closed.get(BINDINGS, { authorization: 'Bearer abc', 'x-none': '1' })).code, 200)
})

t.test('a failing authenticator refuses, unless another one knows the user', async t => {
  const failing = { name: 'failing', authenticate: () => { throw new Error('secret detail') } }
  const later = { name: 'later', authenticate: async () => ({ username: 'late', uid: '', groups: [], extra: {} }) }
  const refused = await build(t, { authentication: { authenticators: [later, failing] } })
  t.equal((await refused.get(BINDINGS)).code, 200)
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(orch, { authentication: { authenticators: [failing] } })
  const answer = await app.inject(BINDINGS)
  t.equal(answer.statusCode, 401)
  t.notOk(answer.body.includes('secret detail'))
})

t.test('client certificates name the user and groups, and must verify', async t => {
  const left: number[] = []
  const clientCertificates = clientCertificateAuthenticator({
    histogram: () => ({ with: () => ({ observe: value => { left.push(value) } }) })
  })
  const certificate = { verified: true, commonName: 'ann', organizations: ['dev', 'ops'] }
  t.match(clientCertificates.authenticate({ headers: {}, certificate }), { username: 'ann', groups: ['dev', 'ops'] })
  t.equal(clientCertificates.authenticate({ headers: {}, certificate: undefined }), undefined)
  t.throws(
    () => clientCertificates.authenticate({
      headers: {}, certificate: { ...certificate, verified: false, problem: 'expired' }
    }),
    /expired/
  )
  clientCertificates.authenticate({ headers: {}, certificate: { ...certificate, until: Date.now() + 3_600_000 } })
  t.ok((left[0] ?? 0) > 3500 && (left[0] ?? 0) <= 3600, 'how long it will last is measured')
})

t.test('later hooks and handlers do not see the credentials of a request', async t => {
  const seen: string[] = []
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(async scope => {
    await orch(scope, { authentication: { tokens: TOKENS } })
    scope.addHook('onRequest', (request, _reply, done) => {
      seen.push(JSON.stringify([request.headers, request.raw.headers, request.raw.rawHeaders]))
      done()
    })
  })
  await app.inject({ url: BINDINGS, headers: { authorization: 'Bearer abc', 'x-kept': 'kept' } })
  await app.inject({ url: BINDINGS, headers: { authorization: 'Basic abc', 'x-kept': 'kept' } })
  t.equal(seen.length, 2)
  for (const headers of seen) {
    t.notMatch(headers, /abc|authorization/i)
    t.match(headers, /"x-kept":"kept".*"x-kept":"kept".*"x-kept","kept"/)
  }
})

t.test('after a method fails the others still authenticate, and no request becomes anonymous', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(orch, {
    authentication: {
      tokens: TOKENS, authenticators: [{ name: 'down', authenticate: async () => { throw new Error('no answer') } }]
    }
  })
  const code = async (headers: Record<string, string>) => (await app.inject({ url: BINDINGS, headers })).statusCode
  t.equal(await code({ authorization: 'Bearer abc' }), 200)
  t.equal(await code({ authorization: 'Bearer nope' }), 401)
  t.equal(await code({}), 401)
})

t.test('attempts are counted by result, users by kind', async t => {
  const server = await build(t, {
    authentication: {
      tokens: `${TOKENS}mail,eve@example.com,u4\n`,
      authenticators: [
        {
          name: 'strict',
          authenticate: ({ headers }) => {
            if (headers.authorization === 'Bearer bad') throw new Error('bad')
            return undefined
          }
        }
      ]
    }
  })
  for (const token of ['abc', 'mail', 'nope', 'bad']) await server.get(BINDINGS, { authorization: `Bearer ${token}` })
  const { body } = await server.get('/metrics')
  const value = (series: string): number =>
    Number(body.split('\n').find(line => line.startsWith(series))?.split(' ')[1])
  t.equal(value('authentication_attempts{result="failure"}'), 1)
  t.equal(value('authentication_attempts{result="error"}'), 1)
  t.equal(value('authenticated_user_requests{username="email_id"}'), 1)
  t.ok(value('authenticated_user_requests{username="other"}') >= 2)
  t.equal(value('authentication_duration_seconds_count{result="failure"}'), 1)
})

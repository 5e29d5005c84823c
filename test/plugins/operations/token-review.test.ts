import t from 'tap'
import { build, PROTOBUF } from '../../build.js'

/** The default issuer of service account tokens. */
const OWN = ['https://orch.default.svc.cluster.local']
const REVIEWS = '/apis/authentication.orch.io/v1/tokenreviews'

t.test('a token is looked up where tokens of requests are', async t => {
  const server = await build(t, {
    authentication: {
      tokens: 'secret,bob,1,dev\n',
      authenticators: [{
        name: 'own',
        authenticate: ({ headers }) => {
          if (headers['authorization'] === 'Bearer broken') throw new Error('the issuer does not answer')
          return headers['authorization'] === 'Bearer mine'
            ? { username: 'eve', uid: '', groups: [], extra: { k: ['v'] } }
            : undefined
        }
      }]
    }
  })
  const review = async (token: string, more: object = {}) =>
    (await server.post(REVIEWS, { spec: { token, ...more } })).json.status
  t.same(await review('secret'), {
    authenticated: true, user: { username: 'bob', uid: '1', groups: ['dev', 'system:authenticated'] }, audiences: OWN
  })
  t.same(await review('mine'), {
    authenticated: true,
    user: { username: 'eve', groups: ['system:authenticated'], extra: { k: ['v'] } },
    audiences: OWN
  })
  t.match(await review('broken'), {
    authenticated: undefined, user: {}, error: '[invalid bearer token, the issuer does not answer]'
  })
  t.same(await review('nobodys'), { user: {}, error: 'invalid bearer token' })
  t.equal(
    (await review('secret', { audiences: ['elsewhere'] })).authenticated, undefined,
    'a token of this server is not valid for other audiences'
  )
  t.equal((await server.post(REVIEWS, { spec: {} })).code, 400)
  const known = await build(t, {
    authentication: {
      tokens: 'secret,bob,1,dev\n',
      audiences: ['api', 'aliases'],
      authenticators: [
        {
          name: 'aware',
          knowsAudiences: true,
          authenticate: ({ headers, audiences = [] }) => headers['authorization'] === 'Bearer far' &&
            audiences.includes('elsewhere')
            ? { username: 'far', uid: '', groups: [], extra: {}, audiences: ['elsewhere'] }
            : undefined
        }
      ]
    }
  })
  const judged = async (token: string, ...audiences: string[]) =>
    (await known.post(REVIEWS, { spec: { token, audiences } })).json.status
  t.match(
    await judged('secret'), { authenticated: true, audiences: ['api', 'aliases'] },
    'without audiences those of the server are meant'
  )
  t.match(await judged('secret', 'elsewhere', 'aliases'), { authenticated: true, audiences: ['aliases'] })
  t.equal((await judged('secret', 'elsewhere')).authenticated, undefined)
  t.match(
    await judged('far', 'elsewhere', 'aliases'),
    { authenticated: true, user: { username: 'far' }, audiences: ['elsewhere'] },
    'an authenticator that supports audiences gets all of them'
  )
  t.equal((await judged('far')).authenticated, undefined)
  const answer = await server.post(REVIEWS, { spec: { token: 'secret' } })
  t.same([answer.code, answer.json.kind, answer.json.spec], [201, 'TokenReview', { token: 'secret' }])
  const binary = await server.post(REVIEWS, { spec: { token: 'secret' } }, { accept: PROTOBUF })
  t.equal(binary.raw.subarray(0, 3).toString(), 'k8s')
  t.equal(
    (await server.get('/api/v1/namespaces', { authorization: 'Bearer nobodys' })).code, 401,
    'requests are authenticated as before'
  )
})

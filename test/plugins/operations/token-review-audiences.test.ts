import t from 'tap'
import { build, type Json } from '../../build.js'

const REVIEWS = '/apis/authentication.orch.io/v1/tokenreviews'
const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/robot'

t.test('a review of a token of a service account says whose it is and for which of the audiences', async t => {
  const server = await build(t, { authentication: { audiences: ['api', 'orch'] } })
  const { uid } = (await server.post('/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'robot' }
  })).json['metadata']
  await server.post('/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' }, spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] }
  })
  const issue = async (spec: Json): Promise<string> =>
    (await server.post(`${ACCOUNT}/token`, { spec })).json['status'].token
  const review = async (token: string, audiences?: string[]): Promise<Json> =>
    (await server.post(REVIEWS, { spec: { token, audiences } })).json['status']
  const own = await issue({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } })
  t.match(await review(own), {
    authenticated: true,
    audiences: ['api', 'orch'],
    user: {
      username: 'system:serviceaccount:default:robot',
      uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      extra: { 'authentication.orch.io/pod-name': ['p'] }
    }
  })
  const others = await issue({ audiences: ['vault', 'orch'] })
  t.same((await review(others)).audiences, ['orch'])
  t.same((await review(others, ['vault', 'db'])).audiences, ['vault'])
  t.match(await review(others, ['db']), {
    authenticated: undefined,
    user: {},
    error: '[invalid bearer token, token audiences ["vault" "orch"] is invalid for the target audiences ["db"]]'
  })
  await server.delete(ACCOUNT)
  t.match(await review(own), { authenticated: undefined, error: /no longer valid/ })
})

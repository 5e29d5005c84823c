import t from 'tap'
import { chain } from '../../plugins/authorization/chain.js'
import { refusal } from '../../auth/refusal.js'
import type { Authorizer, Decision } from '../../auth/authorizer.js'
import { parseRequest } from '../request-info.js'
import { BINDINGS, build } from '../build.js'

const user = { username: 'ann', uid: '', groups: [], extra: {} }
const about = (method: string, path: string) => ({ user, info: parseRequest(method, path) })
const says = (decision: Decision, reason?: string): Authorizer => ({
  name: decision, authorize: () => ({ decision, ...(reason ? { reason } : {}) })
})
const slowly = (authorizer: Authorizer): Authorizer => ({
  ...authorizer, authorize: async attributes => await authorizer.authorize(attributes)
})

t.test('the first authorizer that allows or denies decides', async t => {
  for (const wrap of [(one: Authorizer) => one, slowly]) {
    const decide = async (...authorizers: Authorizer[]) =>
      (await chain(authorizers.map(wrap))(about('GET', '/x'))).decision
    t.equal(await decide(says('NoOpinion'), says('Allow'), says('Deny')), 'Allow')
    t.equal(await decide(says('NoOpinion'), says('Deny'), says('Allow')), 'Deny')
    t.equal(await decide(says('NoOpinion'), says('NoOpinion')), 'NoOpinion')
    t.equal(await decide(), 'NoOpinion')
  }
  t.match(await chain([says('NoOpinion', 'one'), says('NoOpinion', 'two')])(about('GET', '/x')), { reason: 'one\ntwo' })
})

t.test('a refusal says who cannot do what to which', async t => {
  t.match(refusal(about('GET', `${BINDINGS}/b`), '').status, {
    code: 403, reason: 'Forbidden',
    message:
      'clusterrolebindings.rbac.authorization.orch.io "b" is forbidden: User "ann" cannot get resource ' +
      '"clusterrolebindings" in API group "rbac.authorization.orch.io" at the cluster scope',
    details: { name: 'b', group: 'rbac.authorization.orch.io', kind: 'clusterrolebindings' }
  })
  t.equal(
    refusal(about('POST', '/api/v1/namespaces/n/configmaps'), 'no').status.message,
    'configmaps is forbidden: User "ann" cannot create resource "configmaps" in API group "" in the namespace "n": no'
  )
  t.equal(
    refusal(about('GET', '/api/v1/namespaces/n'), '').status.message,
    'namespaces "n" is forbidden: User "ann" cannot get resource "namespaces" in API group "" in the namespace "n"'
  )
  t.same(refusal(about('GET', '/metrics'), '').status, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'forbidden: User "ann" cannot get path "/metrics"',
    reason: 'Forbidden',
    details: {},
    code: 403
  })
  t.equal(
    refusal(about('GET', '/<b>&'), '').status.message, 'forbidden: User "ann" cannot get path "/&lt;b&gt;&amp;"',
    'nothing that looks like HTML'
  )
})

t.test('AlwaysDeny refuses everything, a failing authorizer is an internal error without detail', async t => {
  const health: Authorizer = {
    name: 'health', authorize: ({ info }) => ({ decision: info.path.startsWith('/readyz') ? 'Allow' : 'NoOpinion' })
  }
  const denied = await build(t, { authorization: { modes: ['AlwaysDeny'], authorizers: [health] } })
  t.match(await denied.get(BINDINGS), { code: 403, json: { kind: 'Status', reason: 'Forbidden' } })
  t.equal((await denied.get('/version')).code, 403)
  t.equal((await denied.get('/nothing')).code, 403, 'a missing path is refused before it is looked up')
  const superusers = await build(
    t,
    {
      authentication: { tokens: 'root,root,1,system:masters\n' },
      authorization: { modes: ['AlwaysDeny'], authorizers: [health] }
    }
  )
  t.equal(
    (await superusers.get(BINDINGS, { authorization: 'Bearer root' })).code, 200,
    'system:masters may do everything, whatever the modes say'
  )
  const order = await build(t, { authorization: { modes: ['AlwaysDeny', 'AlwaysAllow'] } })
  t.equal((await order.get(BINDINGS)).code, 200, 'the one after it may still allow')
  const broken = await build(t, {
    authorization: { authorizers: [health, { name: 'broken', authorize: () => { throw new Error('secret detail') } }] }
  })
  const answer = await broken.get(BINDINGS)
  t.equal(answer.code, 500)
  t.notOk(answer.body.includes('secret detail'))
})

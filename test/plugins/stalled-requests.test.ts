import t from 'tap'
import type { RequestLike } from '../../plugins/stalled-requests.js'
import { workedFor } from '../../event-loop/worked-for.js'
import { build } from '../build.js'

const CONFIGS = '/api/v1/namespaces/default/configmaps'
const TOKENS = 'root,root,1,system:masters\nann,ann,2\n'
const as = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` })

t.test('requests like one with which a process hung are refused with 429 and when to retry, and no others', async t => {
  const until = new Map<string, number>()
  const noted: RequestLike[] = []
  const server = await build(t, {
    authentication: { tokens: TOKENS },
    stallGuard: {
      numberOf: like => noted.push(like),
      refusedUntil: ({ user, verb, what, namespace }) => until.get([user, verb, what, namespace].join(' '))
    }
  })
  t.equal((await server.call('POST', CONFIGS, { metadata: { name: 'a' } }, as('ann'))).code, 201)
  t.same(noted, [{ user: 'ann', verb: 'create', what: 'configmaps', namespace: 'default' }])
  until.set('ann create configmaps default', Date.now() + 90_000)
  until.set('root get /version ', Date.now() + 90_000)
  const refused = await server.call('POST', CONFIGS, { metadata: { name: 'b' } }, as('ann'))
  t.match(refused, {
    code: 429,
    json: {
      reason: 'TooManyRequests',
      message:
        /^requests like this one, of the same user, verb, resource and namespace, are refused for (90|89) s: a process of the server hung with one of them$/
    }
  })
  t.match(refused.headers['retry-after'], /^(90|89)$/)
  t.equal((await server.call('GET', '/version', undefined, as('root'))).code, 429)
  for (const [method, url, token, body] of [
    ['GET', `${CONFIGS}/a`, 'ann'], ['POST', '/api/v1/namespaces/other/configmaps', 'root', {}],
    ['POST', CONFIGS, 'root', { metadata: { name: 'b' } }],
    ['POST', '/api/v1/namespaces/default/secrets', 'ann', { metadata: { name: 'b' } }], ['GET', '/version', 'ann'],
    ['GET', '/readyz', 'root']
  ] as const) t.not((await server.call(method, url, body, as(token))).code, 429, `${method} ${url} ${token}`)
  t.match(noted.at(-1), { verb: 'get', what: '/version' }, 'a probe is not noted')
  t.equal(workedFor(), 0, 'nothing is shared with a thread')
})

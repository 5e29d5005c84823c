/** Annotations and metrics of token uses, most of which wait for nothing. */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceAccounts } from '../../../plugins/authentication/service-account/index.js'
import type { ServiceAccountTokens } from '../../../auth/service-account-tokens.js'
import { registry } from '../../controllers/namespace-race.js'
import { VerifiedTokens } from '../../../plugins/authentication/service-account/verified-tokens.js'
import { build, type Json } from '../../build.js'
import { defaultAccount, keys, signed } from './tokens.js'

const CORE = '/api/v1/namespaces/default'
const ISSUER = 'https://orch.default.svc.cluster.local'

t.test('uses after the time to renew, and of tokens without an end, are counted and audited', async t => {
  const own = keys()
  const path = join(t.testdir(), 'audit.log')
  const server = await build(t, { authentication: { serviceAccounts: { signingKey: own.pem } }, audit: { path } })
  const { uid } = (await server.post(`${CORE}/serviceaccounts`, { metadata: { name: 'robot' } })).json['metadata']
  const now = Math.floor(Date.now() / 1000)
  const token = (warnafter: number) => signed(own, {
    iss: ISSUER,
    aud: [ISSUER],
    sub: 'system:serviceaccount:default:robot',
    exp: now + 600,
    nbf: now,
    'orch.io': { namespace: 'default', serviceaccount: { name: 'robot', uid }, warnafter }
  })
  await server.post(`${CORE}/secrets`, {
    metadata: { name: 's', annotations: { 'orch.io/service-account.name': 'robot' } },
    type: 'orch.io/service-account-token'
  })
  let kept: string | undefined
  while (kept === undefined) kept = (await server.get(`${CORE}/secrets/s`)).json['data']?.token
  for (const one of [token(now - 100), token(now - 100), token(now + 100), Buffer.from(kept, 'base64').toString()]) {
    t.equal((await server.get(`${CORE}/pods`, { authorization: `Bearer ${one}` })).code, 200)
  }
  const metrics = (await server.get('/metrics')).body
  for (const [name, count] of [['stale', 2], ['valid', 1], ['legacy', 1]] as const) {
    t.match(metrics, new RegExp(`^serviceaccount_${name}_tokens_total ${count}$`, 'm'))
  }
  await server.app.close()
  const events = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Json)
    .filter(({ stage, user }) => stage === 'ResponseComplete' && user.username.endsWith('robot'))
  t.match(events.map(({ annotations }) => annotations), [
    {
      'authentication.orch.io/stale-token':
        /^subject: system:serviceaccount:default:robot, seconds after warning threshold: 1\d\d$/,
      'authorization.orch.io/decision': 'allow'
    },
    { 'authentication.orch.io/stale-token': /./ },
    { 'authentication.orch.io/stale-token': undefined, 'authorization.orch.io/decision': 'allow' },
    {
      'authentication.orch.io/legacy-token': 'system:serviceaccount:default:robot',
      'authorization.orch.io/decision': 'allow'
    }
  ])
  t.notMatch(readFileSync(path, 'utf8'), own.kid, 'and no token is')
})

t.test('a token that is known waits for nothing, and its time is looked at each time', async t => {
  const resources = await registry(t, {})
  const account = await defaultAccount(resources)
  let time = Date.now()
  const { authenticator, tokens } = await serviceAccounts({
    audiences: ['api'],
    log: () => {},
    resources,
    metrics: { counter: () => ({ with: () => ({ add: () => {} }) }) },
    now: () => time
  })
  const token = await issue(tokens, account.object.metadata.uid ?? '', Math.floor(time / 1000))
  const ask = (audiences?: readonly string[]) =>
    authenticator.identify(token, audiences === undefined ? {} : { audiences })
  const [first, second] = [ask(), ask()]
  t.ok(first instanceof Promise)
  const found = await first
  t.equal((await second)?.user, found?.user, 'and one that comes twice at once is verified once')
  t.same(found?.audiences, ['api'])
  t.equal((ask() as Awaited<ReturnType<typeof ask>>)?.user, found?.user, 'the very same user, without a promise')
  t.same(ask(['vault', 'other']), { user: found?.user, audiences: ['vault'] })
  const credentials = { headers: { authorization: `Bearer ${token}` }, certificate: undefined }
  t.equal(authenticator.authenticate(credentials), found?.user)
  t.same(authenticator.authenticate({ ...credentials, audiences: ['vault'] }), { ...found?.user, audiences: ['vault'] })
  t.throws(() => ask(['other']), /^token audiences \[.*"vault"\] is invalid for the target audiences \["other"\]$/)
  time += 599_000
  t.equal((ask() as Awaited<ReturnType<typeof ask>>)?.user.username, 'system:serviceaccount:default:default')
  time = Math.floor(time / 1000) * 1000 + 2000
  await t.rejects(async () => await ask(), /expired/)
})

async function issue ({ signer }: ServiceAccountTokens, uid: string, issuedAt: number): Promise<string> {
  const token = await signer?.issue({
    namespace: 'default',
    account: { name: 'default', uid },
    audiences: ['api', 'vault'],
    issuedAt,
    expirationSeconds: 600
  })
  return token ?? ''
}

t.test('tokens that are known are bounded in number and time', async t => {
  const known = new VerifiedTokens<{ expires: number }>(2)
  for (const digest of ['a', 'b', 'c']) known.set(digest, { expires: 10_000 }, 0)
  t.equal(known.size, 2)
  t.same(['a', 'b', 'c'].filter(digest => known.get(digest, 0) !== undefined), ['b', 'c'])
  t.ok(known.get('c', 599_999))
  t.equal(known.get('c', 600_000), undefined, 'after ten minutes it is verified again')
  known.set('d', { expires: 5 }, 0)
  t.ok(known.get('d', 4999))
  t.equal(known.get('d', 5000), undefined, 'and never is one known beyond its end')
})

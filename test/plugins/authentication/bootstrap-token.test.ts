import t from 'tap'
import { build, type Json, type Client } from '../../build.js'
import { bootstrapTokenAuthenticator } from '../../../plugins/authentication/bootstrap-token.js'
import { tokenCredentials } from '../../../auth/authenticator.js'
import type { UserInfo } from '../../../schemas/meta/user-info.js'
import { Secret } from '../../../schemas/api/core/secrets.js'
import { decode } from '../../../schemas/language/decode.js'
import { applyDefaults } from '../../../schemas/language/defaults.js'
import { create } from '../../../registry/verbs/create.js'
import { context, registry, storeOf } from '../../controllers/namespace-race.js'

const SECRETS = '/api/v1/namespaces/orch-system/secrets'
const TOKEN = 'abc123.0123456789abcdef'
const GOOD = { 'token-id': 'abc123', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' }

const secret = (data: Json = {}, more: Json = {}): Json => ({
  metadata: { name: 'bootstrap-token-abc123', ...more['metadata'] }, type: more['type'] ?? 'bootstrap.orch.io/token',
  stringData: { ...GOOD, ...data }
})

async function serve (
  t: Parameters<typeof build>[0], options: Parameters<typeof build>[1] = {}
): Promise<Client & { who: (token?: string) => Promise<UserInfo | number> }> {
  let seen: UserInfo | undefined
  const server = await build(t, {
    ...options, authentication: { bootstrapTokens: true, ...options.authentication },
    authorization: {
      authorizers: [{ name: 'spy', authorize: ({ user }) => { seen = user; return { decision: 'Allow' } } }]
    }
  })
  return {
    ...server,
    who: async (token = TOKEN) => {
      const { code } = await server.get(SECRETS, { authorization: `Bearer ${token}` })
      return code === 200 && seen !== undefined ? seen : code
    }
  }
}

t.test('a bootstrap token is a user of its id, in the group of all of them and those it names', async t => {
  const server = await serve(t)
  t.equal(await server.who(), 401, 'before it is there')
  await server.post(SECRETS, secret())
  t.same(await server.who(), {
    username: 'system:bootstrap:abc123', uid: '', groups: ['system:bootstrappers', 'system:authenticated'], extra: {}
  })
  await server.patch(`${SECRETS}/bootstrap-token-abc123`, {
    stringData: { 'auth-extra-groups': 'system:bootstrappers:workers,system:bootstrappers:a:b-1' }
  })
  t.match(await server.who(), {
    groups: [
      'system:bootstrappers', 'system:bootstrappers:a:b-1', 'system:bootstrappers:workers', 'system:authenticated'
    ]
  })
  await server.delete(`${SECRETS}/bootstrap-token-abc123`)
  t.equal(await server.who(), 401, 'after its deletion')
})

t.test('a bootstrap token with an invalid Secret is refused', async t => {
  const server = await serve(t)
  for (const [what, one] of Object.entries({
    'another type': secret({}, { type: 'Opaque' }),
    'another secret': secret({ 'token-secret': '0123456789abcdeF' }),
    'no secret': secret({ 'token-secret': '' }),
    'another id': secret({ 'token-id': 'abc124' }),
    'not for authentication': secret({ 'usage-bootstrap-authentication': 'false' }),
    'a usage that is almost true': secret({ 'usage-bootstrap-authentication': 'True' }),
    'an end that is past': secret({ expiration: '2020-01-01T00:00:00Z' }),
    'an end that is no time': secret({ expiration: 'tomorrow' }),
    'an end that is no time of day': secret({ expiration: '2999-01-01' }),
    'an end on a day that is not': secret({ expiration: '2999-02-30T00:00:00Z' }),
    'an end at an hour that is not': secret({ expiration: '2999-01-01T24:00:00Z' }),
    'an end in small letters': secret({ expiration: '2999-01-01t00:00:00z' }),
    'a group beyond the prefix': secret({ 'auth-extra-groups': 'system:masters' }),
    'a group beyond it beside one that is not': secret({
      'auth-extra-groups': 'system:bootstrappers:a,system:masters'
    }),
    'the prefix alone': secret({ 'auth-extra-groups': 'system:bootstrappers:' }),
    'a group in capitals': secret({ 'auth-extra-groups': 'system:bootstrappers:Workers' }),
    'a group on two lines': secret({ 'auth-extra-groups': 'system:bootstrappers:a\nsystem:masters' }),
    'one that is being deleted': secret({}, { metadata: { finalizers: ['example.com/keep'] } })
  })) {
    t.equal((await server.post(SECRETS, one)).code, 201, what)
    if (what === 'one that is being deleted') await server.delete(`${SECRETS}/bootstrap-token-abc123`)
    t.equal(await server.who(), 401, what)
    await server.delete(`${SECRETS}/bootstrap-token-abc123`)
  }
})

t.test('the Secret has the name of its id and is in the namespace of the system', async t => {
  const server = await serve(t)
  await server.post(SECRETS, secret({}, { metadata: { name: 'bootstrap-token-abc124' } }))
  await server.post('/api/v1/namespaces/default/secrets', secret())
  t.equal(await server.who(), 401)
})

t.test('a token that is malformed as a bootstrap token is refused', async t => {
  const server = await serve(t)
  await server.post(SECRETS, secret())
  for (const token of [
    'abc123', 'abc123.', 'ABC123.0123456789abcdef', 'abc123.0123456789abcde', `${TOKEN}0`, 'abc/23.0123456789abcdef',
    TOKEN.replace('.', ':'), `${TOKEN}.${TOKEN}`, 'x'.repeat(1024 * 1024)
  ]) {
    t.equal(await server.who(token), 401, token.slice(0, 60))
  }
})

t.test('a bootstrap token is valid until its expiration', async t => {
  const resources = await registry(t, {})
  const secrets = storeOf(resources, 'secrets')
  const object = decode(Secret, {
    kind: 'Secret',
    apiVersion: 'v1',
    ...secret({ expiration: '2030-01-01T00:00:00+01:00' }, { metadata: { namespace: 'orch-system' } })
  }).object
  applyDefaults(Secret, object)
  await create(secrets, object, { namespace: 'orch-system', name: '' }, context)
  const end = Date.parse('2029-12-31T23:00:00Z')
  const at = (time: number) =>
    bootstrapTokenAuthenticator({ resources, now: () => time }).authenticate(tokenCredentials(TOKEN))
  t.match(await at(end - 1), { username: 'system:bootstrap:abc123' })
  t.equal(await at(end), undefined)
})

t.test('bootstrap tokens are refused where they are not enabled', async t => {
  const server = await serve(t, { authentication: { bootstrapTokens: false } })
  await server.post(SECRETS, secret())
  t.equal(await server.who(), 401)
})

t.test('without a watch cache the Secret is read from the store', async t => {
  const server = await serve(t, { watchCache: { size: 0 } })
  await server.post(SECRETS, secret())
  t.match(await server.who(), { username: 'system:bootstrap:abc123' })
  t.equal(await server.who('abc124.0123456789abcdef'), 401)
})

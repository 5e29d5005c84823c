/** ID tokens of a real provider, by the flags, all the way through the server. */
import t, { type Test } from 'tap'
import { writeFileSync } from 'node:fs'
import { flagged, SERVER_FILES, type Flagged } from '../../../flagged-server.js'
import { authority } from '../../../serving/authority.js'
import { ca, CLIENT, runProvider } from './provider.js'

async function serve (
  t: Test, issuer: string, flags: readonly string[] = [], more: Parameters<typeof flagged>[3] = {}
): Promise<Flagged & { readonly as: (token: string) => Promise<number> }> {
  const folder = t.testdir({ ...SERVER_FILES, 'ca.crt': ca.certificate })
  const server = await flagged(
    t, folder,
    [`--oidc-issuer-url=${issuer}`, `--oidc-client-id=${CLIENT}`, `--oidc-ca-file=${folder}/ca.crt`, ...flags], more
  )
  return { ...server, as: token => server.code(undefined, { authorization: `Bearer ${token}` }) }
}

t.test('a token authenticates its user with groups, and the provider gets requests for its keys alone', async t => {
  const provider = await runProvider(t)
  const { as, seen, get } = await serve(t, provider.issuer, [
    '--oidc-groups-claim=groups', '--oidc-groups-prefix=oidc:'
  ])
  const token = await provider.login('ann')
  provider.asked.length = 0
  t.equal(await as(token), 200)
  t.same(seen, [
    { username: `${provider.issuer}#ann`, uid: '', groups: ['oidc:dev', 'oidc:ops', 'system:authenticated'], extra: {} }
  ])
  for (let times = 0; times < 5; times++) t.equal(await as(token), 200)
  t.same(provider.asked.filter(path => path !== '/.well-known/openid-configuration'), ['/jwks'])
  const [header, payload, signature = ''] = token.split('.')
  t.equal(await as(`${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`), 401)
  t.equal((await get('/readyz')).code, 200)
})

t.test('user names are those of the claim and the prefix that the flags name', async t => {
  const provider = await runProvider(t)
  const token = await provider.login('ann')
  for (const [flags, username] of [
    [[], `${provider.issuer}#ann`],
    [['--oidc-username-prefix=-'], 'ann'],
    [['--oidc-username-prefix=oidc:'], 'oidc:ann'],
    [['--oidc-username-claim=email'], 'ann@example.com'],
    [['--oidc-username-claim=email', '--oidc-username-prefix=mail:'], 'mail:ann@example.com'],
    [
      ['--oidc-required-claim=sub=ann', '--oidc-required-claim=email=ann@example.com', '--oidc-username-prefix=-'],
      'ann'
    ]
  ] as const) {
    const { as, seen } = await serve(t, provider.issuer, flags)
    t.equal(await as(token), 200, flags.join(' '))
    t.equal(seen[0]?.username, username)
  }
  for (const flags of [
    ['--oidc-required-claim=sub=bob'], ['--oidc-required-claim=hd=example.com'], ['--oidc-username-claim=name'],
    ['--oidc-username-claim=groups'], ['--oidc-client-id=other'], ['--oidc-signing-algs=RS384,ES256']
  ]) {
    t.equal(await (await serve(t, provider.issuer, flags)).as(token), 401, flags.join(' '))
  }
})

t.test('an email address that is not verified authenticates nobody', async t => {
  const provider = await runProvider(t, 'RS256', { email_verified: false })
  const token = await provider.login('ann')
  t.equal(await (await serve(t, provider.issuer, ['--oidc-username-claim=email'])).as(token), 401)
  t.equal(await (await serve(t, provider.issuer)).as(token), 200, 'unless something else is the name')
})

t.test('every algorithm that may be allowed is understood, and only what is allowed', async t => {
  for (const algorithm of ['RS256', 'PS256', 'ES256', 'RS512', 'ES384', 'PS384']) {
    const provider = await runProvider(t, algorithm)
    const token = await provider.login('ann')
    t.equal(await (await serve(t, provider.issuer, [`--oidc-signing-algs=${algorithm}`])).as(token), 200, algorithm)
    if (algorithm !== 'RS256') {
      t.equal(await (await serve(t, provider.issuer)).as(token), 401, `${algorithm} where it is not allowed`)
    }
  }
})

t.test('rotated keys of the provider are used without a restart, after one request for them', async t => {
  const provider = await runProvider(t)
  let now = 0
  const folder = t.testdir({ ...SERVER_FILES, 'ca.crt': ca.certificate })
  const server = await flagged(
    t,
    folder,
    [],
    {
      authentication: {
        oidc: { issuer: provider.issuer, clientId: CLIENT, authority: { path: `${folder}/ca.crt` }, now: () => now }
      }
    }
  )
  const as = (token: string): Promise<number> => server.code(undefined, { authorization: `Bearer ${token}` })
  const old = await provider.login('ann')
  t.equal(await as(old), 200)
  await provider.rotate()
  const fresh = await Promise.all(['bob', 'carl', 'dora', 'eve'].map(provider.login))
  provider.asked.length = 0
  t.same(
    await Promise.all(fresh.map(as)), [401, 401, 401, 401], 'not at once, as anybody can make a token that no key fits'
  )
  t.same(provider.asked, [])
  now += 10_000
  t.same(await Promise.all(fresh.map(as)), [200, 200, 200, 200])
  t.same(provider.asked, ['/jwks'])
  t.equal(await as(await provider.login('frank')), 200)
})

t.test(
  'an issuer that cannot be reached stops neither the start nor others, and its tokens are good as soon as it can',
  async t => {
    const provider = await runProvider(t)
    const token = await provider.login('ann')
    const folder = t.testdir({ ...SERVER_FILES, 'ca.crt': authority('another').certificate })
    let now = 0
    const server = await flagged(
      t,
      folder,
      [],
      {
        authentication: {
          tokens: 'abc,bob,1\n',
          oidc: {
            issuer: provider.issuer,
            clientId: CLIENT,
            authority: { path: `${folder}/ca.crt` },
            now: () => now,
            client: { now: () => now }
          }
        }
      }
    )
    const as = (token: string): Promise<number> => server.code(undefined, { authorization: `Bearer ${token}` })
    t.equal(await as('abc'), 200)
    t.equal(await as(token), 401)
    t.match(server.log.join(''), new RegExp(`${provider.issuer}: its certificate is signed by an unknown authority`))
    t.notMatch(server.log.join(''), token)
    writeFileSync(`${folder}/ca.crt`, ca.certificate)
    t.equal(await as(token), 401, 'which is not tried with each token')
    now += 10_001
    t.equal(await as(token), 200)
    t.equal(await as('abc'), 200)
  }
)

/** Issuers of `--authentication-config`, with tokens of a real provider, all the way through the server. */
import t, { type Test } from 'tap'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArguments as parse } from '../../../../config/command-line.js'
import { configuration } from '../../../../config/options.js'
import { flagged, SERVER_FILES, type Flagged } from '../../../flagged-server.js'
import { until } from '../../../interop/server.js'
import { userOfClaims } from '../../../../plugins/authentication/oidc/mapping.js'
import { ca, CLIENT, runProvider } from './provider.js'

type Json = Record<string, unknown>
const KIND = { apiVersion: 'apiserver.config.orch.io/v1', kind: 'AuthenticationConfiguration' }
const issuer = (url: string, more: Json = {}): Json =>
  ({ url, audiences: [CLIENT], certificateAuthority: ca.certificate, ...more })
const NAMED = { username: { claim: 'sub', prefix: '' } }

interface Serving extends Flagged {
  readonly as: (token: string) => Promise<number>, readonly rewrite: (content: Json) => void
}

async function serve (t: Test, content: Json, flags: readonly string[] = []): Promise<Serving> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-authentication-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  for (const [name, content] of Object.entries(SERVER_FILES)) {
    writeFileSync(join(folder, name), content, { mode: 0o600 })
  }
  const file = join(folder, 'authentication.yaml')
  const rewrite = (given: Json): void => { writeFileSync(file, JSON.stringify({ ...KIND, ...given })) }
  rewrite(content)
  const server = await flagged(t, folder, [`--authentication-config=${file}`, ...flags])
  return { ...server, rewrite, as: token => server.code(undefined, { authorization: `Bearer ${token}` }) }
}

t.test('claims and expressions make a user', async t => {
  const provider = await runProvider(t)
  const token = await provider.login('ann')
  const { as, seen } = await serve(t, {
    jwt: [{
      issuer: issuer(provider.issuer),
      claimValidationRules: [{ claim: 'sub', requiredValue: 'ann' }, {
        expression: "claims.groups.exists(g, g == 'ops')", message: 'no operator'
      }],
      claimMappings: {
        username: { expression: "claims.email_verified ? 'mail:' + claims.email : ''" },
        groups: { expression: "claims.groups.map(g, 'oidc:' + g)" },
        uid: { claim: 'sub' },
        extra: [{ key: 'example.com/audience', valueExpression: 'claims.aud' }, {
          key: 'example.com/none', valueExpression: "''"
        }]
      },
      userValidationRules: [{ expression: "!user.username.startsWith('system:') && user.groups.size() == 2" }]
    }]
  })
  t.equal(await as(token), 200)
  t.same(seen, [{
    username: 'mail:ann@example.com', uid: 'ann', groups: ['oidc:dev', 'oidc:ops', 'system:authenticated'],
    extra: { 'example.com/audience': [CLIENT] }
  }])
})

t.test('rules refuse tokens, and so do results of another type', async t => {
  const provider = await runProvider(t)
  const token = await provider.login('ann')
  for (const [name, more] of Object.entries<Json>({
    'a claim': { claimValidationRules: [{ claim: 'sub', requiredValue: 'bob' }] },
    'a claim that is missing': { claimValidationRules: [{ claim: 'hd', requiredValue: 'example.com' }] },
    'an expression': { claimValidationRules: [{ expression: "claims.sub == 'bob'" }] },
    'an expression that fails': { claimValidationRules: [{ expression: "claims.hd == 'bob'" }] },
    'a rule of the user': { userValidationRules: [{ expression: "user.username != 'ann'" }] },
    'no name': { claimMappings: { username: { expression: "''" } } },
    'a number for a name': { claimMappings: { username: { expression: 'claims.exp' } } },
    'a number for groups': { claimMappings: { ...NAMED, groups: { expression: 'claims.exp' } } },
    'a uid that is missing': { claimMappings: { ...NAMED, uid: { claim: 'oid' } } },
    'a list for a uid': { claimMappings: { ...NAMED, uid: { expression: 'claims.groups' } } }
  })) {
    const { as } = await serve(t, { jwt: [{ issuer: issuer(provider.issuer), claimMappings: NAMED, ...more }] })
    t.equal(await as(token), 401, name)
  }
})

t.test('a token goes to the issuer that it names, for any of the audiences', async t => {
  const [one, other] = [await runProvider(t, 'ES256'), await runProvider(t)]
  const { as, seen } = await serve(t, {
    jwt: [
      {
        issuer: issuer(one.issuer, {
          audiences: ['elsewhere', CLIENT], audienceMatchPolicy: 'MatchAny'
        }), claimMappings: { username: { claim: 'sub', prefix: 'one:' } }
      },
      {
        issuer: issuer(other.issuer, {
          discoveryURL: `${other.issuer}/.well-known/openid-configuration`
        }), claimMappings: { username: { claim: 'sub', prefix: 'other:' } }
      }
    ]
  })
  for (const [provider, username] of [[one, 'one:ann'], [other, 'other:ann']] as const) {
    t.equal(await as(await provider.login('ann')), 200)
    t.same(seen.map(user => user.username), [username])
  }
})

t.test('requests without credentials are anonymous at the paths of the file alone', async t => {
  const { get } = await serve(t, { anonymous: { enabled: true, conditions: [{ path: '/readyz' }] } })
  t.equal((await get('/readyz')).code, 200)
  for (const path of ['/livez', '/readyz/ping', '/api']) t.equal((await get(path)).code, 401, path)
  t.equal((await (await serve(t, { jwt: [] })).get('/readyz')).code, 200)
})

t.test('a new content replaces the issuers, and one that is wrong changes nothing', async t => {
  const provider = await runProvider(t)
  const token = await provider.login('ann')
  const { as, seen, rewrite, log, get } = await serve(t, { jwt: [] })
  const counted = async (status: string): Promise<string | undefined> =>
    new RegExp(
      `automatic_reloads_total{apiserver_id_hash="[^"]+",status="${status}"} (\\d+)`
    ).exec((await get('/metrics')).body)?.[1]
  t.equal(await as(token), 401)
  rewrite({ jwt: [{ issuer: issuer(provider.issuer), claimMappings: NAMED }] })
  await until('the issuer', async () => await counted('success') === '1')
  t.equal(await as(token), 200)
  for (const [index, wrong] of [
    { jwt: [{ issuer: issuer('http://insecure'), claimMappings: NAMED }] }, { jwt: [], anonymous: { enabled: false } },
    { other: 1 }
  ]
    .entries()) {
    rewrite(wrong)
    await until('the refusal', async () => await counted('failure') === String(index + 1))
    t.equal(await as(token), 200, JSON.stringify(wrong))
  }
  t.match(log.join(''), /must be an https URL[^]*anonymous cannot change without a restart[^]*unknown field/)
  rewrite({ jwt: [{ issuer: issuer(provider.issuer), claimMappings: { username: { claim: 'sub', prefix: 'new:' } } }] })
  await until('the other mapping', async () => await counted('success') === '2')
  t.equal(await as(await provider.login('bob')), 200)
  t.equal(seen.at(-1)?.username, 'new:bob')
  t.match(
    (await get('/metrics')).body,
    /authentication_config_controller_automatic_reload_last_config_info{apiserver_id_hash="sha256:[0-9a-f]{64}",hash="sha256:[0-9a-f]{64}"} 1\n/
  )
  rewrite({ jwt: [] })
  await until('no issuer', async () => await counted('success') === '3')
  t.equal(await as(await provider.login('carl')), 401)
})

t.test('what a file may not have', async t => {
  const folder = t.testdir()
  const file = join(folder, 'authentication.yaml')
  const good = { issuer: issuer('https://a.example'), claimMappings: NAMED }
  const of = (more: Json): Json => ({ jwt: [{ ...good, ...more }] })
  const mapped = (more: Json): Json => of({ claimMappings: { ...NAMED, ...more } })
  for (const [content, pattern] of [
    [{
      jwt: Array.from({ length: 65 }, (_, index) =>
        ({ ...good, issuer: issuer(`https://${index}.example`) }))
    }, /jwt: .*65 issuers/],
    [{ jwt: [good, good] }, /jwt\[1\]\.issuer\.url: .*[Dd]uplicate/],
    [of({ issuer: issuer('https://a@b.example') }), /issuer\.url: .*no user and password/],
    [of({ issuer: issuer('https://a.example?b') }), /issuer\.url: .*no query/],
    [of({ issuer: issuer('https://a.example', { discoveryURL: 'https://a.example/' }) }),
      /discoveryURL: .*must not be url/
    ],
    [of({ issuer: issuer('https://a.example', { certificateAuthority: 'none' }) }), /certificateAuthority: .*PEM/],
    [of({ issuer: issuer('https://a.example', { audiences: [] }) }), /audiences: .*at least one/],
    [of({ issuer: issuer('https://a.example', { audiences: ['a', 'b'] }) }), /audienceMatchPolicy: .*MatchAny/],
    [of({ issuer: issuer('https://a.example', { egressSelectorType: 'etcd' }) }), /egressSelectorType: .*supported/i],
    [mapped({ username: {} }), /username: .*a claim or an expression/],
    [mapped({ username: { claim: 'sub' } }), /username\.prefix: .*may be empty/],
    [mapped({ username: { claim: 'sub', prefix: '', expression: 'claims.sub' } }), /username: .*not both/],
    [mapped({ username: { expression: 'claims.' } }), /username\.expression: .*compilation failed/],
    [mapped({ username: { expression: 'claims.email' } }), /email_verified/],
    [mapped({ groups: { expression: 'nobody' } }), /groups\.expression: .*compilation failed/],
    [mapped({ extra: [{ key: 'alone', valueExpression: "''" }] }), /extra\[0\]\.key: .*domain/],
    ...[
      'a.orch.io', 'authentication.kubernetes.io', 'k8s.io'
    ].map((domain): [Json, RegExp] => [
      mapped({ extra: [{ key: `${domain}/b`, valueExpression: "''" }] }), /extra\[0\]\.key: .*domain of the system/
    ]),
    [mapped({ extra: [{ key: 'a.example/B', valueExpression: "''" }] }), /lower case/],
    [of({ claimValidationRules: [{ claim: 'a', expression: 'true' }] }), /claimValidationRules\[0\]: .*not both/],
    [of({ claimValidationRules: [{ expression: "'text'" }] }), /must evaluate to bool/],
    [of({ claimValidationRules: [{ expression: 'true' }, { expression: 'true' }] }),
      /claimValidationRules\[1\]\.expression: .*[Dd]uplicate/
    ],
    [of({ userValidationRules: [{ expression: 'user.nothing' }] }),
      /userValidationRules\[0\]\.expression: .*compilation failed/
    ],
    [{ anonymous: { enabled: false, conditions: [{ path: '/a' }] } }, /conditions: .*must be left out/],
    [{ jwt: [], jwts: [] }, /unknown field "jwts"/],
    [of({ issuer: issuer('https://own.example') }), /is an issuer of this server/]
  ] as Array<[Json, RegExp]>) {
    writeFileSync(file, JSON.stringify({ ...KIND, ...content }))
    await t.rejects(
      configuration(parse([`--authentication-config=${file}`, '--service-account-issuer=https://own.example'])),
      { message: pattern }
    )
  }
  writeFileSync(file, JSON.stringify({ ...KIND, anonymous: { enabled: true } }))
  await t.rejects(configuration(parse([`--authentication-config=${file}`, '--anonymous-auth=false'])), {
    message: /excludes --anonymous-auth/
  })
  const both = [`--authentication-config=${file}`, '--oidc-issuer-url=https://a.example', '--oidc-client-id=a']
  await t.rejects(configuration(parse(both)), { message: /excludes --oidc-issuer-url/ })
  t.match((await configuration(parse([`--authentication-config=${file}`]))).options, {
    authentication: { anonymous: true }
  })
  writeFileSync(file, JSON.stringify({ ...KIND, anonymous: { enabled: false } }))
  t.match((await configuration(parse([`--authentication-config=${file}`]))).options, {
    authentication: { anonymous: false }
  })
  writeFileSync(file, '')
  await t.rejects(configuration(parse([`--authentication-config=${file}`])), { message: /not an object/ })
  for (const version of ['v1beta1', 'v1alpha1']) {
    writeFileSync(file, JSON.stringify({
      kind: 'AuthenticationConfiguration', apiVersion: `apiserver.config.k8s.io/${version}`, jwt: []
    }))
    await t.resolves(configuration(parse([`--authentication-config=${file}`, '--compat-names=true'])), version)
  }
})

t.test('an expression on many claims lets other work run', async t => {
  const many = Array.from({ length: 700 }, (_, index) => `group-${index}`)
  const toUser = userOfClaims({
    issuer: { url: 'https://example.com' },
    claimMappings: {
      username: { expression: "claims.groups.all(a, claims.groups.all(b, a + b != '')) ? 'ann' : 'bob'" }
    }
  } as unknown as Parameters<typeof userOfClaims>[0])
  let others = 0
  const other = setImmediate(function next () { others++; pending = setImmediate(next) })
  let pending = other
  await toUser({ groups: many }).catch(() => {})
  clearImmediate(pending)
  t.ok(others > 1)
})

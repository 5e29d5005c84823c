/** Malicious tokens and issuers: 401, in bounded time, memory and calls. */
import t, { type Test } from 'tap'
import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { exportJWK, SignJWT, UnsecuredJWT, type JWK } from 'jose'
import type { OidcOptions } from '../../../../plugins/authentication/oidc/index.js'
import { resolveDistributed } from '../../../../plugins/authentication/oidc/distributed.js'
import { userOf } from '../../../../plugins/authentication/oidc/claims.js'
import { Issuer as TokenIssuer } from '../../../../plugins/authentication/oidc/issuer.js'
import { byIssuer } from '../../../../plugins/authentication/oidc/token-issuer.js'
import type { DocumentFetcher } from '../../../../plugins/authentication/oidc/document-fetcher.js'
import { systemClock } from '../../../../event-loop/clock.js'
import { MovableClock } from '../../../../testing/clock.js'
import { flagged, SERVER_FILES, type Flagged } from '../../../flagged-server.js'
import { ca } from './provider.js'

const pair = ca.issue({ commonName: 'issuer', names: ['localhost'], uses: ['server'] })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = async (key: KeyObject, more: object): Promise<JWK> => ({ ...await exportJWK(key), use: 'sig', ...more })
const KEYS = [
  await jwk(rsa.publicKey, { kid: 'rsa', alg: 'RS256' }), await jwk(ec.publicKey, { kid: 'ec', alg: 'ES256' })
]

type Handler = (request: IncomingMessage, reply: ServerResponse) => void

interface Issuer { readonly url: string, readonly asked: string[], readonly paths: Record<string, Handler | object> }

async function runIssuer (t: Test): Promise<Issuer> {
  const asked: string[] = []
  const paths: Issuer['paths'] = {}
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, reply) => {
    asked.push(request.url ?? '')
    const answer = paths[request.url ?? '']
    if (typeof answer === 'function') return (answer as Handler)(request, reply)
    if (answer === undefined) reply.writeHead(404)
    reply.end(JSON.stringify(answer ?? {}))
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://localhost:${(server.address() as AddressInfo).port}`
  paths['/.well-known/openid-configuration'] = { issuer: url, jwks_uri: `${url}/keys` }
  paths['/keys'] = { keys: KEYS }
  return { url, asked, paths }
}

async function serve (
  t: Test, issuer: Issuer, more: Partial<OidcOptions> = {}, clock = systemClock
): Promise<Flagged & { readonly as: (token: string) => Promise<number> }> {
  const folder = t.testdir({ ...SERVER_FILES, 'ca.crt': ca.certificate })
  const server = await flagged(
    t,
    folder,
    [],
    {
      authentication: {
        oidc: {
          issuer: issuer.url,
          clientId: 'cluster',
          groupsClaim: 'groups',
          authority: { path: `${folder}/ca.crt` },
          ...more
        }
      },
      clock
    }
  )
  return { ...server, as: token => server.code(undefined, { authorization: `Bearer ${token}` }) }
}

const HOUR = 3600
const now = (): number => Math.floor(Date.now() / 1000)
const claims = (issuer: Issuer, more: object = {}): Record<string, unknown> => ({
  iss: issuer.url, aud: 'cluster', sub: 'ann', exp: now() + HOUR, ...more
})
const sign = async (
  payload: object, header: object = {}, key = rsa.privateKey
): Promise<string> => await new SignJWT(payload as Record<string, unknown>).setProtectedHeader({
  alg: 'RS256', kid: 'rsa', ...header
}).sign(key)
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

t.test('invalid tokens are 401', async t => {
  const issuer = await runIssuer(t)
  const { as } = await serve(t, issuer, { algorithms: ['RS256', 'ES256'], requiredClaims: new Map([['sub', 'ann']]) })
  t.equal(await as(await sign(claims(issuer))), 200)
  t.equal(await as(await sign(claims(issuer, { aud: ['cluster', 'other'], groups: 'dev' }))), 200)
  t.equal(await as(await sign(claims(issuer, { nbf: now() + 50 }))), 200, 'clocks may differ by a little')
  t.equal(await as(await sign(claims(issuer), { kid: 'ec', alg: 'ES256' }, ec.privateKey)), 200)
  const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' })
  const hmac = (key: string | Buffer): string => {
    const body = `${encode({ alg: 'HS256', kid: 'rsa' })}.${encode(claims(issuer))}`
    return `${body}.${createHmac('sha256', key).update(body).digest('base64url')}`
  }
  const swapped = async (alg: string, kid: string): Promise<string> => {
    const [, payload, signature] = (await sign(claims(issuer))).split('.')
    return `${encode({ alg, kid })}.${payload}.${signature}`
  }
  const bad: Record<string, string> = {
    'without a signature': new UnsecuredJWT(claims(issuer)).encode(),
    'signed with the public key as a secret': hmac(publicPem as string),
    'signed with the modulus as a secret': hmac(JSON.stringify(KEYS[0])),
    'another algorithm in its header': await swapped('ES256', 'rsa'),
    'another algorithm and its key': await swapped('ES256', 'ec'),
    'an algorithm that is not allowed': await sign(claims(issuer), { alg: 'PS256' }),
    'signed by another key': await sign(claims(issuer), {}, other.privateKey),
    'of a key nobody knows': await sign(claims(issuer), { kid: 'unknown' }, other.privateKey),
    'with a key of its own': await sign(
      claims(issuer), { kid: 'own', jwk: await exportJWK(other.publicKey) }, other.privateKey
    ),
    'with the place of its keys': await sign(
      claims(issuer), { jku: `${issuer.url}/evil`, x5u: `${issuer.url}/evil` }, other.privateKey
    ),
    'with what must be understood': await new SignJWT(claims(issuer)).setProtectedHeader({
      alg: 'RS256', kid: 'rsa', crit: ['own'], own: 1
    }).sign(rsa.privateKey, { crit: { own: true } }),
    'of another audience': await sign(claims(issuer, { aud: 'other' })),
    'of no audience': await sign(claims(issuer, { aud: undefined })),
    'of another issuer': await sign(claims(issuer, { iss: 'https://other' })),
    'of an issuer with a slash more': await sign(claims(issuer, { iss: `${issuer.url}/` })),
    'of no issuer': await sign(claims(issuer, { iss: undefined })),
    expired: await sign(claims(issuer, { exp: now() - HOUR })),
    'expired just now': await sign(claims(issuer, { exp: now() })),
    'without an end': await sign(claims(issuer, { exp: undefined })),
    'with text for an end': await sign(claims(issuer, { exp: 'tomorrow' })),
    'not valid yet': await sign(claims(issuer, { nbf: now() + HOUR })),
    'with nobody': await sign(claims(issuer, { sub: undefined })),
    'with an empty name': await sign(claims(issuer, { sub: '' })),
    'with a number for a name': await sign(claims(issuer, { sub: 7 })),
    'with numbers for groups': await sign(claims(issuer, { groups: [1] })),
    'with an object for groups': await sign(claims(issuer, { groups: { a: 'b' } })),
    'without a claim that is required': await sign(claims(issuer, { sub: 'bob' })),
    'no object': `${encode({ alg: 'RS256' })}.${Buffer.from('[]').toString('base64url')}.AA`,
    'no JSON': `${encode({ alg: 'RS256' })}.AAAA.AA`,
    'dots alone': '..',
    encrypted: `${encode({ alg: 'dir', enc: 'A128GCM' })}..AA.AA.AA`,
    'long as headers may be':
      `${encode({ alg: 'RS256', kid: 'rsa' })}.${encode({ ...claims(issuer), pad: 'x'.repeat(40_000) })}.AAAA`
  }
  issuer.asked.length = 0
  for (const [title, token] of Object.entries(bad)) t.equal(await as(token), 401, title)
  t.ok(issuer.asked.length <= 1, 'and bad tokens cause at most one request for keys')
  t.notOk(issuer.asked.includes('/evil'))
})

t.test('a token that names no key is tried with some of those that may fit', async t => {
  const issuer = await runIssuer(t)
  const many = await Promise.all(Array.from({ length: 20 }, (_, at) => jwk(other.publicKey, { kid: `k${at}` })))
  issuer.paths['/keys'] = { keys: [...many.slice(0, 10), KEYS[0], { kty: 'nonsense' }] }
  const { as } = await serve(t, issuer)
  const unnamed = await sign(claims(issuer), { kid: undefined })
  t.equal(await as(unnamed), 200)
  issuer.paths['/keys'] = { keys: [...many, KEYS[0]] }
  t.equal(await (await serve(t, issuer)).as(unnamed), 401, 'not with any number of them')
  t.equal(await (await serve(t, issuer)).as(await sign(claims(issuer))), 200)
})

t.test('tokens of a misbehaving issuer are 401, and it is contacted rarely', async t => {
  const document = '/.well-known/openid-configuration'
  const endless: Handler = (_request, reply) => {
    const more = (): void => { while (!reply.destroyed && reply.write(Buffer.alloc(65_536, ' '))); }
    reply.on('drain', more)
    more()
  }
  const cases: Array<[string, string, Handler | object | 'http' | 'none']> = [
    ['another issuer', document, { issuer: 'https://other', jwks_uri: 'https://localhost/keys' }],
    ['keys over http', document, 'http'],
    ['no keys', document, 'none'],
    ['HTML', document, (_request, reply) => { reply.setHeader('content-type', 'text/html').end('<html>') }],
    ['a list', document, []],
    ['null', document, (_request, reply) => { reply.end('null') }],
    ['a redirect', document, (request, reply) => { reply.writeHead(302, { location: '/elsewhere' }).end() }],
    ['no end', document, endless],
    ['silence', document, () => {}],
    ['an error', document, (_request, reply) => { reply.writeHead(500).end() }],
    ['keys without end', '/keys', endless],
    ['keys that are none', '/keys', { keys: 'none' }],
    ['keys that are secrets', '/keys', { keys: [{ kty: 'oct', k: 'AAAA', kid: 'rsa', alg: 'RS256' }] }],
    ['keys in silence', '/keys', () => {}]
  ]
  for (const [title, path, answer] of cases) {
    const issuer = await runIssuer(t)
    issuer.paths[path] = answer === 'http'
      ? { issuer: issuer.url, jwks_uri: 'http://localhost/keys' }
      : answer === 'none' ? { issuer: issuer.url } : answer
    const { as } = await serve(t, issuer, { client: { headersTimeout: 100, deadline: 1000 } })
    const tokens = await Promise.all(Array.from({ length: 5 }, (_, at) => sign(claims(issuer, { at }))))
    t.same(await Promise.all(tokens.map(as)), [401, 401, 401, 401, 401], title)
    t.equal(await as(await sign(claims(issuer))), 401, title)
    t.ok(issuer.asked.length <= 2, `${title}: ${issuer.asked.join(' ')}`)
    t.notOk(issuer.asked.includes('/elsewhere'))
  }
})

t.test('groups that are somewhere else are fetched there, in a token that is good by itself', async t => {
  const [issuer, second] = [await runIssuer(t), await runIssuer(t)]
  const { as, seen } = await serve(t, issuer, { usernamePrefix: '-' })
  let authorization: string | undefined
  const answers = (token: string): Handler => (request, reply) => {
    authorization = request.headers.authorization
    reply.setHeader('content-type', 'application/jwt').end(token)
  }
  const source = (more: object = {}): object => ({
    _claim_names: { groups: 'src' }, _claim_sources: { src: { endpoint: `${second.url}/groups`, ...more } }
  })
  second.paths['/groups'] = answers(await sign(claims(second, { groups: ['far'] })))
  t.equal(await as(await sign(claims(issuer, source({ access_token: 'own-token' })))), 200)
  t.same(seen[0]?.groups, ['far', 'system:authenticated'])
  t.equal(authorization, 'Bearer own-token')
  await t.test('of a file, too', async t => {
    const claimMappings = {
      username: { claim: 'sub', prefix: '' }, groups: { claim: 'groups', prefix: 'oidc:' }, uid: {}
    }
    const issuers = [{
      issuer: { url: issuer.url, audiences: ['cluster'], certificateAuthority: ca.certificate }, claimMappings
    }]
    const { code, seen } = await flagged(t, t.testdir(SERVER_FILES), [], { authentication: { jwt: { issuers } } })
    t.equal(await code(undefined, { authorization: `Bearer ${await sign(claims(issuer, source()))}` }), 200)
    t.same(seen[0]?.groups, ['oidc:far', 'system:authenticated'])
  })
  t.equal(await as(await sign(claims(issuer, { ...source(), groups: ['near'], jti: '1' }))), 200)
  t.same(seen[0]?.groups, ['near', 'system:authenticated'], 'those in the token come first')
  const bad: Record<string, [object, Handler | object]> = {
    'no source': [{ _claim_names: { groups: 'src' } }, {}],
    'a source that is not there': [{ _claim_names: { groups: 'other' }, _claim_sources: {} }, {}],
    'names that are none': [{ _claim_names: 'groups' }, {}],
    'a place over http': [source({ endpoint: 'http://localhost/groups' }), {}],
    'another claim': [source(), answers(await sign(claims(second, { teams: ['x'] })))],
    'another audience': [source(), answers(await sign(claims(second, { aud: 'x', groups: ['x'] })))],
    'an expired one': [source(), answers(await sign(claims(second, { exp: 1, groups: ['x'] })))],
    'a signature of somebody': [source(), answers(await sign(claims(second, { groups: ['x'] }), {}, other.privateKey))],
    'an issuer over http': [source(), answers(await sign(claims(second, { iss: 'http://localhost', groups: ['x'] })))],
    'no token': [source(), answers('<html>')],
    'an error': [source(), (_request, reply) => { reply.writeHead(500).end() }],
    'a redirect': [
      source(), (_request, reply) => { reply.writeHead(302, { location: `${second.url}/elsewhere` }).end() }
    ],
    'a token that would end the header': [source({ access_token: 'a\r\nb: c' }), {}]
  }
  let at = 2
  for (const [title, [more, answer]] of Object.entries(bad)) {
    second.paths['/groups'] = answer
    t.equal(await as(await sign(claims(issuer, { ...more, jti: String(at++) }))), 401, title)
  }
  t.notOk(second.asked.includes('/elsewhere'))
  const fetcher = {} as DocumentFetcher // never called
  const inside = { sub: 'ann', _claim_names: { groups: 'src' }, _claim_sources: { src: { JWT: 'x' } } }
  t.same(
    await resolveDistributed(inside, { claim: 'groups', fetcher, verify: async () => ({}) }), inside,
    'a source without a place is left alone'
  )
})

t.test('claims are those of the token, whatever they are called', t => {
  for (const claim of ['constructor', 'toString', '__proto__']) {
    t.throws(() => userOf({ sub: 'ann' }, 'https://x', { usernameClaim: claim }), /is missing/)
  }
  t.end()
})

t.test('Google may name itself without a scheme', async t => {
  const documents: Record<string, unknown> = {
    '/.well-known/openid-configuration': {
      issuer: 'https://accounts.google.com', jwks_uri: 'https://accounts.google.com/keys'
    }, '/keys': { keys: KEYS }
  }
  const fetcher = { json: async ({ pathname }: URL) => documents[pathname] } as unknown as DocumentFetcher
  const google = new TokenIssuer({
    url: 'https://accounts.google.com', fetcher, audiences: ['cluster'], algorithms: ['RS256'], failed: () => {},
    wall: Date.now
  })
  for (const iss of ['accounts.google.com', 'https://accounts.google.com']) {
    const token = await sign({ iss, aud: 'cluster', sub: 'ann', exp: now() + HOUR })
    t.match(await google.verify(token), { sub: 'ann' })
    let named: unknown
    void byIssuer(name => { named = name; return undefined })({
      headers: { authorization: `Bearer ${token}` }, certificate: undefined
    })
    t.equal(named, 'https://accounts.google.com')
  }
  await t.rejects(google.verify(await sign({
    iss: 'https://accounts.google.com/', aud: 'cluster', sub: 'ann', exp: now() + HOUR
  })))
})

t.test("tokens expire, and become valid, on the server's clock, cached or not", async t => {
  const issuer = await runIssuer(t)
  const clock = new MovableClock(Date.now(), true)
  t.teardown(() => { clock.close() })
  const { as } = await serve(t, issuer, {}, clock)
  const [soon, later] = [
    await sign(claims(issuer)), await sign(claims(issuer, { nbf: now() + HOUR, exp: now() + 3 * HOUR }))
  ]
  t.same([await as(soon), await as(later)], [200, 401])
  await clock.move('2h')
  t.same([await as(soon), await as(later)], [401, 200])
})

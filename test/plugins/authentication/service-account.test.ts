import t from 'tap'
import { createHmac } from 'node:crypto'
import { build, type Json, type Client } from '../../build.js'
import type { ServerOptions } from '../../../app.js'
import type { UserInfo } from '../../../schemas/meta/user-info.js'
import { keys, type Keys, signed, withSignature } from './tokens.js'

const CORE = '/api/v1/namespaces/default'
const ACCOUNT = `${CORE}/serviceaccounts/robot`
const ISSUER = 'https://issuer.example'
const PODS = `${CORE}/pods`
const OWN = keys()

interface Served extends Client {
  readonly uid: string
  readonly seen: () => UserInfo | undefined
  readonly issue: (spec?: Json) => Promise<string>
  readonly as: (token: string) => Promise<number>
  readonly claims: (more?: Json, own?: Json) => Json
}

/** A server that returns the caller's user and admits everybody, with a service account. */
async function serve (
  t: Parameters<typeof build>[0], own: Keys = OWN, options: NonNullable<ServerOptions['authentication']> = {}
): Promise<Served> {
  let seen: UserInfo | undefined
  const server = await build(t, {
    authentication: {
      ...options,
      serviceAccounts: { issuers: [ISSUER, 'https://former.example'], signingKey: own.pem, ...options.serviceAccounts }
    },
    authorization: {
      authorizers: [{ name: 'spy', authorize: ({ user }) => { seen = user; return { decision: 'Allow' } } }]
    }
  })
  const { uid } = (await server.post(`${CORE}/serviceaccounts`, { metadata: { name: 'robot' } })).json['metadata']
  const now = Math.floor(Date.now() / 1000)
  return {
    ...server,
    uid,
    seen: () => seen,
    issue: async (spec = {}) => (await server.post(`${ACCOUNT}/token`, { spec })).json['status'].token,
    as: async token => {
      seen = undefined
      return (await server.get(PODS, { authorization: `Bearer ${token}` })).code
    },
    claims: (more = {}, own = {}) => ({
      iss: ISSUER,
      aud: [ISSUER],
      sub: 'system:serviceaccount:default:robot',
      exp: now + 600,
      iat: now,
      nbf: now,
      'orch.io': { namespace: 'default', serviceaccount: { name: 'robot', uid }, ...own },
      ...more
    })
  }
}

const pod = (name: string): Json => ({
  metadata: { name }, spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] }
})

t.test('a token that was issued is its account, in the groups of all and of those of its namespace', async t => {
  const server = await serve(t)
  const token = await server.issue()
  for (const how of ['first', 'remembered']) {
    t.equal(await server.as(token), 200)
    t.same(server.seen(), {
      username: 'system:serviceaccount:default:robot', uid: server.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'], extra: {}
    }, how)
  }
  t.equal(await server.as(signed(OWN, server.claims())), 200, 'and so is one by the same key from elsewhere')
})

t.test('a token bound to a pod says so, and ends with it', async t => {
  const server = await serve(t)
  const { uid } = (await server.post(PODS, pod('p'))).json['metadata']
  const token = await server.issue({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } })
  t.equal(await server.as(token), 200)
  t.same(server.seen()?.extra, { 'authentication.orch.io/pod-name': ['p'], 'authentication.orch.io/pod-uid': [uid] })
  await server.delete(`${PODS}/p`, { gracePeriodSeconds: 0 })
  t.equal(await server.as(token), 401)
  await server.post(PODS, pod('p'))
  t.equal(await server.as(token), 401, 'another pod of that name')
})

t.test('a token ends with the Secret it is bound to, and with its account', async t => {
  const server = await serve(t)
  await server.post(`${CORE}/secrets`, { metadata: { name: 's' } })
  const [bound, free] = [
    await server.issue({ boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 's' } }), await server.issue()
  ]
  t.same([await server.as(bound), await server.as(free)], [200, 200])
  await server.delete(`${CORE}/secrets/s`)
  t.same([await server.as(bound), await server.as(free)], [401, 200])
  await server.delete(ACCOUNT)
  t.equal(await server.as(free), 401)
  await server.post(`${CORE}/serviceaccounts`, { metadata: { name: 'robot' } })
  t.equal(await server.as(free), 401, 'another account of that name')
})

t.test('a bound object that is being deleted is valid until its deletion is due', async t => {
  const server = await serve(t)
  await server.post(`${CORE}/secrets`, { metadata: { name: 's', finalizers: ['example.com/keep'] } })
  const token = await server.issue({ boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 's' } })
  await server.delete(`${CORE}/secrets/s`)
  t.equal(await server.as(token), 200)
})

t.test('without a watch cache the account is read from the store', async t => {
  let seen = ''
  const server = await build(t, {
    watchCache: { size: 0 },
    authorization: {
      authorizers: [{ name: 'spy', authorize: ({ user }) => { seen = user.username; return { decision: 'Allow' } } }]
    }
  })
  await server.post(`${CORE}/serviceaccounts`, { metadata: { name: 'robot' } })
  const { token } = (await server.post(`${ACCOUNT}/token`, {})).json['status']
  t.equal((await server.get(PODS, { authorization: `Bearer ${token}` })).code, 200)
  t.equal(seen, 'system:serviceaccount:default:robot')
  await server.delete(ACCOUNT)
  t.equal((await server.get(PODS, { authorization: `Bearer ${token}` })).code, 401)
})

t.test('tokens by all keys and of all issuers are accepted, for an audience of the server', async t => {
  const [rsa, other] = [keys('RSA'), keys()]
  const server = await serve(t, OWN, {
    audiences: ['api', 'orch'], serviceAccounts: { verificationKeys: [`${rsa.publicPem}${other.pem}`] }
  })
  const code = async (by: Keys, more: Json, header: Json = {}) =>
    await server.as(signed(by, server.claims({ aud: ['api'], ...more }), header))
  t.equal(await code(rsa, {}), 200)
  t.equal(await code(other, { iss: 'https://former.example' }), 200)
  t.equal(await code(other, {}, { kid: undefined }), 200, 'one that does not name its key')
  t.equal(await code(OWN, { aud: 'orch' }), 200)
  t.equal(await code(OWN, { aud: ['elsewhere', 'orch'] }), 200)
  t.equal(await code(OWN, { aud: ISSUER }), 401, 'the issuer is an audience only if none is configured')
})

t.test('a token for other audiences is refused', async t => {
  const server = await serve(t)
  t.equal(await server.as(await server.issue({ audiences: ['vault'] })), 401)
  t.equal(await server.as(await server.issue({ audiences: ['vault', ISSUER] })), 200)
})

t.test('a server that only verifies issues no tokens', async t => {
  const server = await build(t, { authentication: { serviceAccounts: { verificationKeys: [OWN.publicPem] } } })
  await server.post(`${CORE}/serviceaccounts`, { metadata: { name: 'robot' } })
  t.match(await server.post(`${ACCOUNT}/token`, {}), {
    code: 503, json: { message: /--service-account-signing-key-file/ }
  })
})

t.test('malformed and invalid tokens are 401', async t => {
  const server = await serve(t)
  const { claims } = server
  const foreign = keys()
  const own = { alg: OWN.alg, kid: OWN.kid }
  const signature = signed(OWN, claims()).split('.')[2] ?? ''
  const bad: Record<string, string> = {
    'a megabyte': 'e'.repeat(1024 * 1024),
    'a megabyte in three parts': `eyJ9.${'e'.repeat(1024 * 1024)}.e`,
    'three dots': `${signed(OWN, claims())}.e`,
    'one dot': 'e30.e30',
    'dots alone': '..',
    'empty parts': 'eyJ9..',
    'two empty objects': 'e30.e30.e30',
    'not ASCII': `${signed(OWN, claims())}ü`,
    'other characters of base64': signed(OWN, claims()).replace('.', '.+/'),
    'no JSON': `${Buffer.from('{"alg').toString('base64url')}.e30.e30`,
    'a list as claims': signed(OWN, '[1]'),
    'null as claims': signed(OWN, 'null'),
    'claims nested deeply': signed(OWN, `{"iss":"${ISSUER}","a":${'['.repeat(5000)}${']'.repeat(5000)}}`),
    'a claim twice': signed(
      OWN, JSON.stringify(claims()).replace('{', '{"sub":"system:serviceaccount:orch-system:admin",')
    ),
    'a nested claim twice': signed(
      OWN, JSON.stringify(claims()).replace('"namespace"', '"namespace":"orch-system","namespace"')
    ),
    'alg none': `${withSignature({ alg: 'none' }, claims(), () => Buffer.alloc(0))}`,
    'alg none with a signature': withSignature({ alg: 'none', kid: OWN.kid }, claims(), () => Buffer.from('x')),
    'HS256 by the public key': withSignature(
      { alg: 'HS256', kid: OWN.kid }, claims(), input => createHmac('sha256', OWN.publicPem).update(input).digest()
    ),
    'RS256 by a key for ES256': signed(OWN, claims(), { alg: 'RS256' }),
    'ES384 by a key for ES256': signed(OWN, claims(), { alg: 'ES384' }),
    'an alg that is no text': signed(OWN, claims(), { alg: ['ES256'] }),
    'an unknown kid': signed(OWN, claims(), { kid: 'other' }),
    'a kid that is a path': signed(OWN, claims(), { kid: '../../../dev/null' }),
    'a kid that is no text': signed(OWN, claims(), { kid: { $ne: '' } }),
    'a key of others': signed(foreign, claims()),
    'a key of others under our kid': signed({ ...foreign, kid: OWN.kid }, claims()),
    'a key of others without kid': signed(foreign, claims(), { kid: undefined }),
    'a key in the header': signed(foreign, claims(), {
      kid: undefined, jwk: foreign.privateKey.export({ format: 'jwk' })
    }),
    'a link to keys': signed(OWN, claims(), { jku: 'https://evil.example/jwks' }),
    'a link to certificates': signed(OWN, claims(), { x5u: 'https://evil.example/crt' }),
    'a critical extension': signed(OWN, claims(), { crit: ['b64'], b64: false }),
    'claims of another token': [
      signed(OWN, claims()).split('.')[0], signed(OWN, claims({ aud: ['x', ISSUER] })).split('.')[1], signature
    ].join('.'),
    'a signature in DER': withSignature(own, claims(), () => Buffer.from('3006020101020101', 'hex')),
    'a signature of zeros': withSignature(own, claims(), () => Buffer.alloc(64)),
    'no iss': signed(OWN, claims({ iss: undefined })),
    'a foreign iss': signed(OWN, claims({ iss: 'https://evil.example' })),
    'an iss that is a list': signed(OWN, claims({ iss: [ISSUER] })),
    'no aud': signed(OWN, claims({ aud: undefined })),
    'no audiences': signed(OWN, claims({ aud: [] })),
    'a foreign aud': signed(OWN, claims({ aud: ['x'] })),
    'an aud that is an object': signed(OWN, claims({ aud: { 0: ISSUER, length: 1 } })),
    'no exp': signed(OWN, claims({ exp: undefined })),
    'an exp that is past': signed(OWN, claims({ exp: Math.floor(Date.now() / 1000) - 1 })),
    'an exp that is a text': signed(OWN, claims({ exp: '9999999999' })),
    'an exp beyond all numbers': signed(OWN, JSON.stringify(claims({ exp: 'E' })).replace('"E"', '1e999')),
    'an nbf to come': signed(OWN, claims({ nbf: Math.floor(Date.now() / 1000) + 3600 })),
    'an iat to come': signed(OWN, claims({ iat: Math.floor(Date.now() / 1000) + 3600 })),
    'no sub': signed(OWN, claims({ sub: undefined })),
    'the sub of another': signed(OWN, claims({ sub: 'system:serviceaccount:orch-system:admin' })),
    'no private claims': signed(OWN, claims({ 'orch.io': undefined })),
    'private claims under another name': signed(OWN, {
      ...claims({ 'orch.io': undefined }), 'kubernetes.io': claims()['orch.io']
    }),
    'no account': signed(OWN, claims({}, { serviceaccount: undefined })),
    'an account of another uid': signed(OWN, claims({}, { serviceaccount: { name: 'robot', uid: 'other' } })),
    'an account without uid': signed(OWN, claims({}, { serviceaccount: { name: 'robot' } })),
    'a pod that is not there': signed(OWN, claims({}, { pod: { name: 'p', uid: 'u' } })),
    'a pod that is null': signed(OWN, claims({}, { pod: null })),
    'a namespace with a slash': signed(
      OWN,
      claims({ sub: 'system:serviceaccount:default/serviceaccounts:robot' }, { namespace: 'default/serviceaccounts' })
    ),
    'a Secret as issuer, without its claims': signed(OWN, claims({ iss: 'orch/serviceaccount' })),
    'a name of every object': signed(OWN, claims({ iss: '__proto__' }))
  }
  t.equal(await server.as(signed(OWN, claims())), 200, 'the token they are made from is good')
  for (const [what, token] of Object.entries(bad)) {
    t.match([await server.as(token), server.seen()], [401, undefined], what)
  }
  const review = async (token: string) => (await server.post(
    '/apis/authentication.orch.io/v1/tokenreviews', { spec: { token } }
  )).json['status'].authenticated
  t.equal(await review(`${signed(OWN, claims())}\0`), undefined, 'NUL, which no header can have')
  t.equal(await server.as(signed(OWN, claims())), 200, 'and it is good still')
})

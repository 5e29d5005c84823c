import t from 'tap'
import { createPublicKey } from 'node:crypto'
import { build } from '../build.js'
import { keys, kidOf } from '../plugins/authentication/tokens.js'

const CONFIGURATION = '/.well-known/openid-configuration'
const KEYS = '/openid/v1/jwks'

t.test('other services discover the issuer and its keys', async t => {
  const [own, former] = [keys(), keys('RSA')]
  const server = await build(t, {
    authentication: {
      serviceAccounts: {
        issuers: ['https://issuer.example/cluster'],
        signingKey: own.pem,
        verificationKeys: [former.publicPem, own.publicPem]
      }
    },
    api: { advertiseAddress: '10.0.0.1:6443' }
  })
  const configuration = await server.get(CONFIGURATION, { accept: 'text/html' })
  t.match(configuration, {
    code: 200, headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' }
  })
  t.same(configuration.json, {
    issuer: 'https://issuer.example/cluster',
    jwks_uri: 'https://10.0.0.1:6443/openid/v1/jwks',
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256', 'RS256']
  })
  const paths: string[] = (await server.get('/')).json['paths']
  t.same([CONFIGURATION, KEYS].filter(path => paths.includes(path)), [CONFIGURATION, KEYS])
  const set = await server.get(KEYS)
  t.equal((await server.get(`${KEYS}/`)).body, set.body, 'with a slash behind it too, as in the OpenAPI document')
  t.match(set, {
    code: 200, headers: { 'content-type': 'application/jwk-set+json', 'cache-control': 'public, max-age=3600' }
  })
  t.match(set.json['keys'], [
    { use: 'sig', kty: 'EC', alg: 'ES256', kid: own.kid }, { use: 'sig', kty: 'RSA', alg: 'RS256', kid: former.kid }
  ])
  for (const jwk of set.json['keys']) {
    t.equal(
      kidOf(createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString()), jwk.kid
    )
    t.notOk('d' in jwk, 'and nothing private')
  }
})

t.test('the OpenAPI documents have both, as generated clients ask for them', async t => {
  const server = await build(t)
  const { paths } = (await server.get('/openapi/v2')).json
  for (const [path, operationId, type] of [
    ['/.well-known/openid-configuration/', 'getServiceAccountIssuerOpenIDConfiguration', 'application/json'],
    ['/openid/v1/jwks/', 'getServiceAccountIssuerOpenIDKeyset', 'application/jwk-set+json']
  ] as const) {
    t.match(paths[path].get, { operationId, produces: [type] })
    t.equal((await server.get(path)).headers['content-type'], type)
    t.same(Object.keys((await server.get(`/openapi/v3${path.slice(0, -1)}`)).json['paths']), [path])
  }
})

t.test('the address of the keys is that of the flag, or else the external address of the server', async t => {
  const uri = async (serviceAccounts: object, api: object): Promise<string> =>
    (await (await build(t, { authentication: { serviceAccounts }, api })).get(CONFIGURATION)).json['jwks_uri']
  t.equal(
    await uri({ keysUri: 'https://keys.example/x' }, { externalHostname: 'api.example' }), 'https://keys.example/x'
  )
  t.equal(
    await uri({}, { externalHostname: 'api.example', advertiseAddress: '10.0.0.1:6443' }),
    'https://api.example:6443/openid/v1/jwks'
  )
  t.equal(
    await uri({}, { externalHostname: '[fd00::1]:8443', advertiseAddress: '10.0.0.1:6443' }),
    'https://[fd00::1]:8443/openid/v1/jwks'
  )
  t.equal(await uri({ issuers: ['https://issuer.example/'] }, {}), 'https://issuer.example/openid/v1/jwks')
})

t.test('an issuer that is not an https URL has no discovery documents', async t => {
  const server = await build(t, { authentication: { serviceAccounts: { issuers: ['orch'] } } })
  for (const url of [CONFIGURATION, KEYS]) t.equal((await server.get(url)).code, 404)
  for (const url of ['/', '/openapi/v2', '/openapi/v3']) t.notMatch((await server.get(url)).body, 'openid', url)
})

t.test('the documents require authorization', async t => {
  const server = await build(t, {
    authorization: { modes: ['RBAC'] }, authentication: { tokens: 'a,ann,1\nb,bob,2,system:serviceaccounts\n' }
  })
  const ask = async (url: string, token?: string) =>
    (await server.get(url, token === undefined ? {} : { authorization: `Bearer ${token}` })).code
  for (const url of [CONFIGURATION, KEYS]) {
    t.same([await ask(url), await ask(url, 'a'), await ask(url, 'b')], [403, 403, 200], url)
  }
})

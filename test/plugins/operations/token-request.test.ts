import t from 'tap'
import { PROTOBUF, build, type Json, type Client } from '../../build.js'
import { StatusError } from '../../../schemas/status.js'

const CORE = '/api/v1/namespaces/default'
const ACCOUNT = `${CORE}/serviceaccounts/robot`
const ISSUER = 'https://orch.default.svc.cluster.local'
const A_YEAR = 365 * 24 * 3600

async function withAccount (...args: Parameters<typeof build>): Promise<Client & { uid: string }> {
  const server = await build(...args)
  const { json } = await server.post(`${CORE}/serviceaccounts`, { metadata: { name: 'robot' } })
  return { ...server, uid: json.metadata.uid }
}

const pod = (name: string, account = 'robot'): Json => ({
  metadata: { name }, spec: { serviceAccountName: account, containers: [{ name: 'c', image: 'i' }] }
})
const decoded = (token: string, part: 0 | 1 = 1): Json =>
  JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString()) as Json
const claimsOf = (answer: { json: Json }): Json => decoded(answer.json['status'].token)

t.test('a token is issued for the account, the audiences of the server and an hour', async t => {
  const server = await withAccount(t)
  const before = Math.floor(Date.now() / 1000)
  const answer = await server.post(`${ACCOUNT}/token`, {})
  t.match(answer, {
    code: 201,
    json: {
      kind: 'TokenRequest',
      apiVersion: 'authentication.orch.io/v1',
      metadata: { name: 'robot', namespace: 'default', creationTimestamp: /Z$/ },
      spec: { audiences: [ISSUER], expirationSeconds: 3600, boundObjectRef: null }
    }
  })
  const { exp, iat, nbf, ...said } = claimsOf(answer)
  t.same(said, {
    aud: [ISSUER],
    iss: ISSUER,
    sub: 'system:serviceaccount:default:robot',
    'orch.io': { namespace: 'default', serviceaccount: { name: 'robot', uid: server.uid } }
  })
  t.same([exp - iat, nbf], [3600, iat])
  t.ok(iat >= before && iat <= Date.now() / 1000)
  t.equal(answer.json['status'].expirationTimestamp, new Date(exp * 1000).toISOString().replace('.000Z', 'Z'))
  t.match(decoded(answer.json['status'].token, 0), { alg: 'ES256', kid: /^[\w-]{43}$/ })
  const binary = await server.post(`${ACCOUNT}/token`, {}, { accept: PROTOBUF })
  t.match(binary, { code: 201, headers: { 'content-type': PROTOBUF } })
})

t.test('stock clients, which call the group by another name, get their answer under that', async t => {
  const server = await withAccount(t)
  const ask = (apiVersion: string) => server.post(`${ACCOUNT}/token`, { apiVersion, kind: 'TokenRequest' })
  t.match(await ask('authentication.k8s.io/v1'), {
    code: 201, json: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', status: { token: /^ey/ } }
  })
  t.match(await ask('authentication.orch.io/v1'), { code: 201, json: { apiVersion: 'authentication.orch.io/v1' } })
  t.equal((await ask('authentication.k8s.io/v1beta1')).code, 400)
})

t.test('audiences and expiration are as requested, within bounds', async t => {
  const server = await withAccount(t)
  const ask = (spec: object) => server.post(`${ACCOUNT}/token`, { spec })
  t.match(claimsOf(await ask({ audiences: ['a', 'b'], expirationSeconds: 600 })), { aud: ['a', 'b'] })
  for (const expirationSeconds of [599, 0, -1, 2 ** 32 + 1]) {
    t.match(
      await ask({ expirationSeconds }),
      { code: 422, json: { details: { causes: [{ field: 'spec.expirationSeconds', reason: 'FieldValueInvalid' }] } } },
      `${expirationSeconds}`
    )
  }
  t.equal((await ask({ expirationSeconds: 2 ** 32 })).code, 201)
  t.match(await server.post(`${ACCOUNT}/token`, '{"spec":{"expirationSeconds":9223372036854775807}}'), { code: 422 })
  t.match(await ask({ audiences: ['x'.repeat(20_000)] }), {
    code: 422, json: { details: { causes: [{ field: 'spec.audiences' }] } }
  })
})

t.test('a lifetime over the maximum is shortened, with a warning', async t => {
  const server = await withAccount(t, { authentication: { serviceAccounts: { maxExpirationSeconds: 3600 } } })
  const answer = await server.post(`${ACCOUNT}/token`, { spec: { expirationSeconds: 7200 } })
  t.match(answer, {
    code: 201, json: { spec: { expirationSeconds: 3600 } }, headers: { warning: /shortened to 3600 seconds/ }
  })
  const { exp, iat } = claimsOf(answer)
  t.equal(exp - iat, 3600)
})

t.test('the URL says whose token it is, and what the body says must agree', async t => {
  const server = await withAccount(t)
  t.match(await server.post(`${CORE}/serviceaccounts/nobody/token`, {}), {
    code: 404, json: { message: /serviceaccounts "nobody" not found/ }
  })
  t.match(await server.post(`${ACCOUNT}/token`, { metadata: { name: 'other' } }), {
    code: 422, json: { details: { causes: [{ field: 'metadata.name' }] } }
  })
  t.match(await server.post(`${ACCOUNT}/token`, { metadata: { namespace: 'other' } }), { code: 400 })
  t.equal((await server.get(`${ACCOUNT}/token`)).code, 405)
})

t.test('a token is bound to a pod of the account or to a secret', async t => {
  const server = await withAccount(t)
  const made = (await server.post(`${CORE}/pods`, pod('p'))).json
  await server.post(`${CORE}/serviceaccounts`, { metadata: { name: 'other' } })
  await server.post(`${CORE}/pods`, pod('q', 'other'))
  const secret = (await server.post(`${CORE}/secrets`, { metadata: { name: 's' } })).json
  const bind = (boundObjectRef: Json) => server.post(`${ACCOUNT}/token`, { spec: { boundObjectRef } })
  t.match(claimsOf(await bind({ apiVersion: 'v1', kind: 'Pod', name: 'p' })), {
    'orch.io': { pod: { name: 'p', uid: made['metadata'].uid }, secret: undefined }
  })
  t.match(
    claimsOf(await bind({ apiVersion: 'v1', kind: 'Secret', name: 's', uid: secret['metadata'].uid })),
    { 'orch.io': { secret: { name: 's', uid: secret['metadata'].uid }, pod: undefined } }
  )
  t.match(await bind({ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'another' }), {
    code: 409, json: { reason: 'Conflict', message: /UID in the bound object reference \(another\)/ }
  })
  t.match(await bind({ apiVersion: 'v1', kind: 'Pod', name: 'q' }), {
    code: 400, json: { message: /different serviceaccount/ }
  })
  t.match(await bind({ apiVersion: 'v1', kind: 'Pod', name: 'missing' }), { code: 404 })
  t.match(await bind({ apiVersion: 'v1', kind: 'Secret' }), {
    code: 400, json: { message: 'Name parameter required.' }
  })
  for (const reference of [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'p' }, { apiVersion: 'apps/v1', kind: 'Pod', name: 'p' }
  ]) {
    t.equal((await bind(reference)).code, 400)
  }
})

t.test('admission sees a request for a token, and may change or refuse it', async t => {
  const seen: unknown[] = []
  const server = await withAccount(t, {
    admission: {
      plugins: [{
        name: 'Tokens',
        handles: ({ subresource }) => subresource === 'token',
        mutate: ({ object }) => { (object as Json)['spec'].audiences.push('more') },
        validate: ({ operation, resource, kind, name, object }) => {
          seen.push([operation, resource, kind, name])
          if ((object as Json)['spec'].audiences.includes('vault')) {
            throw new StatusError('Forbidden', 'no token for the vault')
          }
        }
      }]
    }
  })
  t.same(claimsOf(await server.post(`${ACCOUNT}/token`, { spec: { audiences: ['a'] } }))['aud'], ['a', 'more'])
  t.match(await server.post(`${ACCOUNT}/token`, { spec: { audiences: ['vault'] } }), {
    code: 403, json: { message: 'no token for the vault' }
  })
  t.same(seen[0], ['CREATE', 'serviceaccounts', 'TokenRequest', 'robot'])
})

t.test('null fields get their defaults', async t => {
  const server = await withAccount(t)
  for (const body of [
    { spec: null }, { spec: { audiences: null, expirationSeconds: null, boundObjectRef: null } }, { metadata: null }
  ]) {
    t.match(await server.post(`${ACCOUNT}/token`, body), {
      code: 201, json: { spec: { audiences: [ISSUER], expirationSeconds: 3600 } }
    })
  }
})

t.test('tokens that are injected into pods last a year and say when they should have been renewed', async t => {
  const extended = async (server: Client, spec: Json): Promise<unknown[]> => {
    const answer = await server.post(`${ACCOUNT}/token`, { spec })
    const { exp, iat, 'orch.io': { warnafter } } = claimsOf(answer)
    t.equal(
      Date.parse(answer.json['status'].expirationTimestamp), (iat + spec['expirationSeconds']) * 1000,
      'the client sees the expiration it requested'
    )
    return [exp - iat, warnafter === undefined ? undefined : warnafter - iat]
  }
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'p' }
  const server = await withAccount(t)
  await server.post(`${CORE}/pods`, pod('p'))
  t.same(await extended(server, { expirationSeconds: 3607, boundObjectRef }), [A_YEAR, 3607])
  t.same(await extended(server, { expirationSeconds: 3607 }), [3607, undefined], 'bound to no pod')
  t.same(await extended(server, { expirationSeconds: 3608, boundObjectRef }), [3608, undefined], 'another time')
  t.same(
    await extended(server, { expirationSeconds: 3607, boundObjectRef, audiences: ['elsewhere'] }), [3607, undefined],
    'for others'
  )
  const bounded = await withAccount(t, { authentication: { serviceAccounts: { maxExpirationSeconds: 7200 } } })
  await bounded.post(`${CORE}/pods`, pod('p'))
  t.same(await extended(bounded, { expirationSeconds: 3607, boundObjectRef }), [A_YEAR, 3607], 'whatever the most is')
  const strict = await withAccount(t, { authentication: { serviceAccounts: { extendExpiration: false } } })
  await strict.post(`${CORE}/pods`, pod('p'))
  t.same(
    await extended(strict, { expirationSeconds: 3607, boundObjectRef }), [3607, undefined], 'where it is switched off'
  )
})

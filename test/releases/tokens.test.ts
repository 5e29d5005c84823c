/** Tokens of service accounts where release 1.36 is emulated: their names, and the nodes that they are bound to. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../interop/server.js'
import { build, type Client, type Json, type Test } from '../build.js'

const CORE = '/api/v1/namespaces/default'
const ACCOUNT = `${CORE}/serviceaccounts/robot`
const claimsOf = ({ json }: { json: Json }): Json =>
  JSON.parse(Buffer.from(String(json['status'].token).split('.')[1] ?? '', 'base64url').toString()) as Json
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

async function withAccount (t: Test, options: Parameters<typeof build>[1] = {}): Promise<Client> {
  const server = await build(t, { emulatedVersion: '1.36', ...options })
  await server.post(`${CORE}/serviceaccounts`, { metadata: { name: 'robot' } })
  await server.post('/api/v1/nodes', { metadata: { name: 'one' } })
  return server
}

/** Who the server thinks a token is. */
const whoIs = async (server: Client, token: unknown): Promise<Json> =>
  (await server.post('/apis/authentication.orch.io/v1/tokenreviews', { spec: { token } })).json['status'] as Json

t.test('a token has a name, which the user and the audit log say', async t => {
  const path = join(t.testdir(), 'audit.log')
  const server = await withAccount(t, { audit: { path } })
  const made = await server.post(`${ACCOUNT}/token`, {})
  const { jti } = claimsOf(made)
  t.match(jti, UUID)
  t.match(await whoIs(server, made.json['status'].token), {
    authenticated: true, user: { extra: { 'authentication.orch.io/credential-id': [`JTI=${jti}`] } }
  })
  await server.app.close()
  t.match(readFileSync(path, 'utf8'), `"authentication.orch.io/issued-credential-id":"JTI=${jti}"`)
  t.notOk('jti' in claimsOf(await (await withAccount(t, { emulatedVersion: '1.24' })).post(`${ACCOUNT}/token`, {})))
})

t.test('a token of a pod says on which node that runs, and ends with the pod alone', async t => {
  const server = await withAccount(t)
  const { uid } = (await server.get('/api/v1/nodes/one')).json['metadata'] as { uid: string }
  for (const nodeName of ['one', 'gone']) {
    await server.post(`${CORE}/pods`, {
      metadata: { name: nodeName },
      spec: { serviceAccountName: 'robot', nodeName, containers: [{ name: 'c', image: 'i' }] }
    })
  }
  const ask = async (name: string) =>
    await server.post(`${ACCOUNT}/token`, { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name } } })
  const made = await ask('one')
  t.same(claimsOf(made)['orch.io'].node, { name: 'one', uid })
  const other = await ask('gone')
  t.same(claimsOf(other)['orch.io'].node, { name: 'gone' }, 'the node is not there')
  t.match(await whoIs(server, other.json['status'].token), {
    user: { extra: { 'authentication.orch.io/node-name': ['gone'], 'authentication.orch.io/pod-name': ['gone'] } }
  })
  await server.delete('/api/v1/nodes/one')
  t.match(await whoIs(server, made.json['status'].token), {
    authenticated: true,
    user: { extra: { 'authentication.orch.io/node-name': ['one'], 'authentication.orch.io/node-uid': [uid] } }
  })
})

t.test('a token that is bound to a node ends with it', async t => {
  const server = await withAccount(t)
  const { uid } = (await server.get('/api/v1/nodes/one')).json['metadata'] as { uid: string }
  const ask = async (reference: Json) => await server.post(`${ACCOUNT}/token`, {
    spec: { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'one', ...reference } }
  })
  const made = await ask({ uid })
  t.match(claimsOf(made)['orch.io'], { namespace: 'default', node: { name: 'one', uid } })
  t.match(await whoIs(server, made.json['status'].token), { authenticated: true })
  t.match(await ask({ uid: 'other' }), { code: 409 })
  t.match(await ask({ name: 'none' }), { code: 404 })
  await server.delete('/api/v1/nodes/one')
  t.match(await whoIs(server, made.json['status'].token), { error: /no longer valid: nodes "one": it is not there/ })
  await server.post('/api/v1/nodes', { metadata: { name: 'one' } })
  t.match(await whoIs(server, made.json['status'].token), { error: /it is another one of that name/ })
  const earlier = await withAccount(t, { emulatedVersion: '1.24' })
  t.match(
    await earlier.post(`${ACCOUNT}/token`, {
      spec: { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'one' } }
    }),
    { code: 400 }
  )
})

t.test('the UID of a request is that of the account', async t => {
  const server = await withAccount(t)
  const { uid } = (await server.get(ACCOUNT)).json['metadata'] as { uid: string }
  t.match(await server.post(`${ACCOUNT}/token`, { metadata: { uid } }), { code: 201 })
  t.match(await server.post(`${ACCOUNT}/token`, { metadata: { uid: 'other' } }), {
    code: 409, json: { reason: 'Conflict' }
  })
})

t.test('a use of a token that is kept in a Secret is noted there, and an invalid one refused', async t => {
  const path = join(t.testdir(), 'audit.log')
  const server = await withAccount(t, { audit: { path }, authentication: { anonymous: true } })
  await server.post(`${CORE}/secrets`, {
    metadata: { name: 's', annotations: { 'orch.io/service-account.name': 'robot' } },
    type: 'orch.io/service-account-token'
  })
  let kept: string | undefined
  await until('the token', async () =>
    (kept = (await server.get(`${CORE}/secrets/s`)).json['data']?.token as string | undefined) !== undefined)
  const authorization = `Bearer ${Buffer.from(kept ?? '', 'base64').toString()}`
  const use = async () => await server.get(`${CORE}/pods`, { authorization })
  t.equal((await use()).headers['warning'], undefined, 'somebody made the Secret')
  const today = new Date().toISOString().slice(0, 10)
  await until('the label', async () =>
    (await server.get(`${CORE}/secrets/s`)).json['metadata'].labels?.['orch.io/legacy-token-last-used'] === today)
  const { resourceVersion } = (await server.get(`${CORE}/secrets/s`)).json['metadata'] as { resourceVersion: string }
  await use()
  t.equal((await server.get(`${CORE}/secrets/s`)).json['metadata'].resourceVersion, resourceVersion, 'once a day')
  await server.patch(ACCOUNT, { secrets: [{ name: 's' }] })
  t.match((await use()).headers['warning'], /Use tokens from the TokenRequest API/)
  await server.patch(`${CORE}/secrets/s`, {
    metadata: { labels: { 'orch.io/legacy-token-invalid-since': '2026-01-01' } }
  })
  await server.patch(`${CORE}/secrets/s`, { metadata: { labels: { 'orch.io/legacy-token-last-used': '2026-01-01' } } })
  t.equal((await use()).code, 401)
  await until('the label of an invalid token', async () =>
    (await server.get(`${CORE}/secrets/s`)).json['metadata'].labels?.['orch.io/legacy-token-last-used'] === today)
  t.match(
    (await server.get(
      '/api/v1/namespaces/orch-system/configmaps/orch-apiserver-legacy-service-account-token-tracking'
    )).json,
    { data: { since: today } }
  )
  await server.app.close()
  const log = readFileSync(path, 'utf8')
  t.match(log, '"authentication.orch.io/legacy-token-manual-secret":"s"')
  t.match(log, '"authentication.orch.io/legacy-token-autogenerated-secret":"s"')
  t.match(log, '"authentication.orch.io/legacy-token-invalidated":"s/default"')
})

t.test('release 1.24 does not follow such tokens', async t => {
  const server = await withAccount(t, { emulatedVersion: '1.24' })
  t.equal(
    (await server.get(
      '/api/v1/namespaces/orch-system/configmaps/orch-apiserver-legacy-service-account-token-tracking'
    )).code,
    404
  )
})

/** Service accounts with stock kubectl, against the started server without flags about them. */
import t from 'tap'
import { execFileSync } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createLocalJWKSet, jwtVerify, SignJWT, type JSONWebKeySet } from 'jose'
import type { Json } from '../build.js'
import { Kubectl, programs } from './kubectl.js'
import { ask, RunningServer, ServerHere } from './server.js'

/** The first release that has `create token`. */
const CREATES_TOKENS = 24

t.test('a token that kubectl creates is good, after a restart too', async t => {
  const server = await RunningServer.start(t)
  const robots = []
  for (const program of programs()) {
    const kubectl = new Kubectl(t, program, server.tokenConfig())
    const robot = `robot-${program.minor}`
    await kubectl.ok('create', 'serviceaccount', robot)
    const path = `/api/v1/namespaces/default/serviceaccounts/${robot}/token`
    const token = program.minor < CREATES_TOKENS
      ? (JSON.parse(
          (await server.ask(path, 'POST', { kind: 'TokenRequest' })).body
        ) as { status: { token: string } }).status.token
      : await kubectl.ok('create', 'token', robot, '--duration=20m')
    const asRobot = [
      '--token', token, `--server=${server.url}`, `--certificate-authority=${server.caFile}`, '--kubeconfig=/dev/null',
      'get', 'serviceaccount', robot, '--output=name'
    ] as const
    t.equal(await kubectl.ok(...asRobot), `serviceaccount/${robot}`, program.version)
    robots.push({ kubectl, robot, token, asRobot, version: program.version })
  }
  t.equal(robots.length, 2)
  t.equal(statSync(join(server.folder, 'service-account.key')).mode & 0o777, 0o600)
  await server.stop()
  await server.start()
  for (const { kubectl, robot, token, asRobot, version } of robots) {
    t.equal(await kubectl.ok(...asRobot), `serviceaccount/${robot}`, `${version}, after a restart`)
    await kubectl.ok('delete', 'serviceaccount', robot)
    t.match(await kubectl.refused(...asRobot), /Unauthorized|must be logged in/)
    t.notMatch(server.log, token, 'the log has no token')
  }
})

t.test('a Secret that kubectl applies gets a token and what is needed to use it', async t => {
  const server = await ServerHere.start(t)
  for (const program of programs()) {
    const kubectl = new Kubectl(t, program, server.tokenConfig())
    const [robot, name] = [`robot-${program.minor}`, `s-${program.minor}`]
    await kubectl.ok('create', 'serviceaccount', robot)
    const applied = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'orch.io/service-account-token',
      metadata: { name, annotations: { 'orch.io/service-account.name': robot } }
    }
    await kubectl.ok('apply', `--filename=${kubectl.file('secret.json', applied)}`)
    // By a list: for one named object kubectl does not print the change with which its watch begins.
    const secret = kubectl.begin(
      t, 'get', 'secrets', `--field-selector=metadata.name=${name}`, '--watch', '--output=jsonpath={.data.token}{"\\n"}'
    )
    await secret.shows(/^[\w+/=]{100,}$/m)
    const { data } = await kubectl.json('get', 'secret', name)
    const text = (key: string): string => Buffer.from(data[key], 'base64').toString()
    const found = await kubectl.ok(
      '--token', text('token'), `--server=${server.url}`,
      `--certificate-authority=${kubectl.file('ca.crt', text('ca.crt'))}`, '--kubeconfig=/dev/null',
      `--namespace=${text('namespace')}`, 'get', 'secret', name, '--output=name'
    )
    t.equal(found, `secret/${name}`, program.version)
  }
})

t.test('keys of openssl sign and verify, and others verify tokens by what they discover', async t => {
  const folder = t.testdir()
  const openssl = (...args: string[]): void => { execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' }) }
  openssl('genrsa', '-out', 'rsa.key', '2048')
  openssl('rsa', '-in', 'rsa.key', '-pubout', '-out', 'rsa.pub')
  // with the curve's parameters before the key
  openssl('ecparam', '-name', 'secp384r1', '-genkey', '-out', 'former.key')
  const keys = `--service-account-key-file=${folder}/rsa.pub,${folder}/former.key`
  const issuer = '--service-account-issuer=https://issuer.example,https://former.example'
  const server = await ServerHere.start(
    t,
    [
      keys, `--service-account-signing-key-file=${folder}/rsa.key`, issuer, '--api-audiences=api',
      '--service-account-max-token-expiration=1h', '--enable-bootstrap-token-auth'
    ]
  )
  const post = async (path: string, body: object): Promise<Json> =>
    JSON.parse((await server.ask(path, 'POST', body)).body) as Json
  const as = async (token: string): Promise<number> =>
    (await ask(`${server.url}/api/v1/namespaces`, { ca: server.ca, token })).code
  const { status, spec } = await post('/api/v1/namespaces/default/serviceaccounts/default/token', {
    spec: { audiences: ['api', 'vault'], expirationSeconds: 7200 }
  })
  t.equal(spec.expirationSeconds, 3600)
  t.equal(await as(status.token), 200)

  const discovered = JSON.parse((await server.ask('/.well-known/openid-configuration')).body) as Json
  t.equal(discovered['jwks_uri'], `${server.url}/openid/v1/jwks`)
  const set = createLocalJWKSet(JSON.parse((await server.ask('/openid/v1/jwks')).body) as JSONWebKeySet)
  const { payload, protectedHeader } = await jwtVerify(status.token, set, {
    issuer: discovered['issuer'], audience: 'vault', algorithms: discovered['id_token_signing_alg_values_supported']
  })
  t.match([payload.sub, protectedHeader.alg], ['system:serviceaccount:default:default', 'RS256'])

  const former = createPrivateKey(readFileSync(join(folder, 'former.key')))
  const { uid } = (JSON.parse(
    (await server.ask('/api/v1/namespaces/default/serviceaccounts/default')).body
  ) as Json)['metadata']
  const token = (audience: string) =>
    new SignJWT({ 'orch.io': { namespace: 'default', serviceaccount: { name: 'default', uid } } })
      .setProtectedHeader({ alg: 'ES384' })
      .setIssuer('https://former.example')
      .setAudience(audience)
      .setSubject('system:serviceaccount:default:default')
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(former)
  t.equal(await as(await token('api')), 200, 'by a former key and issuer')
  t.equal(await as(await token('https://issuer.example')), 401, 'the issuer is no audience where others are named')

  await post('/api/v1/namespaces/orch-system/secrets', {
    metadata: { name: 'bootstrap-token-abc123' },
    type: 'bootstrap.orch.io/token',
    stringData: { 'token-id': 'abc123', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' }
  })
  t.same([await as('abc123.0123456789abcdef'), await as('abc123.0123456789abcdeg')], [200, 401])
})

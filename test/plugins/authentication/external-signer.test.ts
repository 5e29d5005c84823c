/** Tokens of service accounts that a service at a socket signs. */
import t, { type Test } from 'tap'
import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Server } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { build } from '../../build.js'
import { addService, serveAt } from '../../grpc-service.js'

const { root: types } = protobuf.parse(`syntax = "proto3"; package v1;
message SignRequest { string claims = 1; }
message SignResponse { string header = 1; string signature = 2; }
message FetchKeysRequest {}
message Key { string key_id = 1; bytes key = 2; bool exclude_from_oidc_discovery = 3; }
message Time { int64 seconds = 1; int32 nanos = 2; }
message FetchKeysResponse { repeated Key keys = 1; Time data_timestamp = 2; int64 refresh_hint_seconds = 3; }
message MetadataRequest {}
message MetadataResponse { int64 max_token_expiration_seconds = 1; }`)

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

interface Key {
  readonly id: string
  readonly hidden?: boolean
  readonly pair: { readonly publicKey: KeyObject, readonly privateKey: KeyObject }
}

const keyOf = (id: string, hidden = false): Key => ({
  id, hidden, pair: generateKeyPairSync('ec', { namedCurve: 'P-256' })
})

class Signer {
  keys = [keyOf('one')]
  maximum = 7200
  seconds = 600
  header: object = { alg: 'ES256', kid: 'one', typ: 'JWT' }
  readonly calls = { Sign: 0, FetchKeys: 0, Metadata: 0 }
  readonly #server = new Server()
  constructor (readonly path: string) {}

  async start (): Promise<void> {
    addService<{ claims: string }>(this.#server, {
      service: 'v1.ExternalJWTSigner', types, called: method => { this.calls[method as keyof typeof this.calls]++ }
    }, {
      Sign: async ({ claims }) => {
        const header = encoded(this.header)
        const key = this.keys.find(({ id }) => id === (this.header as { kid?: string }).kid) ?? this.keys[0]
        const signature = key === undefined
          ? ''
          : createSign('sha256')
              .update(`${header}.${claims}`)
              .sign({ key: key.pair.privateKey, dsaEncoding: 'ieee-p1363' }, 'base64url')
        return { header, signature }
      },
      FetchKeys: async () => ({
        keys: this.keys.map(({ id, hidden, pair }) => ({
          keyId: id, key: pair.publicKey.export({ type: 'spki', format: 'der' }), excludeFromOidcDiscovery: hidden
        })),
        dataTimestamp: { seconds: 1, nanos: 2 }, refreshHintSeconds: this.seconds
      }),
      Metadata: async () => ({ maxTokenExpirationSeconds: this.maximum })
    })
    await serveAt(this.#server, this.path)
  }

  stop (): void { this.#server.forceShutdown() }
}

async function signerOf (t: Test, change: (signer: Signer) => void = () => {}): Promise<Signer> {
  const folder = await mkdtemp(join(tmpdir(), 'orch-signer-'))
  const signer = new Signer(join(folder, 's.sock'))
  change(signer)
  await signer.start()
  t.teardown(async () => {
    signer.stop()
    await rm(folder, { recursive: true, force: true })
  })
  return signer
}

type Built = Awaited<ReturnType<typeof build>>

const ISSUER = 'https://issuer.example.com'
const serve = (t: Test, { path }: Signer, more: object = {}): Promise<Built> =>
  build(t, {
    emulatedVersion: '1.36',
    authentication: { anonymous: true, serviceAccounts: { issuers: [ISSUER], signingSocket: path, ...more } }
  })

const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/robot'

async function requested (server: Built, spec: object = {}): ReturnType<Built['get']> {
  await server.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } })
  return await server.post(`${ACCOUNT}/token`, { kind: 'TokenRequest', apiVersion: 'authentication.orch.io/v1', spec })
}

const whoami = async (server: Built, token: string): ReturnType<Built['get']> =>
  await server.post('/apis/authentication.orch.io/v1/selfsubjectreviews', {}, { authorization: `Bearer ${token}` })

t.test('tokens are signed and verified by the service, and its keys are published', async t => {
  const signer = await signerOf(t, signer => { signer.keys.push(keyOf('old', true)) })
  const server = await serve(t, signer)
  const { code, json } = await requested(server, { expirationSeconds: 700 })
  t.equal(code, 201)
  const token = json.status.token as string
  t.same(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()), {
    alg: 'ES256', kid: 'one', typ: 'JWT'
  })
  t.match(await whoami(server, token), {
    code: 201, json: { status: { userInfo: { username: 'system:serviceaccount:default:robot' } } }
  })
  t.equal((await whoami(server, `${token.slice(0, -4)}AAAA`)).code, 401)
  const keys = await server.get('/openid/v1/jwks')
  t.equal(keys.headers['cache-control'], 'public, max-age=600')
  t.match(keys.json, { keys: [{ kid: 'one', alg: 'ES256', use: 'sig' }] })
  t.equal(keys.json['keys'].length, 1, 'a hidden key is not published')
  t.match((await server.get('/.well-known/openid-configuration')).json, {
    issuer: ISSUER, id_token_signing_alg_values_supported: ['ES256']
  })
})

t.test('a key that came since is asked for, unknown ones not more than once a second', async t => {
  const signer = await signerOf(t)
  const server = await serve(t, signer)
  const first = (await requested(server)).json.status.token as string
  signer.keys = [keyOf('two'), ...signer.keys]
  signer.header = { alg: 'ES256', kid: 'two', typ: 'JWT' }
  await new Promise(resolve => { setTimeout(resolve, 1100) })
  const { FetchKeys } = signer.calls
  const { json } = await requested(server)
  t.equal((await whoami(server, json.status.token)).code, 201)
  t.equal((await whoami(server, first)).code, 201)
  t.match((await server.get('/openid/v1/jwks')).json, { keys: [{ kid: 'two' }, { kid: 'one' }] })
  const strange = `${encoded({ alg: 'ES256', kid: 'strange' })}.${json.status.token.split('.')[1] as string}.AAAA`
  for (let at = 0; at < 20; at++) t.equal((await whoami(server, strange.replace('AAAA', `AA${at + 10}`))).code, 401)
  t.ok(signer.calls.FetchKeys - FetchKeys <= 3, `asked ${signer.calls.FetchKeys - FetchKeys} times`)
})

t.test('lifetimes: the longest of the service is the default maximum, and the longest extension', async t => {
  const signer = await signerOf(t)
  const server = await serve(t, signer)
  const { headers, json } = await server.post(`${ACCOUNT}/token`, {}).then(async () =>
    await requested(server, { expirationSeconds: 100_000 })) as Awaited<ReturnType<Built['post']>>
  t.equal(json['spec'].expirationSeconds, 7200)
  t.match(headers['warning'], /shortened to 7200 seconds/)
  await server.post('/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' }, spec: { serviceAccountName: 'robot', containers: [{ name: 'a', image: 'a' }] }
  })
  const bound = await requested(server, {
    expirationSeconds: 3607, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' }
  })
  const claims = JSON.parse(Buffer.from(bound.json.status.token.split('.')[1] as string, 'base64url').toString())
  t.equal(claims.exp - claims.iat, 7200, 'not a year')
  await t.rejects(serve(t, signer, { maxExpirationSeconds: 10_000 }), {
    message: /--service-account-max-token-expiration is 10000 s, but .* for 7200 s at most/
  })
})

t.test('what the service may not sign is no token', async t => {
  const signer = await signerOf(t, signer => { signer.keys.push(keyOf('old', true)) })
  const server = await serve(t, signer)
  for (const header of [
    { alg: 'none', kid: 'one', typ: 'JWT' }, { alg: 'ES256', kid: 'one', typ: 'JOSE' }, { alg: 'ES256', typ: 'JWT' },
    { alg: 'ES256', kid: 'old', typ: 'JWT' }, { alg: 'ES256', kid: 'k'.repeat(1025), typ: 'JWT' },
    { alg: 'ES256', kid: 'one', typ: 'JWT', jku: 'https://a' }, []
  ]) {
    signer.header = header
    t.equal((await requested(server)).code, 500, JSON.stringify(header).slice(0, 80))
  }
})

t.test('a service that is not there, or of no use, ends the start', async t => {
  const nowhere = new Signer('/nowhere/signer.sock')
  await t.rejects(serve(t, nowhere), {
    message: /^--service-account-signing-endpoint=\/nowhere\/signer\.sock: the service there cannot be used/
  })
  for (const [what, change] of [
    ['no keys', signer => { signer.keys = [] }], ['no interval', signer => { signer.seconds = 0 }],
    ['short', signer => { signer.maximum = 599 }],
    ['a key without a name', signer => { signer.keys = [keyOf('')] }],
    ['too many keys', signer => { signer.keys = Array<Key>(101).fill(keyOf('one')) }]
  ] as ReadonlyArray<readonly [string, (signer: Signer) => void]>) {
    await t.rejects(serve(t, await signerOf(t, change)), { message: /^--service-account-signing-endpoint=/ }, what)
  }
})

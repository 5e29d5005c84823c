/** Users that client certificates identify, over real TLS and through the whole server. */
import t, { type Test as TapTest } from 'tap'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import Fastify from '../fastify.js'
import orch, { type Authorizer, type ServerOptions, type UserInfo } from '../../app.js'
import type { Pair } from '../../config/certificates.js'
import { certify, type CertificateRequest } from '../../serving/certify.js'
import { createListener, type Listener } from '../../serving/listener.js'
import { issuers } from '../../plugins/authentication/issuers.js'
import { clientCertificateAuthenticator } from '../../plugins/authentication/client-certificate.js'
import { isUnderstood } from '../../plugins/authentication/der.js'
import { authority } from '../serving/authority.js'
import { BINDINGS, type Test } from '../build.js'

/** Of user ann with UID u-7, its own authority; openssl has made it. */
const WITH_UID: Pair = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBjDCCATKgAwIBAgIUAmuXw3+EqGDSYh+XOWEF44YcIZwwCgYIKoZIzj0EAwIw
IjEMMAoGA1UEAwwDYW5uMRIwEAYJKwYBBAGDwlMCDAN1LTcwIBcNMjYxMTI3MTQw
NjU4WhgPMjEyNjExMDMxNDA2NThaMCIxDDAKBgNVBAMMA2FubjESMBAGCSsGAQQB
g8JTAgwDdS03MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEcvPg0vwoCvRa+QHH
pcqjZyjuK2mXQS1OxGGqv9meMJv6sFdrBxzlAXtLHo6EawEP00NroWGm8UJvlpMW
nJ0YoaNEMEIwEwYDVR0lBAwwCgYIKwYBBQUHAwIwDAYDVR0TBAUwAwEB/zAdBgNV
HQ4EFgQUeXQhOUwhYE8zclc9R8rLogvPnRQwCgYIKoZIzj0EAwIDSAAwRQIgXfUy
uK5RU7bE16lRJu7mGUtZX1WNRlu4uGmQFWcYrgICIQCy0weNS/9awkDmhgTh1taX
GX2xgpU+/xmpY32mIoE/vw==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgsM/gzZsd2ce7Z8dd
ThtgOq3BRZ5ThP7Nx54ALErIvkKhRANCAARy8+DS/CgK9Fr5AcelyqNnKO4raZdB
LU7EYaq/2Z4wm/qwV2sHHOUBe0sejoRrAQ/TQ2uhYabxQm+WkxacnRih
-----END PRIVATE KEY-----
`
}

const DAY = 86_400_000
const ca = authority('clients')
const pair = authority('servers').issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })

interface Built { readonly port: number, readonly seen: UserInfo[] }

/** A server that asks for certificates of these authorities. */
async function serve (
  t: Test, bundle = ca.certificate, options: ServerOptions['authentication'] = {},
  named: ServerOptions['authentication'] = { clientAuthorities: bundle }, more: ServerOptions = {}
): Promise<Built> {
  const seen: UserInfo[] = []
  const spy: Authorizer = { name: 'spy', authorize: ({ user }) => { seen.push(user); return { decision: 'Allow' } } }
  let listener: Listener | undefined
  const app = Fastify({
    serverFactory: handler => {
      listener = createListener(handler as Parameters<typeof createListener>[0], {
        tls: { cert: pair.certificate, key: pair.key, ca: bundle, requestCert: true, rejectUnauthorized: false },
        maxStreams: 0,
        requestTimeout: 60_000
      })
      return listener.server as never // as the launcher does
    }
  })
  await app.register(orch, {
    authentication: { anonymous: false, clientCertificates: true, ...named, ...options },
    authorization: { authorizers: [spy] },
    ...more
  })
  t.teardown(async () => {
    listener?.destroy()
    await app.close()
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { port: (app.server.address() as AddressInfo).port, seen }
}

async function get (
  port: number, client: Pair, agent: Agent | false = false, maxVersion: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3'
): Promise<{ code: number | undefined, reused: boolean }> {
  const call = httpsRequest({
    port,
    host: '127.0.0.1',
    path: BINDINGS,
    agent,
    rejectUnauthorized: false,
    cert: client.certificate,
    key: client.key,
    maxVersion,
    servername: 'localhost'
  })
  call.end()
  const [response] = await once(call, 'response') as [IncomingMessage]
  const reused = (response.socket as TLSSocket).isSessionReused()
  response.resume()
  await once(response, 'end')
  return { code: response.statusCode, reused }
}

const issue = (more: Partial<CertificateRequest>): Pair =>
  ca.issue({ commonName: 'ann', organizations: ['dev'], uses: ['client'], ...more })

/** Moves the wall clock of this process, but not that of the TLS library. */
function clock (t: TapTest): { jump: number } {
  const moved = { jump: 0 }
  const { now } = Date
  t.intercept(Date, 'now', { value: () => now() + moved.jump })
  return moved
}

t.test('a certificate that expires while its connection is open is no longer accepted', async t => {
  const { port } = await serve(t)
  const client = issue({})
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const session: ClientHttp2Session = connectHttp2(`https://127.0.0.1:${port}`, {
    rejectUnauthorized: false, cert: client.certificate, key: client.key
  })
  t.teardown(() => session.destroy())
  const overHttp2 = async (): Promise<unknown> => {
    const stream = session.request({ ':path': BINDINGS })
    stream.resume()
    const [head] = await once(stream, 'response') as [Record<string, unknown>]
    return head[':status']
  }
  const time = clock(t)
  for (const [jump, code] of [[0, 200], [2 * DAY, 401], [0, 200], [-2 * DAY, 401], [0, 200]] as const) {
    time.jump = jump
    t.equal((await get(port, client, agent)).code, code, `${jump}`)
    t.equal(await overHttp2(), code, `${jump} over HTTP/2`)
  }
})

t.test(
  'all requests of an HTTP/2 connection have one user, so that its certificate is verified once, with a body too',
  async t => {
    const { port, seen } = await serve(t)
    const client = issue({})
    const session = connectHttp2(`https://127.0.0.1:${port}`, {
      rejectUnauthorized: false, cert: client.certificate, key: client.key
    })
    t.teardown(() => session.destroy())
    for (const [method, body] of [
      ['GET', ''], ['POST', '{"metadata":{"name":"a"},"roleRef":{}}'], ['POST', '{}'], ['GET', '']
    ] as const) {
      const stream = session.request(
        { ':path': BINDINGS, ':method': method, 'content-type': 'application/json' }, { endStream: body === '' }
      )
      if (body !== '') stream.end(body)
      stream.resume()
      await once(stream, 'close')
    }
    const ofClient = seen.filter(({ username }) => username === 'ann')
    t.ok(ofClient.length >= 4)
    t.equal(new Set(ofClient).size, 1)
  }
)

t.test('nor is one whose TLS session is resumed after its expiry', async t => {
  const { port } = await serve(t)
  const client = issue({})
  const time = clock(t)
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const agent = new Agent({ keepAlive: false })
    time.jump = 0
    t.match(await get(port, client, agent, version), { code: 200, reused: false }, version)
    t.match(await get(port, client, agent, version), { code: 200, reused: true }, version)
    time.jump = 2 * DAY
    t.match(await get(port, client, agent, version), { code: 401, reused: true }, version)
  }
})

t.test('nor is one whose authority has expired', async t => {
  const short = certify({
    commonName: 'short',
    uses: ['client'],
    authority: true,
    from: new Date(Date.now() - DAY),
    until: new Date(Date.now() + DAY)
  })
  const { port } = await serve(t, short.certificate)
  const client = certify({
    commonName: 'ann',
    uses: ['client'],
    from: new Date(Date.now() - DAY),
    until: new Date(Date.now() + 10 * DAY),
    issuer: { commonName: 'short', key: short.key }
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const time = clock(t)
  t.equal((await get(port, client, agent)).code, 200)
  time.jump = 2 * DAY
  t.equal((await get(port, client, agent)).code, 401)
})

t.test('the last common name of a subject is the user, all organizations are groups, in order', async t => {
  const { port, seen } = await serve(t)
  const user = async (more: Partial<CertificateRequest>): Promise<UserInfo | undefined> => {
    seen.length = 0
    await get(port, issue(more))
    return seen[0]
  }
  t.match(
    await user({ commonName: 'last', earlierNames: ['first', 'second'], organizations: ['b', 'a', 'b'] }),
    { username: 'last', groups: ['b', 'a', 'b', 'system:authenticated'] }
  )
  t.equal((await user({ organizations: [] }))?.groups.length, 1)
  t.equal(
    (await get(port, issue({ commonName: '', earlierNames: ['first'] }))).code, 401,
    'and an empty one authenticates nobody'
  )
})

t.test('a certificate is for clients, for any use or does not say; others are refused', async t => {
  const { port } = await serve(t)
  for (const [uses, code] of [
    [['client'], 200], [['server', 'client'], 200], [['any'], 200], [['server', 'any'], 200], [[], 200],
    [['server'], 401]
  ] as const) {
    t.equal((await get(port, issue({ uses }))).code, code, uses.join(' '))
  }
})

t.test('a certificate for any use must satisfy every other condition', async t => {
  const validity = { from: new Date(Date.now() - DAY), until: new Date(Date.now() + DAY) }
  const serversOnly = certify({ commonName: 'for servers', uses: ['server'], authority: true, ...validity })
  const above = ca.issue({ commonName: 'in between', uses: ['client'], authority: true })
  const noAuthority = issue({ commonName: 'bob' })
  const orphan = authority('unknown').issue({ commonName: 'orphan', uses: ['client'], authority: true })
  const bundle = [ca, serversOnly, above, noAuthority, orphan].map(({ certificate }) => certificate).join('')
  const { port } = await serve(t, bundle)
  const anyUse = (issuer: CertificateRequest['issuer'] & object, more: Partial<CertificateRequest> = {}): Pair =>
    certify({ commonName: 'ann', uses: ['any'], ...validity, ...more, issuer })
  const stranger = authority('stranger')
  const withChain = (leaf: Pair, ...others: Pair[]): Pair => ({
    ...leaf, certificate: [leaf, ...others].map(({ certificate }) => certificate).join('')
  })
  const refused: Record<string, Pair> = {
    'signed by itself': certify({ commonName: 'ann', uses: ['any'], ...validity }),
    'of an authority nobody knows': stranger.issue({ commonName: 'ann', uses: ['any'] }),
    'of one that the client brings along': withChain(stranger.issue({ commonName: 'ann', uses: ['any'] }), stranger),
    'of one that only has the name of a known one': authority('clients').issue({ commonName: 'ann', uses: ['any'] }),
    'of what is no authority': anyUse({ commonName: 'bob', key: noAuthority.key }),
    'of an authority for servers alone': anyUse({ commonName: 'for servers', key: serversOnly.key }),
    'with a critical extension that nobody understands': issue({ uses: ['any'], critical: ['1.2.3.4'] }),
    expired: issue({ uses: ['any'], from: new Date(0), until: new Date(1e12) })
  }
  for (const [title, client] of Object.entries(refused)) t.equal((await get(port, client)).code, 401, title)
  t.equal((await get(port, issue({ uses: ['any'] }))).code, 200)
  t.equal(
    (await get(port, anyUse({ commonName: 'in between', key: above.key }))).code, 200,
    'of an authority below a root, both in the file'
  )
  const time = clock(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const client = issue({ uses: ['any'] })
  t.equal((await get(port, client, agent)).code, 200)
  time.jump = 2 * DAY
  t.equal((await get(port, client, agent)).code, 401, 'and no longer than it is valid')
  time.jump = 0
  t.equal(
    (await get(port, anyUse({ commonName: 'orphan', key: orphan.key }))).code, 200,
    'from an intermediate whose root is missing: every certificate of the CA file is trusted'
  )
  const unnamed = await serve(t, ca.certificate, {}, {})
  t.equal(
    (await get(unnamed.port, client)).code, 401, 'without configured authorities the result of the TLS library decides'
  )
})

t.test('an issuer has the right name, signature and permission to sign', async t => {
  const parsed = (...pairs: Pair[]): X509Certificate[] =>
    pairs.map(({ certificate }) => new X509Certificate(certificate))
  const [leaf] = parsed(issue({ uses: ['any'] })) as [X509Certificate]
  t.equal(issuers(leaf, parsed(ca))?.length, 1)
  t.equal(issuers(leaf, []), undefined)
  t.equal(issuers(leaf, [leaf]), undefined)
  t.equal(issuers(leaf, parsed(authority('clients'))), undefined, 'another key of that name')
  const validity = { from: new Date(Date.now() - DAY), until: new Date(Date.now() + DAY) }
  const plain = certify({ commonName: 'plain', uses: ['client'], ...validity })
  const [below] = parsed(certify({
    commonName: 'ann', uses: ['any'], ...validity, issuer: { commonName: 'plain', key: plain.key }
  })) as [X509Certificate]
  t.equal(issuers(below, parsed(plain)), undefined, 'one that is no authority')
  const [renamed] = parsed(certify({
    commonName: 'ann', uses: ['any'], ...validity, issuer: { commonName: 'another name', key: ca.key }
  })) as [X509Certificate]
  t.equal(issuers(renamed, parsed(ca)), undefined, 'one of another name')
  t.ok(isUnderstood(leaf))
  t.notOk(
    isUnderstood(parsed(issue({ critical: ['2.5.29.30'] }))[0] as X509Certificate),
    'constraints of names, which are not looked at'
  )
})

t.test(
  'from the releases on that know them, users have the UID of the subject, and the certificate by its hash',
  async t => {
    const earlier = await serve(t, WITH_UID.certificate)
    await get(earlier.port, WITH_UID)
    t.match(earlier.seen[0], { username: 'ann', uid: '', extra: {} })
    t.same(earlier.seen[0]?.extra, {})
    const { fingerprint256 } = new X509Certificate(WITH_UID.certificate)
    for (const compatNames of [false, true]) {
      const later = await serve(t, WITH_UID.certificate, {}, undefined, { emulatedVersion: '1.36', compatNames })
      await get(later.port, WITH_UID)
      t.match(
        later.seen[0],
        {
          username: 'ann', uid: 'u-7',
          extra: {
            'authentication.orch.io/credential-id': [`X509SHA256=${fingerprint256.replaceAll(':', '').toLowerCase()}`]
          }
        }
      )
    }
    const off = await serve(
      t, WITH_UID.certificate, {}, undefined,
      { emulatedVersion: '1.36', featureGates: { AllowParsingUserUIDFromCertAuth: false } }
    )
    await get(off.port, WITH_UID)
    t.match(off.seen[0], { username: 'ann', uid: '' })
  }
)

t.test('a certificate with several UIDs, or an empty one, is refused', async t => {
  const { authenticate } = clientCertificateAuthenticator(
    { histogram: () => ({ with: () => ({ observe: () => {} }) }) } as never, { enabled: () => true }
  )
  const ask = (uids: string[]) =>
    authenticate({ headers: {}, certificate: { verified: true, commonName: 'ann', organizations: [], uids } })
  t.match(ask(['u']), { uid: 'u' })
  t.match(ask([]), { uid: '' })
  t.throws(() => ask(['u', 'v']), /more than one UID/)
  t.throws(() => ask(['']), /is empty/)
})

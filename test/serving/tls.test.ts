import t from 'tap'
import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type TlsOptions, type ConnectionOptions, createServer, type TLSSocket } from 'node:tls'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { addressBytes, certify, selfSigned } from '../../serving/certify.js'
import { namesOf } from '../../config/certificates.js'
import { parseArguments } from '../../config/command-line.js'
import { listenHost } from '../../config/addresses.js'
import { choose, tlsSetup, type TlsSetup } from '../../serving/tls.js'
import { authority } from './authority.js'
import type { Test } from '../plugins/bare-server.js'

const setup = (...args: string[]): TlsSetup => tlsSetup(parseArguments(args))

/** Performs a handshake with a server of these options. Returns the client's side. */
async function handshake (
  test: Test, options: TlsOptions, client: ConnectionOptions = {}
): Promise<{ socket: TLSSocket, server: TLSSocket, subject: string }> {
  const listener = createServer(options)
  await new Promise<void>(resolve => { listener.listen(0, '127.0.0.1', resolve) })
  test.teardown(() => listener.close())
  const { port } = listener.address() as AddressInfo
  const accepted = once(listener, 'secureConnection') as Promise<[TLSSocket]>
  accepted.catch(() => {})
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...client })
  test.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  const [server] = await accepted
  return { socket, server, subject: socket.getPeerX509Certificate()?.subject ?? '' }
}

t.test('a self-signed pair is made, kept for its owner alone, and used again', async t => {
  const folder = join(t.testdir(), 'deep', 'certs')
  const first = setup(
    `--cert-dir=${folder}`, '--advertise-address=192.0.2.7', '--external-hostname=api.example.com:443'
  )
  t.match(first.notes, [/wrote a self-signed certificate for 192.0.2.7/])
  t.equal(statSync(join(folder, 'apiserver.key')).mode & 0o777, 0o600)
  const leaf = new X509Certificate(readFileSync(join(folder, 'apiserver.crt')))
  for (const name of ['localhost', 'orch', 'orch.default', 'orch.default.svc', 'api.example.com']) {
    t.ok(leaf.checkHost(name), name)
  }
  for (const address of ['127.0.0.1', '::1', '192.0.2.7']) t.ok(leaf.checkIP(address), address)
  t.notOk(leaf.checkHost('kubernetes.default.svc'))
  t.ok(leaf.verify(leaf.publicKey))
  t.ok(leaf.ca)
  const again = setup(`--cert-dir=${folder}`, '--advertise-address=192.0.2.7')
  t.strictSame(again.notes, [])
  t.equal(again.options.cert, first.options.cert)
})

t.test('a self-signed certificate has the names by which clients of --compat-names know the server', async t => {
  const folder = t.testdir()
  setup(`--cert-dir=${folder}`, '--compat-names')
  const leaf = new X509Certificate(readFileSync(join(folder, 'apiserver.crt')))
  for (const name of [
    'orch.default.svc', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local'
  ]) {
    t.ok(leaf.checkHost(name), name)
  }
})

t.test('a client that has the self-signed certificate trusts it', async t => {
  const folder = t.testdir()
  const { options } = setup(`--cert-dir=${folder}`)
  for (const host of ['localhost', '127.0.0.1']) {
    const { socket } = await handshake(t, options, {
      ca: readFileSync(join(folder, 'apiserver.crt')),
      rejectUnauthorized: true,
      servername: host === 'localhost' ? host : ''
    })
    t.equal(socket.authorized, true)
    t.equal(socket.getProtocol(), 'TLSv1.3')
  }
})

t.test('a stored pair that is broken or has expired is replaced, and this is logged', async t => {
  const folder = t.testdir()
  setup(`--cert-dir=${folder}`)
  writeFileSync(join(folder, 'apiserver.crt'), 'junk')
  t.match(setup(`--cert-dir=${folder}`).notes, [/unusable.*wrote/])
  const other = certify({ commonName: 'other', uses: ['server'], from: new Date(0), until: new Date(2e12) })
  writeFileSync(join(folder, 'apiserver.key'), other.key)
  t.match(setup(`--cert-dir=${folder}`).notes, [/does not belong/])
  const old = certify({ commonName: 'old', uses: ['server'], from: new Date(0), until: new Date(1e12) })
  writeFileSync(join(folder, 'apiserver.key'), old.key)
  writeFileSync(join(folder, 'apiserver.crt'), old.certificate)
  t.match(setup(`--cert-dir=${folder}`).notes, [/has expired/])
  t.strictSame(setup(`--cert-dir=${folder}`).notes, [])
})

t.test('a folder that cannot be written to is an error where it was named', async t => {
  const folder = t.testdir({ file: '' })
  t.throws(
    () => setup(`--cert-dir=${join(folder, 'file', 'certs')}`),
    { message: /^--cert-dir=.*cannot keep a certificate there: .*not a folder/ }
  )
})

t.test('the default folder gives way to one beside the data where it cannot be written to', async t => {
  const folder = t.testdir({ file: '' })
  const parsed = parseArguments([`--data-dir=${folder}`])
  // the default, on a host without it
  const elsewhere = { ...parsed, values: { ...parsed.values, 'cert-dir': join(folder, 'file', 'orch') } }
  const { notes } = tlsSetup(elsewhere)
  t.match(notes, [/file\/orch cannot be written to.*kept in .*\/certs/, /wrote a self-signed certificate/])
  t.ok(statSync(join(folder, 'certs', 'apiserver.crt')).isFile())
  const nowhere = { ...elsewhere, values: { ...elsewhere.values, 'data-dir': join(folder, 'file') } }
  t.throws(() => tlsSetup(nowhere), { message: /^--cert-dir=.*nor in .*name another folder or give --tls-cert-file/ })
})

t.test('an own pair is served, with the certificates of its issuers', async t => {
  const ca = authority()
  const pair = ca.issue({ commonName: 'server', names: ['example.com'], uses: ['server'] })
  const folder = t.testdir({ crt: pair.certificate + ca.certificate, key: pair.key })
  const { options, notes } = setup(`--tls-cert-file=${folder}/crt`, `--tls-private-key-file=${folder}/key`)
  t.strictSame(notes, [])
  const { socket } = await handshake(t, options, {
    ca: ca.certificate, servername: 'example.com', rejectUnauthorized: true
  })
  t.equal(socket.authorized, true)
})

t.test('missing, invalid and mismatched files are named', async t => {
  const ca = authority()
  const one = ca.issue({ commonName: 'one', uses: ['server'] })
  const two = ca.issue({ commonName: 'two', uses: ['server'] })
  const d = t.testdir({
    one: one.certificate,
    key: one.key,
    two: two.key,
    junk: 'junk',
    empty: '',
    folder: {},
    broken: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    locked: '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n'
  })
  const pair = (certificate: string, key: string): string[] => [
    `--tls-cert-file=${d}/${certificate}`, `--tls-private-key-file=${d}/${key}`
  ]
  t.throws(
    () => setup(...pair('none', 'key')), { message: /^--tls-cert-file=.*none: cannot be read: there is no such file/ }
  )
  t.throws(() => setup(...pair('folder', 'key')), { message: /^--tls-cert-file=.*not an ordinary file/ })
  t.throws(() => setup(...pair('junk', 'key')), { message: /^--tls-cert-file=.*no CERTIFICATE block/ })
  t.throws(
    () => setup(...pair('broken', 'key')), { message: /^--tls-cert-file=.*certificate number 1 cannot be parsed/ }
  )
  t.throws(() => setup(...pair('one', 'junk')), { message: /^--tls-private-key-file=.*no private key/ })
  t.throws(() => setup(...pair('one', 'locked')), { message: /^--tls-private-key-file=.*encrypted/ })
  t.throws(
    () => setup(...pair('one', 'two')),
    { message: /^--tls-private-key-file=.*does not belong to the first certificate/ }
  )
  t.throws(
    () => setup(...pair('one', 'key'), `--client-ca-file=${d}/empty`),
    { message: /^--client-ca-file=.*no CERTIFICATE block/ }
  )
  t.throws(
    () => setup(...pair('one', 'key'), `--tls-sni-cert-key=${d}/one,${d}/two`),
    { message: /^--tls-sni-cert-key=.*does not belong/ }
  )
  t.throws(
    () => setup(...pair('one', 'key'), `--tls-sni-cert-key=${d}/one,${d}/key:bad_*`),
    { message: /"bad_\*" must be a domain/ }
  )
})

t.test('a certificate is chosen by the name that a client requests', async t => {
  const ca = authority()
  const issue = (commonName: string, ...names: string[]) => ca.issue({ commonName, names, uses: ['server'] })
  const pairs = {
    main: issue('main'),
    a: issue('a', 'a.example.com'),
    wild: issue('wild', '*.example.com'),
    given: issue('given', 'unused.example.com'),
    later: issue('later', 'a.example.com')
  }
  const folder = t.testdir(Object.fromEntries(Object.entries(pairs).flatMap(([name, pair]) => [
    [`${name}.crt`, pair.certificate], [`${name}.key`, pair.key]
  ])))
  const sni = (name: string, patterns = ''): string =>
    `--tls-sni-cert-key=${folder}/${name}.crt,${folder}/${name}.key${patterns}`
  const { options } = setup(`--tls-cert-file=${folder}/main.crt`, `--tls-private-key-file=${folder}/main.key`,
    sni('wild'), sni('a'), sni('later'), sni('given', ':b.example.com,*.given.org'))
  for (const [asked, expected] of [
    ['a.example.com', 'a'], // the exact name before an earlier wildcard, the first pair before a later one
    ['A.Example.COM', 'a'],
    ['other.example.com', 'wild'],
    ['b.example.com', 'given'], // a pattern before a wildcard in a certificate
    ['x.given.org', 'given'],
    ['x.y.given.org', 'main'], // a wildcard matches one label
    ['unused.example.com', 'wild'], // patterns replace the certificate's own names
    ['example.com', 'main'],
    ['given.org', 'main']
  ] as const) t.equal((await handshake(t, options, { servername: asked })).subject, `CN=${expected}`, asked)
  t.equal((await handshake(t, options)).subject, 'CN=main', 'no name at all')
})

t.test('given patterns beat names out of certificates', async t => {
  const own = setup(`--cert-dir=${t.testdir()}`).options
  const context = (name: string) => ({ context: {}, name })
  const extracted = { names: ['a.org', '*.b.org'], explicit: false, context: context('extracted') as never }
  const explicit = { names: ['a.org', '*.b.org'], explicit: true, context: context('explicit') as never }
  t.equal(choose([extracted, explicit], 'a.org'), explicit.context)
  t.equal(choose([extracted, explicit], 'x.b.org'), explicit.context)
  t.equal(choose([extracted, explicit], 'a.org.'), explicit.context)
  t.equal(choose([], 'a.org'), undefined)
  t.ok(own.cert)
})

t.test('the minimum TLS version is enforced, and older ones can be allowed', async t => {
  const folder = t.testdir()
  const modern = setup(`--cert-dir=${folder}`, '--tls-min-version=VersionTLS13').options
  await t.rejects(handshake(t, modern, { maxVersion: 'TLSv1.2' }), /protocol version|ECONNRESET|disconnected/)
  t.equal((await handshake(t, modern)).socket.getProtocol(), 'TLSv1.3')
  const usual = setup(`--cert-dir=${folder}`).options
  await t.rejects(
    handshake(t, usual, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
    /protocol version|unsupported|ECONNRESET|disconnected/
  )
  const old = setup(`--cert-dir=${folder}`, '--tls-min-version=VersionTLS10').options
  t.equal(
    (await handshake(t, old, {
      minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0'
    })).socket.getProtocol(),
    'TLSv1'
  )
})

t.test('only the given cipher suites are spoken', async t => {
  const { options } = setup(
    `--cert-dir=${t.testdir()}`, '--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256'
  )
  t.equal(
    (await handshake(t, options, { maxVersion: 'TLSv1.2' })).socket.getCipher().name, 'ECDHE-ECDSA-AES256-GCM-SHA384'
  )
  t.equal((await handshake(t, options)).socket.getCipher().name, 'TLS_AES_128_GCM_SHA256')
  await t.rejects(handshake(t, options, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }))
})

t.test('a client certificate is requested and verified if a client CA is configured, also with SNI', async t => {
  const ca = authority('mine')
  const stranger = authority('stranger')
  const server = ca.issue({ commonName: 'server', names: ['sni.example.com'], uses: ['server'] })
  const folder = t.testdir({ ca: ca.certificate, crt: server.certificate, key: server.key })
  const args = [`--cert-dir=${folder}`, `--tls-sni-cert-key=${folder}/crt,${folder}/key`]
  const { options } = setup(...args, `--client-ca-file=${folder}/ca`)
  const present = (pair: { certificate: string, key: string }, servername = ''): ConnectionOptions => ({
    cert: pair.certificate, key: pair.key, servername
  })
  const mine = ca.issue({ commonName: 'alice', organizations: ['devs', 'ops'], uses: ['client'] })
  for (const name of ['', 'sni.example.com']) {
    const { server: seen } = await handshake(t, options, present(mine, name))
    t.equal(seen.authorized, true, name)
    t.match(seen.getPeerCertificate().subject, { CN: 'alice', O: ['devs', 'ops'] })
    const { server: bad } = await handshake(
      t, options, present(stranger.issue({ commonName: 'mallory', uses: ['client'] }), name)
    )
    t.equal(bad.authorized, false, 'the handshake succeeds, so that the response can be a Status')
    const { server: none } = await handshake(t, options, { servername: name })
    t.equal(none.getPeerX509Certificate(), undefined)
  }
  const { server: old } = await handshake(
    t, options, present(ca.issue({ commonName: 'old', uses: ['client'], from: new Date(0), until: new Date(1e12) }))
  )
  t.equal(old.authorized, false)
  t.equal(setup(...args).options.requestCert, false)
})

t.test('names of a certificate are read safely, whatever they contain', async t => {
  const pair = certify({
    commonName: 'cn.example.com',
    names: ['a.example.com', '*.B.example.com', '10.0.0.1'],
    uses: ['server'],
    from: new Date(0),
    until: new Date(2e12)
  })
  t.strictSame(namesOf(new X509Certificate(pair.certificate)), ['a.example.com', '*.b.example.com'])
  const plain = certify({ commonName: 'cn.example.com', uses: ['server'], from: new Date(0), until: new Date(2e12) })
  t.strictSame(namesOf(new X509Certificate(plain.certificate)), ['cn.example.com'])
  const evil = certify({
    commonName: 'x', names: ['good.org, DNS:evil.org'], uses: ['server'], from: new Date(0), until: new Date(2e12)
  })
  t.strictSame(namesOf(new X509Certificate(evil.certificate)), [])
})

t.test('addresses become bytes', async t => {
  t.equal(addressBytes('1.2.3.4').toString('hex'), '01020304')
  t.equal(addressBytes('::1').toString('hex'), '00000000000000000000000000000001')
  t.equal(addressBytes('2001:db8::8:800:200c:417a').toString('hex'), '20010db80000000000080800200c417a')
  t.equal(addressBytes('::ffff:1.2.3.4').toString('hex'), '00000000000000000000ffff01020304')
  t.equal(addressBytes('1:2:3:4:5:6:7:8').toString('hex'), '00010002000300040005000600070008')
  t.equal(addressBytes('fe80::1%eth0').toString('hex'), 'fe800000000000000000000000000001')
})

t.test('blank, 0.0.0.0 and :: are all addresses of the host, another address is itself', async t => {
  t.equal(new Set(['', '0.0.0.0', '::'].map(listenHost)).size, 1)
  t.match(listenHost(''), /^(?:::|0\.0\.0\.0)$/)
  for (const address of ['127.0.0.1', '::1']) t.equal(listenHost(address), address)
})

t.test('a --cert-dir where nothing can be made ends the start', async t => {
  t.throws(
    () => setup('--cert-dir=/proc/nothing'),
    { message: /^--cert-dir=\/proc\/nothing: cannot keep a certificate there: / }
  )
})

t.test('--tls-curve-preferences are the groups of the key exchange', async t => {
  const folder = t.testdir()
  const { options } = setup(`--cert-dir=${folder}`, '--tls-curve-preferences=24')
  const { socket } = await handshake(t, options)
  t.match(socket.getEphemeralKeyInfo(), { name: 'secp384r1' })
  await t.rejects(handshake(t, options, { ecdhCurve: 'X25519' }), 'a client that has no group of them')
})

t.test('a kept certificate of a clock that was ahead is replaced', async t => {
  const folder = t.testdir()
  setup(`--cert-dir=${folder}`)
  const { certificate, key } = selfSigned('ahead', ['localhost'], new Date(Date.now() + 10 * 86_400_000))
  writeFileSync(join(folder, 'apiserver.crt'), certificate)
  writeFileSync(join(folder, 'apiserver.key'), key)
  t.match(setup(`--cert-dir=${folder}`).notes, [
    /^the kept certificate is of a clock that was ahead: wrote a self-signed certificate/
  ])
  t.ok(new Date(new X509Certificate(readFileSync(join(folder, 'apiserver.crt'))).validFrom) <= new Date())
  t.strictSame(setup(`--cert-dir=${folder}`).notes, [])
})

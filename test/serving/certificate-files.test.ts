/**
 * The certificate files of the listener: authorities of clients and served pairs, which may be replaced at any time.
 */
import t, { type Test } from 'tap'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'
import type { Pair } from '../../config/certificates.js'
import { certify, type CertificateRequest } from '../../serving/certify.js'
import { codeOver, flagged, kept, SERVER_FILES, type Flagged } from '../flagged-server.js'
import { authority } from './authority.js'

const DAY = 86_400_000
const validity = { from: new Date(Date.now() - DAY), until: new Date(Date.now() + DAY) }
const [one, two] = [authority('one'), authority('two')]
const client = (of: typeof one, more: Partial<CertificateRequest> = {}): Pair =>
  of.issue({ commonName: 'ann', uses: ['client'], ...more })
const bundle = (...pairs: Pair[]): string => pairs.map(({ certificate }) => certificate).join('')

interface Followed extends Flagged { readonly replace: (text: string) => Promise<void> }

async function serve (t: Test, text: string, ...flags: string[]): Promise<Followed> {
  const folder = t.testdir({ ...SERVER_FILES, ca: text })
  const server = await flagged(t, folder, [`--client-ca-file=${folder}/ca`, ...flags])
  return {
    ...server,
    replace: async text => {
      writeFileSync(`${folder}/ca`, text)
      await server.look()
    }
  }
}

/**
 * Node 24.21 and 26.8 do not expose the intermediates that clients send (nodejs/node#65579): clients that need them are
 * not trusted.
 */
async function seen (pair: Pair): Promise<boolean> {
  const own = authority('servers').issue({ commonName: 'server', names: ['localhost'], uses: ['server'] })
  const server = createServer({
    key: own.key, cert: own.certificate, requestCert: true, rejectUnauthorized: false, ca: one.certificate
  }).listen(0, '127.0.0.1')
  const asked = once(server, 'secureConnection') as Promise<[TLSSocket]>
  await once(server, 'listening')
  const client = connect({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    key: pair.key,
    cert: pair.certificate
  })
  const [socket] = await asked
  const { issuerCertificate } = socket.getPeerCertificate(true) as Partial<DetailedPeerCertificate>
  socket.destroy()
  client.destroy()
  server.close()
  return issuerCertificate !== undefined
}

t.test('a file may have several authorities, and some between them and the clients', async t => {
  const middle = one.issue({ commonName: 'middle', uses: ['client'], authority: true })
  const low = certify({
    ...validity, commonName: 'low', uses: ['client'], authority: true, issuer: { commonName: 'middle', key: middle.key }
  })
  const below = certify({
    ...validity, commonName: 'ann', uses: ['client'], issuer: { commonName: 'middle', key: middle.key }
  })
  const lowest = certify({
    ...validity, commonName: 'ann', uses: ['client'], issuer: { commonName: 'low', key: low.key }
  })
  const chained = (leaf: Pair, ...others: Pair[]): Pair => ({ ...leaf, certificate: bundle(leaf, ...others) })
  const sent = await seen(chained(below, middle)) ? 200 : 401
  const both = await serve(t, bundle(one, two))
  for (const [pair, code] of [
    [client(one), 200], [client(two), 200], [client(authority('one')), 401], [chained(below, middle), sent],
    [chained(lowest, low, middle), sent], [chained(lowest, middle), 401]
  ] as const) {
    t.equal(await both.code(pair), code)
  }
  const between = await serve(t, bundle(middle))
  t.equal(await between.code(below), 200, 'every authority of the file is trusted, root or not')
  t.equal(await between.code(client(one)), 401, 'but not its issuers')
  const own = certify({ ...validity, commonName: 'own', uses: ['client'] })
  t.equal(await (await serve(t, bundle(own))).code(own), 200, 'a certificate in the file vouches for itself')
})

t.test('a resumed session is as good as a new one, also with authorities that the client has sent', async t => {
  const middle = one.issue({ commonName: 'middle', uses: ['client'], authority: true })
  const below = certify({
    ...validity, commonName: 'ann', uses: ['client'], issuer: { commonName: 'middle', key: middle.key }
  })
  const pair = { ...below, certificate: bundle(below, middle) }
  const expected = await seen(pair) ? 200 : 401
  const { code } = await serve(t, one.certificate)
  const { Agent } = await import('node:https')
  const agent = new Agent({ keepAlive: false })
  for (const title of ['first', 'resumed', 'again']) t.equal(await code(pair, {}, agent), expected, title)
})

t.test('expired, not yet valid, for something else, of a weak signature: refused', async t => {
  const { code } = await serve(t, bundle(one, two))
  const future = { from: new Date(Date.now() + DAY), until: new Date(Date.now() + 2 * DAY) }
  for (const [title, more] of Object.entries<Partial<CertificateRequest>>({
    expired: { from: new Date(0), until: new Date(1e12) }, 'not yet valid': future, 'for servers': { uses: ['server'] },
    'weakly signed': { digest: 'sha1' }, 'weakly signed, for any use': { digest: 'sha1', uses: ['any'] },
    'critical and unknown': { critical: ['1.2.3.4'] }
  })) t.equal(await code(client(one, more)), 401, title)
  t.equal(await code(client(one)), 200)
})

t.test('a file that changes is taken up, and no connection is cut', async t => {
  const { code, session, replace, log } = await serve(t, one.certificate)
  const [agent, later] = [kept(t), kept(t)]
  const open = session(client(one))
  t.equal(await code(client(one), {}, agent), 200)
  t.equal(await codeOver(open), 200)
  t.equal(await code(client(two)), 401)
  await replace(bundle(two, one))
  t.match(log.at(-1), /authorities of clients in .*ca were replaced/)
  t.equal(await code(client(two), {}, later), 200)
  t.equal(await code(client(one), {}, agent), 200)
  t.equal(await codeOver(open), 200)
  await replace(two.certificate)
  t.equal(await code(client(one)), 401)
  t.equal(await code(client(one), {}, agent), 401, 'nor on connections that are already open')
  t.equal(await codeOver(open), 401)
  t.notOk(open.closed)
  t.equal(await code(client(two), {}, later), 200)
  await replace(one.certificate)
  t.equal(await codeOver(open), 200)
})

t.test('a broken file is logged and changes nothing', async t => {
  const { code, replace, log } = await serve(t, one.certificate)
  for (const broken of ['', 'no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n']) {
    log.length = 0
    await replace(broken)
    t.match(log, [/ca is not taken: .*(no CERTIFICATE block|cannot be parsed)/])
    t.equal(await code(client(one)), 200)
  }
})

t.test('names of their own have the new authorities too', async t => {
  const pair = authority('servers').issue({ commonName: 'named', names: ['localhost'], uses: ['server'] })
  const folder = t.testdir({
    ...SERVER_FILES, 'one.crt': one.certificate, 'named.crt': pair.certificate, 'named.key': pair.key
  })
  const { code, look } = await flagged(t, folder, [
    `--client-ca-file=${folder}/one.crt`, `--tls-sni-cert-key=${folder}/named.crt,${folder}/named.key`
  ])
  t.equal(await code(client(two)), 401)
  writeFileSync(`${folder}/one.crt`, bundle(one, two))
  await look()
  t.equal(await code(client(two)), 200)
})

/** The name in the certificate that a new connection gets. */
async function servedTo (port: number, servername: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { subject } = socket.getPeerCertificate()
  socket.destroy()
  return String(subject.CN)
}

t.test('served certificates are replaced with their files, by name too', async t => {
  const issue = (commonName: string, ...names: string[]): Pair =>
    authority('servers').issue({ commonName, names, uses: ['server'] })
  const [first, named] = [issue('first', 'localhost'), issue('named', 'a.example')]
  const folder = t.testdir({
    'server.crt': first.certificate, 'server.key': first.key, 'named.crt': named.certificate, 'named.key': named.key
  })
  const { port, look, log, reloads, session } = await flagged(t, folder, [
    `--tls-sni-cert-key=${folder}/named.crt,${folder}/named.key`
  ])
  const replace = async (name: string, { certificate, key }: Pair): Promise<void> => {
    writeFileSync(`${folder}/${name}.crt`, certificate)
    writeFileSync(`${folder}/${name}.key`, key)
    await look()
  }
  const open = session(named)
  t.equal(await codeOver(open), 200)
  t.same([await servedTo(port, 'localhost'), await servedTo(port, 'a.example')], ['first', 'named'])
  await replace('server', issue('second', 'localhost'))
  t.same([await servedTo(port, 'localhost'), await servedTo(port, 'a.example')], ['second', 'named'])
  await replace('named', issue('renamed', 'b.example'))
  t.same(
    [await servedTo(port, 'localhost'), await servedTo(port, 'a.example'), await servedTo(port, 'b.example')],
    ['second', 'second', 'renamed']
  )
  t.equal(await codeOver(open), 200, 'connections stay open')
  t.same(log, [
    `the serving certificate in ${folder}/server.crt was replaced`,
    `the serving certificate in ${folder}/named.crt was replaced`
  ])
  t.same(reloads, ['tls-cert-file success', 'tls-sni-cert-key success'])

  for (const [broken, why] of [
    [{ ...first, key: named.key }, /does not belong to the first certificate/],
    [{ ...first, key: '' }, /no private key/],
    [{ ...first, certificate: '-' }, /no CERTIFICATE block/]
  ] as const) {
    await replace('server', broken)
    t.match(log.at(-1), why)
    t.match(log.at(-1), /server\.crt, .*server\.key is not taken/)
    t.equal(reloads.at(-1), 'tls-cert-file failure')
    t.equal(await servedTo(port, 'localhost'), 'second')
  }
  await replace('server', first)
  t.equal(await servedTo(port, 'localhost'), 'first')
})

import t from 'tap'
import { certify } from '../../serving/certify.js'
import { openBackend } from '../../storage/open.js'
import { Line, startEtcd } from '../etcd-process.js'
import { Observed } from '../contracts/observed.js'

const from = new Date(Date.now() - 3_600_000)
const until = new Date(Date.now() + 3_600_000)
const authority = certify({ commonName: 'etcd authority', uses: ['server', 'client'], authority: true, from, until })
const issuer = { commonName: 'etcd authority', key: authority.key }
const server = certify({ commonName: 'etcd', names: ['127.0.0.1', 'localhost'], uses: ['server', 'client'], issuer, from, until })
const client = certify({ commonName: 'server of ours', uses: ['client'], issuer, from, until })
const stranger = certify({ commonName: 'stranger', uses: ['client'], authority: true, from, until })

const folder = t.testdir({ 'ca.crt': authority.certificate, 'server.crt': server.certificate, 'server.key': server.key })
const etcd = await startEtcd(t, { ca: `${folder}/ca.crt`, certificate: `${folder}/server.crt`, key: `${folder}/server.key`, clientAuth: true })

t.test('with its authority and a client certificate everything works, encrypted', async t => {
  const backend = await openBackend({ kind: 'etcd', servers: [etcd.url], ca: authority.certificate, certificate: client.certificate, key: client.key })
  const watch = new Observed(backend, '/', '0', await backend.revision())
  const result = await backend.create('/a', Buffer.from('x'))
  t.ok(result.succeeded)
  await watch.upTo(result.revision)
  t.equal(watch.events.length, 1)
  t.ok((await backend.status()).size > 0)
  await backend.close()
})

t.test('leases and compaction, which have a connection of their own, ask a server for its name or for none', async t => {
  const { port } = new URL(etcd.url)
  for (const host of ['127.0.0.1', 'localhost']) {
    const backend = await openBackend({ kind: 'etcd', servers: [`https://${host}:${port}`], ca: authority.certificate, certificate: client.certificate, key: client.key })
    t.match(await backend.lease(60), /./, host)
    await backend.close()
  }
})

t.test('a server at an address that its certificate does not name is not believed', async t => {
  const line = await Line.to(t, Number(new URL(etcd.url).port), '127.0.0.2')
  const backend = await openBackend({ kind: 'etcd', servers: [`https://127.0.0.2:${line.port}`], ca: authority.certificate, certificate: client.certificate, key: client.key, healthcheckTimeout: 400 })
  await t.rejects(backend.status(), { code: 'Unavailable', message: /127\.0\.0\.2 is not in the cert's list/ })
  await t.rejects(backend.lease(60), { code: 'Unavailable', message: /127\.0\.0\.2 is not in the cert's list/ })
  await backend.close()
})

for (const [what, options] of [
  ['without a client certificate', { ca: authority.certificate }],
  ['with the certificate of a stranger', { ca: authority.certificate, certificate: stranger.certificate, key: stranger.key }],
  ['with an authority that did not sign the server', { ca: stranger.certificate, certificate: client.certificate, key: client.key }]
] as const) {
  t.test(`${what} nothing is written and the health check says so in time`, async t => {
    const backend = await openBackend({ kind: 'etcd', servers: [etcd.url], healthcheckTimeout: 400, ...options })
    await t.rejects(backend.status(), { code: 'Unavailable', message: /certificate|handshake|SSL|closed/i })
    await t.rejects(backend.create('/b', Buffer.from('x')), { code: 'Unavailable' })
    await backend.close()
  })
}

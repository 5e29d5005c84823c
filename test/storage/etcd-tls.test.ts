import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkedFlags, configuration } from '../../config/options.js'
import { certify } from '../../serving/certify.js'
import { openBackend, type BackendOptions } from '../../storage/open.js'
import { Line, startEtcd } from '../etcd-process.js'
import { Observed } from '../contracts/observed.js'

const from = new Date(Date.now() - 3_600_000)
const until = new Date(Date.now() + 3_600_000)
const authority = certify({ commonName: 'etcd authority', uses: ['server', 'client'], authority: true, from, until })
const issuer = { commonName: 'etcd authority', key: authority.key }
const server = certify({
  commonName: 'etcd', names: ['127.0.0.1', 'localhost'], uses: ['server', 'client'], issuer, from, until
})
const client = certify({ commonName: 'server of ours', uses: ['client'], issuer, from, until })
const renewed = certify({ commonName: 'server of ours, renewed', uses: ['client'], issuer, from, until })
const stranger = certify({ commonName: 'stranger', uses: ['client'], authority: true, from, until })

const folder = t.testdir({
  'ca.crt': authority.certificate, 'server.crt': server.certificate, 'server.key': server.key
})
const etcd = await startEtcd(t, {
  ca: `${folder}/ca.crt`, certificate: `${folder}/server.crt`, key: `${folder}/server.key`, clientAuth: true
})

t.test('with its authority and a client certificate everything works, encrypted', async t => {
  const backend = await openBackend({
    kind: 'etcd', servers: [etcd.url], ca: authority.certificate, certificate: client.certificate, key: client.key
  })
  const watch = new Observed(backend, '/', '0', await backend.revision())
  const result = await backend.create('/a', Buffer.from('x'))
  t.ok(result.succeeded)
  await watch.upTo(result.revision)
  t.equal(watch.events.length, 1)
  t.ok((await backend.status()).size > 0)
  await backend.close()
})

t.test(
  'leases and compaction, which have a connection of their own, ask a server for its name or for none', async t => {
    const { port } = new URL(etcd.url)
    for (const host of ['127.0.0.1', 'localhost']) {
      const backend = await openBackend({
        kind: 'etcd',
        servers: [`https://${host}:${port}`],
        ca: authority.certificate,
        certificate: client.certificate,
        key: client.key
      })
      t.match(await backend.lease(60), /./, host)
      await backend.close()
    }
  }
)

t.test('a server at an address that its certificate does not name is not trusted', async t => {
  const line = await Line.to(t, Number(new URL(etcd.url).port), '127.0.0.2')
  const backend = await openBackend({
    kind: 'etcd',
    servers: [`https://127.0.0.2:${line.port}`],
    ca: authority.certificate,
    certificate: client.certificate,
    key: client.key,
    healthcheckTimeout: 400
  })
  await t.rejects(backend.status(), { code: 'Unavailable', message: /127\.0\.0\.2 is not in the cert's list/ })
  await t.rejects(backend.lease(60), { code: 'Unavailable', message: /127\.0\.0\.2 is not in the cert's list/ })
  await backend.close()
})

for (const [what, options] of [
  ['without a client certificate', { ca: authority.certificate }],
  [
    'with the certificate of a stranger',
    { ca: authority.certificate, certificate: stranger.certificate, key: stranger.key }
  ],
  [
    'with an authority that did not sign the server',
    { ca: stranger.certificate, certificate: client.certificate, key: client.key }
  ]
] as const) {
  t.test(`${what} nothing is written and the health check fails in time`, async t => {
    const backend = await openBackend({ kind: 'etcd', servers: [etcd.url], healthcheckTimeout: 400, ...options })
    await t.rejects(backend.status(), { code: 'Unavailable', message: /certificate|handshake|SSL|closed/i })
    await t.rejects(backend.create('/b', Buffer.from('x')), { code: 'Unavailable' })
    await backend.close()
  })
}

t.test(
  'a renewed client certificate is used for the next connection, of leases too, ' +
  'and the last one stays while the files do not fit',
  async t => {
    const folder = t.testdir({
      'ca.crt': authority.certificate, 'client.crt': client.certificate, 'client.key': client.key
    })
    const line = await Line.to(t, etcd.port)
    const { options } = await configuration(checkedFlags([
      `--etcd-servers=https://127.0.0.1:${line.port}`, `--etcd-cafile=${folder}/ca.crt`,
      `--etcd-certfile=${folder}/client.crt`, `--etcd-keyfile=${folder}/client.key`, '--etcd-healthcheck-timeout=2s'
    ]))
    const notes: string[] = []
    const backend = await openBackend(Object.assign(
      {}, options.storage as BackendOptions, { note: (text: string) => { notes.push(text) } }
    ))
    t.teardown(() => backend.close())
    await backend.status()
    await backend.lease(60)
    const replace = (name: string, text: string): void => { writeFileSync(join(folder, name), text) }

    replace('client.crt', stranger.certificate)
    t.ok(await backend.status(), 'an open connection stays')
    line.cut()
    await backend.status()
    await backend.status()
    await backend.lease(60)
    t.match(notes, [
      /^the client certificate for etcd is not renewed: [^\n]*client\.crt with [^\n]*client\.key: the private key does not belong to the first certificate$/
    ])
    t.equal(notes.length, 1, 'noted once')

    replace('client.key', stranger.key)
    line.cut()
    await t.rejects(backend.lease(60), { code: 'Unavailable' })
    await t.rejects(backend.status(), { code: 'Unavailable' }, 'the pair of a stranger is used, and refused by etcd')

    replace('client.crt', renewed.certificate)
    replace('client.key', renewed.key)
    await backend.status()
    t.match(await backend.lease(60), /./)
    t.equal(notes.length, 1)
  }
)

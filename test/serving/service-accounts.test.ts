import t from 'tap'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkedFlags, configuration } from '../../config/options.js'
import { authorityOf, withServiceAccountKey } from '../../serving/service-accounts.js'
import { createFile } from '../../files/atomic-files.js'
import { authority } from './authority.js'

const CHAIN = authority('self').certificate

async function complete (...args: string[]) {
  const parsed = checkedFlags(args)
  const { options, notes, warnings } = withServiceAccountKey((await configuration(parsed)).options, parsed, CHAIN)
  return { ...options.authentication?.serviceAccounts, notes: [...notes, ...warnings] }
}

t.test('a key is made once, for its owner alone, and found again', async t => {
  const folder = t.testdir()
  const args = [`--cert-dir=${folder}/certs`, `--data-dir=${folder}/data`]
  const first = await complete(...args)
  t.match(first.notes, [/^wrote a key for tokens of service accounts to .*\/certs\/service-account.key$/])
  t.equal(statSync(join(folder, 'certs/service-account.key')).mode & 0o777, 0o600)
  t.same(readdirSync(join(folder, 'certs')), ['service-account.key'], 'and nothing is left beside it')
  const second = await complete(...args)
  t.equal(second.signingKey, first.signingKey)
  t.same(second.notes, [])
  t.equal(second.certificateAuthority, CHAIN)
})

t.test('of two concurrent creators of the file the first wins', async t => {
  const path = join(t.testdir(), 'k')
  t.ok(createFile(path, 'one', 0o600))
  t.notOk(createFile(path, 'two', 0o600))
  t.equal(readFileSync(path, 'utf8'), 'one')
})

t.test('a broken key is replaced, and this is logged', async t => {
  const folder = t.testdir({ 'service-account.key': 'half a k' })
  const { notes, signingKey } = await complete(`--cert-dir=${folder}`, `--data-dir=${folder}/data`)
  t.match(notes, [/unusable \(it has no private key in PEM\): wrote a new one.*are refused/])
  t.equal(readFileSync(join(folder, 'service-account.key'), 'utf8'), signingKey)
})

t.test('where none can be kept it lasts as long as the server; a folder that was named must do', async t => {
  const pair = authority().issue({ commonName: 'server', uses: ['server'] })
  const folder = t.testdir({ file: '', crt: pair.certificate, key: pair.key })
  const tls = [`--tls-cert-file=${folder}/crt`, `--tls-private-key-file=${folder}/key`]
  await t.rejects(
    complete(`--cert-dir=${folder}/file/below`, `--data-dir=${folder}/data`),
    /^--cert-dir=.*cannot keep a key.*--service-account-key-file/
  )
  writeFileSync(`${folder}/orch-data`, '')
  const before = process.cwd()
  process.chdir(folder) // the default data folder is relative to it
  t.teardown(() => { process.chdir(before) })
  t.match(await complete('--cert-dir=', ...tls, '--etcd-servers=http://a:1'), {
    signingKey: /PRIVATE KEY/, notes: [/cannot be kept in .*good until this server ends/]
  })
})

t.test('beside a given certificate nothing is written into --cert-dir, and a key from before is used', async t => {
  const pair = authority().issue({ commonName: 'server', uses: ['server'] })
  const folder = t.testdir({ crt: pair.certificate, key: pair.key, certs: {}, older: {} })
  const tls = [`--tls-cert-file=${folder}/crt`, `--tls-private-key-file=${folder}/key`, `--data-dir=${folder}/data`]
  const first = await complete(...tls, `--cert-dir=${folder}/certs`)
  t.match(first.notes, [/^wrote a key for tokens of service accounts to .*\/data\/certs\/service-account.key$/])
  t.same(readdirSync(join(folder, 'certs')), [])
  t.equal((await complete(...tls, `--cert-dir=${folder}/certs`)).signingKey, first.signingKey)
  const before = await complete(`--cert-dir=${folder}/older`, `--data-dir=${folder}/data`)
  t.equal((await complete(...tls, `--cert-dir=${folder}/older`)).signingKey, before.signingKey)
})

t.test('beside etcd the log says that the key is of this server alone', async t => {
  const folder = t.testdir()
  t.match((await complete(`--cert-dir=${folder}`, '--etcd-servers=http://a:1')).notes, [
    /^wrote/, /this server alone.*--service-account-signing-key-file/
  ])
})

t.test('keys that flags name are those there are', async t => {
  const folder = t.testdir({ key: authority().key })
  const { signingKey, notes, verificationKeys } = await complete(
    `--cert-dir=${folder}`, `--data-dir=${folder}/data`, `--service-account-key-file=${folder}/key`
  )
  t.same([signingKey, notes, verificationKeys?.length], [undefined, [], 1])
  t.same(readdirSync(folder), ['key'])
})

t.test('the authority of a certificate is the root of its chain, or its issuer in the CA file', async t => {
  const root = authority('root')
  const leaf = root.issue({ commonName: 'leaf', uses: ['server'] }).certificate
  t.equal(authorityOf(root.certificate), root.certificate)
  t.equal(authorityOf(`${leaf}${root.certificate}`), root.certificate)
  t.equal(
    authorityOf(leaf, `${authority('other').certificate}${authority('root').certificate}${root.certificate}`),
    root.certificate
  )
  t.equal(authorityOf(leaf, authority('other').certificate), undefined)
  t.equal(authorityOf(leaf), undefined)
})

import t from 'tap'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TlsFiles } from '../../clients/tls-files.js'
import { authority } from '../serving/authority.js'

t.test('files are checked again after ten seconds, and broken ones change nothing', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-tls-files-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const paths = {
    authority: join(folder, 'ca.crt'), certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key')
  }
  const write = (): void => {
    const own = authority()
    const pair = own.issue({ commonName: 'c', uses: ['client'] })
    writeFileSync(paths.authority, own.certificate)
    writeFileSync(paths.certificate, pair.certificate)
    writeFileSync(paths.key, pair.key)
  }
  write()
  let now = 0
  const files = new TlsFiles(paths, () => now)
  await files.load()
  const first = await files.current()
  write()
  now = 9999
  t.equal(await files.current(), first)
  now = 10_000
  const second = await files.current()
  t.not(second, first)
  now = 20_000
  t.equal(await files.current(), second, 'the same files are the same context')
  for (const broken of [() => { writeFileSync(paths.key, 'no key') }, () => { rmSync(paths.certificate) }]) {
    broken()
    now += 10_000
    t.equal(await files.current(), second)
  }
  write()
  now += 10_000
  t.not(await files.current(), second)
})

t.test('files that never were a valid pair are an error with its reason', async t => {
  const own = authority()
  const other = authority()
  const folder = mkdtempSync(join(tmpdir(), 'orch-tls-files-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  await t.rejects(new TlsFiles({ certificate, key }).load(), {
    code: 'Config', message: /tls\.crt cannot be read: there is no such file/
  })
  writeFileSync(certificate, own.certificate)
  writeFileSync(key, other.key)
  await t.rejects(new TlsFiles({ certificate, key }).load(), {
    code: 'Config', message: /^the CA bundle, certificate and key do not fit: /
  })
  t.equal(new TlsFiles({}).verifies, false)
  await t.resolves(new TlsFiles({}).load())
})

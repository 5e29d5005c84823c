import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ClientCertificate } from '../../clients/client-certificate.js'
import { authority } from '../serving/authority.js'

const ca = authority()
const issue = (commonName: string) => ca.issue({ commonName, names: [], uses: ['client'] })

t.test('changed files are read again, and unusable ones leave the current pair', async t => {
  const [first, second] = [issue('first'), issue('second')]
  const folder = t.testdir({ crt: first.certificate, key: first.key })
  const [certificate, key] = [join(folder, 'crt'), join(folder, 'key')]
  let now = 0
  const client = new ClientCertificate({ certificate: { path: certificate }, key: { path: key } }, () => now)
  const pair = await client.current()
  t.same(pair, { cert: first.certificate, key: first.key })
  writeFileSync(certificate, second.certificate)
  t.equal(await client.current(), pair, 'they were read a moment ago')
  now += 10_001
  t.equal(await client.current(), pair, 'the key does not fit yet')
  writeFileSync(key, second.key)
  t.equal(client.current(), pair, 'synchronously, as they were read a moment ago')
  now += 10_001
  t.same(await client.current(), { cert: second.certificate, key: second.key })
})

t.test('without files there is no certificate; a pair that does not match is an error', async t => {
  t.same(new ClientCertificate().current(), { cert: undefined, key: undefined })
  const [first, second] = [issue('first'), issue('second')]
  await t.rejects(
    async () =>
      await new ClientCertificate({ certificate: { data: first.certificate }, key: { data: second.key } }).current(),
    { code: 'Config', message: /^the client certificate and its key do not fit: / }
  )
  await t.rejects(
    async () => await new ClientCertificate({ certificate: { path: '/none/crt' }, key: { data: first.key } }).current(),
    { code: 'Config', message: '/none/crt cannot be read: there is no such file' }
  )
})

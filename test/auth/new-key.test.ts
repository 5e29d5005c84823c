import t from 'tap'
import { execFileSync } from 'node:child_process'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { resolve } from 'node:path'
import { newKeyPair } from '../../auth/new-key.js'

const root = resolve(import.meta.dirname, '../../..')

t.test('a pair belongs together and is new each time', async t => {
  const { privateKey, publicKey } = newKeyPair()
  const derived = createPublicKey(createPrivateKey(privateKey))
  t.same(derived.export({ type: 'spki', format: 'der' }), publicKey)
  t.match(derived, { asymmetricKeyType: 'ec', asymmetricKeyDetails: { namedCurve: 'prime256v1' } })
  t.not(newKeyPair().privateKey, privateKey)
})

t.test('no other module of the server makes pairs, as Node 20 may hang with their KeyObjects', async t => {
  const found = execFileSync(
    'git', ['grep', '--untracked', '-lE', 'generateKeyPair|subtle\\.generateKey', '--', '*.ts', ':!test', ':!examples'],
    { cwd: root, encoding: 'utf8' }
  )
  t.same(found.trim().split('\n'), ['auth/new-key.ts'])
})

/** Configurations of encryption that name wildcards, or change while the server runs. */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EncryptionOptions } from '../../../schemas/api/apiserver/encryption.js'
import { openBackend } from '../../../storage/open.js'
import { until } from '../../interop/server.js'
import { configurationOf, key } from './configured.js'
import { secret, SECRETS, serve, storedAt, textOf } from './server.js'

const ONE = { aesgcm: { keys: [key('one', 1)] } }
const TWO = { aescbc: { keys: [key('two', 2)] } }
const MAPS = '/api/v1/namespaces/default/configmaps'
const LEASES = '/apis/coordination.orch.io/v1/namespaces/default/leases'

t.test('wildcards stand for the resources of a group, after those that are named', async t => {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  const server = await serve(t, store, {
    resources: [
      { resources: ['secrets'], providers: [ONE] },
      { resources: ['*.'], providers: [TWO] },
      { resources: ['*.*'], providers: [{ identity: {} }] }
    ]
  })
  await server.reach('/readyz', 200)
  await server.post(SECRETS, secret('a', 'the text'))
  await server.post(MAPS, { metadata: { name: 'a' }, data: { text: 'plain' } })
  await server.post(LEASES, { metadata: { name: 'a' }, spec: { holderIdentity: 'somebody' } })
  t.match(await storedAt(store, '/registry/secrets/default/a'), /^orch:enc:aesgcm:v1:one:/)
  t.match(await storedAt(store, '/registry/configmaps/default/a'), /^orch:enc:aescbc:v1:two:/)
  t.match(await storedAt(store, '/registry/leases/default/a'), /somebody/)
  t.equal((await server.get(`${MAPS}/a`)).json['data'].text, 'plain')
})

t.test('a new content encrypts what is written from then on, and an invalid one changes nothing', async t => {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  const path = join(t.testdir(), 'encryption')
  let next: EncryptionOptions = configurationOf([ONE])
  const change = (to: EncryptionOptions): void => {
    next = to
    writeFileSync(path, JSON.stringify(to))
  }
  change(next)
  const read = async (): Promise<EncryptionOptions> => {
    if (next.resources?.length === 0) throw new Error('has no resources')
    return next
  }
  const server = await serve(t, store, next, {}, { encryptionFile: { path, read } })
  await server.reach('/readyz', 200)
  t.equal((await server.get('/readyz/kms-providers')).code, 200)
  const reloads = async (status: string): Promise<string | undefined> =>
    new RegExp(
      'encryption_config_controller_automatic_reloads_total{apiserver_id_hash="sha256:[0-9a-f]{64}",' +
      `status="${status}"} (\\d+)`
    ).exec((await server.get('/metrics')).body)?.[1]
  await server.post(SECRETS, secret('a', 'the text'))
  await server.post(MAPS, { metadata: { name: 'a' }, data: { text: 'plain' } })

  change({ resources: [{ resources: ['secrets', 'configmaps'], providers: [TWO, ONE, { identity: {} }] }] })
  await until('the new providers', async () => await reloads('success') === '1')
  t.equal(textOf((await server.get(`${SECRETS}/a`)).json), 'the text', 'with the old key')
  for (const url of [`${SECRETS}/a`, `${MAPS}/a`]) {
    t.equal((await server.put(url, (await server.get(url)).json)).code, 200)
  }
  t.match(await storedAt(store, '/registry/secrets/default/a'), /^orch:enc:aescbc:v1:two:/)
  t.match(
    await storedAt(store, '/registry/configmaps/default/a'), /^orch:enc:aescbc:v1:two:/, 'a resource that had none'
  )

  change({ resources: [] })
  await until('the refusal', async () => await reloads('failure') === '1')
  t.match(server.log.join(''), /the providers of encryption of .* stay as they are/)
  await server.post(SECRETS, secret('b', 'other'))
  t.match(await storedAt(store, '/registry/secrets/default/b'), /^orch:enc:aescbc:v1:two:/)
})

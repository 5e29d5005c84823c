/** A server whose key service is away, hangs, answers nonsense or comes back. */
import t, { type Test } from 'tap'
import type { Backend } from '../../../storage/backend.js'
import { openBackend } from '../../../storage/open.js'
import { keyServiceOf, type TestKeyService } from '../../key-service.js'
import { configurationOf, type Provider } from './configured.js'
import { secret, SECRETS, serve, storedAt, textOf } from './server.js'

const AT = '/registry/secrets/default/a'
const TIMEOUT = '1500ms'

const kms = (service: TestKeyService, name = 'local', more: object = {}): Provider => ({
  kms: { name, endpoint: service.endpoint, timeout: TIMEOUT, ...more }
})

async function memory (t: Test): Promise<Backend> {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  return store
}

t.test('the service encrypts a key for each value, and keys in memory need no call', async t => {
  const service = await keyServiceOf(t)
  const store = await memory(t)
  const server = await serve(t, store, configurationOf([kms(service)]))
  await server.reach('/readyz', 200)
  const before = { ...service.calls }
  t.equal(before.Version, 1)
  t.equal((await server.post(SECRETS, secret('a', 'the text'))).code, 201)
  t.match(await storedAt(store, AT), /^orch:enc:kms:v1:local:/)
  t.equal(textOf((await server.get(`${SECRETS}/a`)).json), 'the text')
  t.equal(textOf((await server.get(SECRETS)).json['items'][0]), 'the text')
  t.same([service.calls.Encrypt - before.Encrypt, service.calls.Decrypt - before.Decrypt], [1, 0])
  await server.close()

  const again = await serve(t, store, configurationOf([kms(service)]))
  await again.reach('/readyz', 200)
  t.equal(textOf((await again.get(`${SECRETS}/a`)).json), 'the text')
  const { body } = await again.get('/metrics')
  t.match(body, /^apiserver_storage_envelope_transformation_cache_misses_total [1-9]/m)
  t.match(
    body,
    /^apiserver_storage_transformation_operations_total\{transformation_type="from_storage",transformer_prefix="orch:enc:kms:v1:local:",status="OK"\} [1-9]/m
  )
  t.match(body, /^apiserver_storage_data_key_generation_failures_total 0$/m)
})

t.test(
  "events of the server's own writes need no call, even without keys in memory; those of another server do",
  async t => {
    const service = await keyServiceOf(t)
    const store = await memory(t)
    const [one, other] = [
      await serve(t, store, configurationOf([kms(service, 'local', { cachesize: -1 })])),
      await serve(t, store, configurationOf([kms(service, 'local', { cachesize: -1 })]))
    ]
    await one.reach('/readyz', 200)
    await other.reach('/readyz', 200)
    const { Decrypt } = service.calls
    t.equal((await one.post(SECRETS, secret('a', 'the text'))).code, 201)
    t.equal(textOf((await one.get(`${SECRETS}/a`)).json), 'the text')
    t.equal(textOf((await other.get(`${SECRETS}/a`)).json), 'the text')
    t.equal(service.calls.Decrypt - Decrypt, 1)
  }
)

t.test(
  'a service that comes later: the server starts, other types are served, Secrets are when it is there', async t => {
    const service = await keyServiceOf(t)
    const store = await memory(t)
    const first = await serve(t, store, configurationOf([kms(service)]))
    await first.reach('/readyz', 200)
    await first.post(SECRETS, secret('a', 'the text'))
    await first.close()
    await service.stop()

    const server = await serve(t, store, configurationOf([kms(service)]))
    t.equal((await server.get('/api/v1/configmaps')).code, 200)
    t.equal((await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } })).code, 201)
    for (const path of ['/healthz', '/livez', '/readyz']) {
      t.match((await server.get(`${path}?verbose`)).body, /^\[-\]kms-provider-0 failed/m, path)
    }
    t.equal((await server.get('/healthz/kms-provider-0')).code, 500)
    const refused = await server.post(SECRETS, secret('b', 'the text'))
    t.match(
      [refused.code, refused.json['reason'], refused.json['message']],
      [500, 'InternalError', /^Internal error occurred: the key service local failed: /]
    )
    t.equal((await store.get('/registry/secrets/default/b')).kv, undefined, 'nothing is written')
    t.ok((await server.get(`${SECRETS}/a`)).code >= 500)

    await service.start()
    await server.reach(`${SECRETS}/a`, 200)
    await server.reach('/readyz', 200)
    t.equal(textOf((await server.get(`${SECRETS}/a`)).json), 'the text')
    t.equal((await server.post(SECRETS, secret('b', 'the text'))).code, 201)
    t.notMatch(server.log.join(''), /the text|dGhlIHRleHQ/)
  }
)

t.test('without the service values with keys in memory can be read and deleted, and nothing written', async t => {
  const service = await keyServiceOf(t)
  const store = await memory(t)
  const server = await serve(t, store, configurationOf([kms(service)]))
  await server.reach('/readyz', 200)
  await server.post(SECRETS, secret('a', 'the text'))
  await service.stop()
  t.equal(textOf((await server.get(`${SECRETS}/a`)).json), 'the text')
  const { code, json } = await server.patch(`${SECRETS}/a`, { stringData: { text: 'another' } })
  t.match([code, json['reason']], [500, 'InternalError'])
  t.match(
    (await server.get('/metrics')).body,
    /transformation_operations_total\{transformation_type="to_storage",transformer_prefix="orch:enc:kms:v1:local:",status="(?:DeadlineExceeded|Unavailable)"\} 1/
  )
  t.equal((await server.delete(`${SECRETS}/a`)).code, 200)
  t.equal((await store.get(AT)).kv, undefined)
})

t.test('a service that hangs ends a write after its timeout', async t => {
  const service = await keyServiceOf(t)
  const store = await memory(t)
  const server = await serve(t, store, configurationOf([kms(service)]))
  await server.reach('/readyz', 200)
  service.encrypt = async () => await new Promise(() => {})
  const answers = await Promise.all(Array.from(
    { length: 50 }, async (_, at) => await server.post(SECRETS, secret(`a${at}`, 'the text'))
  ))
  t.same(new Set(answers.map(({ code }) => code)), new Set([500]))
  t.equal(await store.count('/registry/secrets/default/', '/registry/secrets/default0'), 0)
})

t.test('answers of another version, empty, too long or of another length', async t => {
  for (const [says, change, code] of [
    ['an empty encrypted key', (service: TestKeyService) => { service.encrypt = () => Buffer.alloc(0) }, 500],
    ['64 KiB', (service: TestKeyService) => { service.encrypt = () => Buffer.alloc(65_536) }, 500],
    ['2 MiB', (service: TestKeyService) => { service.encrypt = () => Buffer.alloc(2_000_000) }, 500],
    ['another version', (service: TestKeyService) => { service.version = 'v2' }, 500]
  ] as const) {
    const service = await keyServiceOf(t)
    const store = await memory(t)
    change(service)
    const server = await serve(t, store, configurationOf([kms(service)]))
    t.equal((await server.post(SECRETS, secret('a', 'the text'))).code, code, says)
    t.equal((await server.get('/healthz/kms-provider-0')).code, 500, says)
    await server.close()
  }
  const service = await keyServiceOf(t)
  const keys = new Map<number, Buffer>()
  service.encrypt = plain => {
    const encrypted = Buffer.alloc(65_535, keys.size + 1)
    keys.set(encrypted[0] ?? 0, plain)
    return encrypted
  }
  service.decrypt = encrypted => keys.get(encrypted[0] ?? 0) ?? Buffer.alloc(0)
  const store = await memory(t)
  const first = await serve(t, store, configurationOf([kms(service)]))
  await first.reach('/readyz', 200)
  t.equal((await first.post(SECRETS, secret('a', 'the text'))).code, 201, 'the longest that fits')
  await first.close()
  const server = await serve(t, store, configurationOf([kms(service)]))
  await server.reach('/readyz', 200)
  t.equal(textOf((await server.get(`${SECRETS}/a`)).json), 'the text')
})

t.test('a service that has lost one key: that object is damaged and can be deleted, the others are served', async t => {
  const service = await keyServiceOf(t)
  const store = await memory(t)
  const first = await serve(t, store, configurationOf([kms(service)]))
  await first.reach('/readyz', 200)
  await first.post(SECRETS, secret('a', 'the text'))
  await first.close()
  service.secret.fill(9)
  const server = await serve(t, store, configurationOf([kms(service)]))
  await server.reach('/readyz', 200)
  t.equal((await server.post(SECRETS, secret('b', 'other'))).code, 201)
  t.match(
    (await server.get(`${SECRETS}/a`)).json['message'],
    /the stored value of \/registry\/secrets\/default\/a is encrypted by kms with the key /
  )
  t.equal((await server.get(`${SECRETS}/b`)).code, 200)
  t.equal((await server.delete(`${SECRETS}/a`)).code, 200)
  await server.reach(SECRETS, 200)
})

t.test('a service that decrypts nonsense fails reads and damages nothing', async t => {
  const service = await keyServiceOf(t)
  const store = await memory(t)
  const first = await serve(t, store, configurationOf([kms(service)]))
  await first.reach('/readyz', 200)
  await first.post(SECRETS, secret('a', 'the text'))
  await first.close()
  const { decrypt } = service
  service.decrypt = () => Buffer.from('nonsense')
  const server = await serve(t, store, configurationOf([kms(service)]))
  t.ok((await server.get(`${SECRETS}/a`)).code >= 500)
  service.decrypt = decrypt
  await server.reach(`${SECRETS}/a`, 200)
})

t.test('services are counted in order of configuration, and each has its check', async t => {
  const [one, two] = [await keyServiceOf(t), await keyServiceOf(t)]
  await two.stop()
  const store = await memory(t)
  const server = await serve(t, store, {
    resources: [
      {
        resources: ['secrets'], providers: [kms(one, 'one', { timeout: '10s' }), kms(two, 'two', { timeout: '300ms' })]
      },
      { resources: ['configmaps'], providers: [kms(one, 'one', { timeout: '10s' })] }
    ]
  })
  t.match(
    (await server.get('/healthz?verbose')).body,
    /^\[\+\]kms-provider-0 ok\n\[-\]kms-provider-1 failed.*\n\[\+\]kms-provider-2 ok$/m
  )
  t.equal((await server.post(SECRETS, secret('a', 'the text'))).code, 201, 'the second is not needed')
})

t.test('a new service with the old one behind it: values of both are read, and rewritten', async t => {
  const [old, young] = [await keyServiceOf(t), await keyServiceOf(t)]
  const store = await memory(t)
  const first = await serve(t, store, configurationOf([kms(old, 'old')]))
  await first.reach('/readyz', 200)
  await first.post(SECRETS, secret('a', 'the text'))
  await first.close()
  const server = await serve(t, store, configurationOf([kms(young, 'young'), kms(old, 'old')]))
  await server.reach('/readyz', 200)
  t.equal((await server.put(`${SECRETS}/a`, (await server.get(`${SECRETS}/a`)).json)).code, 200)
  t.match(await storedAt(store, AT), /^orch:enc:kms:v1:young:/)
})

/**
 * Key services of version 2: the stored form, computed here without the product; keys that change; services that fail.
 */
import t, { type Test } from 'tap'
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import protobuf from 'protobufjs'
import type { Backend } from '../../../storage/backend.js'
import { seedService } from '../../../storage/encryption/key-service-v2.js'
import { openBackend } from '../../../storage/open.js'
import { until } from '../../interop/server.js'
import { keyServiceOf, type TestKeyService } from '../../key-service.js'
import { configurationOf, encrypted, type Provider } from './configured.js'
import { encryptedContract } from './contract.js'
import { secret, SECRETS, serve, storedAt, textOf } from './server.js'

const AT = '/registry/secrets/default/a'
const PREFIX = Buffer.from('orch:enc:kms:v2:local:')
const TEXT = Buffer.from('orch\0\n\r{"kind":"Secret"}')
const Stored = protobuf.parse(`syntax = "proto3";
message EncryptedObject {
  bytes encryptedData = 1;
  string keyID = 2;
  bytes encryptedDEKSource = 3;
  map<string, bytes> annotations = 4;
  int32 encryptedDEKSourceType = 5;
}`)
  .root.lookupType('EncryptedObject')

interface Fields {
  encryptedData: Buffer
  keyID: string
  encryptedDEKSource: Buffer
  annotations: Record<string, Buffer>
  encryptedDEKSourceType: number
}

const kms = (service: TestKeyService): Provider => ({
  kms: { apiVersion: 'v2', name: 'local', endpoint: service.endpoint, timeout: '1500ms' }
})

async function memory (t: Test): Promise<Backend> {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  return store
}

const fieldsOf = async (store: Backend): Promise<Fields> => {
  const stored = Buffer.from((await store.get(AT)).kv?.value ?? '')
  t.equal(stored.subarray(0, PREFIX.length).toString(), PREFIX.toString())
  return Stored.toObject(Stored.decode(stored.subarray(PREFIX.length)), { bytes: Buffer, defaults: true }) as Fields
}

/** The first block of HKDF's expansion. */
const derived = (seed: Buffer, info: Buffer): Buffer =>
  createHmac('sha256', seed).update(Buffer.concat([info, Buffer.from([1])])).digest()

function sealed (key: Buffer, text: Buffer): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(AT))
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()])
}

const service = await keyServiceOf(t)
await t.test('the contract of back ends', async t => {
  await encryptedContract(t, memory.bind(undefined, t), kms(service))
})

t.test('what is stored: 32 bytes, from which and the seed the key is derived, then nonce, text and tag', async t => {
  const service = await keyServiceOf(t)
  const store = await memory(t)
  const backend = await encrypted(t, store, [kms(service)])
  t.match(await backend.create(AT, TEXT), { succeeded: true })
  const { encryptedData, keyID, encryptedDEKSource, annotations, encryptedDEKSourceType } = await fieldsOf(store)
  t.strictSame([keyID, encryptedDEKSourceType, annotations], ['key-1', 1, { 'local.example.com': Buffer.from('note') }])
  const seed = await service.decrypt(encryptedDEKSource)
  t.equal(seed.length, 32)
  const key = derived(seed, encryptedData.subarray(0, 32))
  t.strictSame(key.length, 32)
  const decipher = createDecipheriv('aes-256-gcm', key, encryptedData.subarray(32, 44))
    .setAAD(Buffer.from(AT))
    .setAuthTag(encryptedData.subarray(-16))
  t.equal(
    Buffer.concat([decipher.update(encryptedData.subarray(44, -16)), decipher.final()]).toString(), TEXT.toString()
  )
  t.notSame(
    key, Buffer.from(hkdfSync('sha256', seed, '', encryptedData.subarray(0, 32), 32)), 'expansion without extraction'
  )
})

t.test(
  'what another server stored is read, with the key of its value and with a seed; the first is outdated', async t => {
    const service = await keyServiceOf(t)
    const store = await memory(t)
    const [secretKey, seed, info] = [randomBytes(32), randomBytes(32), randomBytes(32)]
    const put = async (
      key: Buffer, encryptedDEKSourceType: number, encryptedData: Buffer, more: object = {}
    ): Promise<void> => {
      const encryptedDEKSource = await service.encrypt(key)
      const message = Stored.encode(Stored.create({
        encryptedData,
        keyID: 'key-1',
        encryptedDEKSource,
        encryptedDEKSourceType,
        annotations: { 'a.b': Buffer.from('c') },
        ...more
      })).finish()
      const { kv } = await store.get(AT)
      if (kv !== undefined) await store.delete(AT, kv.modRevision)
      await store.create(AT, Buffer.concat([PREFIX, message]))
    }
    const backend = await encrypted(t, store, [kms(service)])
    const read = async (): Promise<string> => {
      const { kv } = await backend.get(AT)
      return kv?.damage?.code ?? Buffer.from(kv?.value ?? '').toString()
    }
    await put(secretKey, 0, sealed(secretKey, TEXT))
    t.equal(await read(), TEXT.toString())
    t.match(
      service.asked.at(-1), { keyId: 'key-1', annotations: { 'a.b': Buffer.from('c') }, uid: /^[0-9a-f-]{36}$/ },
      'the service gets what was stored beside the key'
    )
    await put(seed, 1, Buffer.concat([info, sealed(derived(seed, info), TEXT)]))
    t.equal(await read(), TEXT.toString())
    for (const [what, key, type, data, more] of [
      ['another text', seed, 1, Buffer.concat([info, sealed(derived(seed, randomBytes(32)), TEXT)]), {}],
      ['too short', seed, 1, randomBytes(20), {}],
      ['no data', seed, 1, Buffer.alloc(0), {}],
      ['no key', seed, 1, randomBytes(90), { encryptedDEKSource: Buffer.alloc(0) }],
      ['no name of a key', seed, 1, randomBytes(90), { keyID: '' }],
      ['another kind', seed, 2, Buffer.concat([info, sealed(derived(seed, info), TEXT)]), {}]
    ] as const) {
      await put(key, type, data, more)
      t.equal(await read(), 'Undecryptable', what)
    }
  }
)

t.test(
  'one seed serves all values, until the service has another key; older values are read and rewritten', async t => {
    const service = await keyServiceOf(t)
    const store = await memory(t)
    const server = await serve(t, store, configurationOf([kms(service)]))
    await server.reach('/readyz', 200)
    for (const name of ['a', 'b', 'c']) t.equal((await server.post(SECRETS, secret(name, 'the text'))).code, 201)
    t.strictSame([service.calls.Encrypt, service.calls.Decrypt, service.calls.Version], [1, 0, 0])
    t.match(await storedAt(store, AT), /^orch:enc:kms:v2:local:/)
    t.equal(textOf((await server.get(`${SECRETS}/a`)).json), 'the text')
    await server.close()

    service.status = { ...service.status, keyId: 'key-2' }
    const again = await serve(t, store, configurationOf([kms(service)]))
    await again.reach('/readyz', 200)
    t.equal(textOf((await again.get(`${SECRETS}/a`)).json), 'the text')
    t.equal((await fieldsOf(store)).keyID, 'key-1')
    const { json } = await again.get(`${SECRETS}/a`)
    t.equal((await again.put(`${SECRETS}/a`, json)).code, 200)
    t.equal((await fieldsOf(store)).keyID, 'key-2', 'a write that changes nothing stores the newer form')
    const { body } = await again.get('/metrics')
    t.match(
      body,
      /transformation_operations_total\{transformation_type="to_storage",transformer_prefix="orch:enc:kms:v2:local:",status="OK"\} [1-9]/
    )
    const [former, newer] = ['key-1', 'key-2'].map(id => `sha256:${createHash('sha256').update(id).digest('hex')}`)
    const series = (name: string, ...labels: string[]): RegExp => new RegExp(
      `^apiserver_envelope_encryption_${name}\\{${labels.join()}(,apiserver_id_hash="sha256:[0-9a-f]{64}")?\\} [1-9]`,
      'm'
    )
    const provider = 'provider_name="local"'
    for (const [direction, hash] of [['from_storage', former], ['to_storage', newer]]) {
      const use = [`transformation_type="${direction}"`, provider, `key_id_hash="${hash}"`]
      for (const name of ['key_id_hash_total', 'key_id_hash_last_timestamp_seconds']) {
        t.match(body, series(name, ...use))
      }
    }
    t.match(body, series('key_id_hash_status_last_timestamp_seconds', provider, `key_id_hash="${newer}"`))
    t.match(body, series('dek_source_cache_size', provider))
    for (const method of ['Status', 'Encrypt', 'Decrypt']) {
      t.match(
        body,
        series(
          'kms_operations_latency_seconds_count', provider, `method_name="/v2.KeyManagementService/${method}"`,
          'grpc_status_code="OK"'
        )
      )
    }
  }
)

t.test('the key of the service is followed while it runs, one question at a time', async t => {
  const service = await keyServiceOf(t)
  const made: Array<number | undefined> = []
  const seeds = seedService({
    name: 'local', path: service.path, timeout: 1500, generated: seconds => { made.push(seconds) }, interval: 5
  })
  t.teardown(() => { seeds.close() })
  const [one, other] = await Promise.all([seeds.current(), seeds.current()])
  t.equal(one, other)
  t.equal(service.calls.Encrypt, 1)
  service.status = { ...service.status, keyId: 'key-2' }
  service.encrypted = { keyId: 'key-1' }
  await until('a question', async () => service.calls.Encrypt > 1)
  t.equal(await seeds.current(), one, 'while it encrypts with another key than it says')
  service.encrypted = {}
  await until('the other key', async () => seeds.keyId() === 'key-2')
  t.not(await seeds.current(), one)
  t.ok(made.length >= 3 && made.every(seconds => seconds !== undefined))
})

t.test(
  'a service that is away: nothing is written, other types are served, and all goes on when it is there', async t => {
    const service = await keyServiceOf(t, false)
    const store = await memory(t)
    const server = await serve(t, store, configurationOf([kms(service)]))
    t.match((await server.get('/readyz?verbose')).body, /^\[-\]kms-provider-0 failed/m)
    t.match(await server.post(SECRETS, secret('a', 'the text')), {
      code: 500, json: { reason: 'InternalError', message: /the key service local failed: Status/ }
    })
    t.equal((await store.get(AT)).kv, undefined)
    t.equal((await server.get('/api/v1/configmaps')).code, 200)
    await service.start()
    await server.reach('/readyz', 200)
    t.equal((await server.post(SECRETS, secret('a', 'the text'))).code, 201)
    await service.stop()
    t.equal((await server.post(SECRETS, secret('b', 'the text'))).code, 201, 'a seed serves some minutes longer')
    t.equal(textOf((await server.get(`${SECRETS}/a`)).json), 'the text')
  }
)

t.test('a service that decrypts nothing for a while damages no object', async t => {
  const service = await keyServiceOf(t)
  const store = await memory(t)
  const first = await serve(t, store, configurationOf([kms(service)]))
  await first.reach('/readyz', 200)
  await first.post(SECRETS, secret('a', 'the text'))
  await first.close()
  const { decrypt } = service
  for (const broken of [() => { throw new Error('its error is no outage') }, () => Buffer.alloc(31)]) {
    service.decrypt = broken
    const server = await serve(t, store, configurationOf([kms(service)]))
    t.ok((await server.get(`${SECRETS}/a`)).code >= 500)
    t.not((await server.delete(`${SECRETS}/a`)).code, 200, 'nor lets it be deleted as damaged')
    service.decrypt = decrypt
    await server.reach(`${SECRETS}/a`, 200)
    t.equal(textOf((await server.get(`${SECRETS}/a`)).json), 'the text')
    await server.close()
  }
})

t.test('a service that decrypts to wrong keys for a while damages no object, and none of them is kept', async t => {
  for (const version of ['v1', 'v2']) {
    const service = await keyServiceOf(t)
    const store = await memory(t)
    const provider = { kms: { apiVersion: version, name: 'local', endpoint: service.endpoint } }
    await (await encrypted(t, store, [provider])).create(AT, TEXT)
    const { decrypt } = service
    service.decrypt = () => randomBytes(32)
    const backend = await encrypted(t, store, [provider])
    await t.rejects(
      Promise.resolve(backend.get(AT)), { message: /decrypts to another (key|text) than it encrypted/ }, version
    )
    service.decrypt = decrypt
    const { kv } = await backend.get(AT)
    t.equal(Buffer.from(kv?.value ?? '').toString(), TEXT.toString(), version)
    service.decrypt = () => { throw new Error('it is not asked again') }
    t.match(await backend.get(AT), { kv: { damage: undefined } }, 'the right key is kept')
  }
})

t.test('a service that has lost one key: that object is damaged, the others are served', async t => {
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
  t.match((await server.get(`${SECRETS}/a`)).json['message'], /does not decrypt it/)
  t.equal((await server.delete(`${SECRETS}/a`)).code, 200)
})

t.test('an answer of many small parts is refused unread', async t => {
  const service = await keyServiceOf(t)
  service.encrypted = {
    annotations: Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`a${at}.b`, Buffer.alloc(0)]))
  }
  const seeds = seedService({ name: 'local', path: service.path, timeout: 3000, generated: () => {} })
  t.teardown(() => { seeds.close() })
  t.match(await seeds.check().catch((error: unknown) => error), { status: 'ResourceExhausted' })
})

t.test('answers that cannot be used', async t => {
  for (const [what, change] of [
    ['another version', service => { service.status = { ...service.status, version: 'v1beta1' } }],
    ['it does not work', service => { service.status = { ...service.status, healthz: 'the text' } }],
    ['no key', service => { service.status = { ...service.status, keyId: '' } }],
    ['a long name of a key', service => { service.status = { ...service.status, keyId: 'k'.repeat(1025) } }],
    ['an empty encrypted key', service => { service.encrypt = () => Buffer.alloc(0) }],
    ['a long encrypted key', service => { service.encrypt = () => Buffer.alloc(1025) }],
    [
      'notes that are not named by domains',
      service => { service.encrypted = { annotations: { note: Buffer.alloc(0) } } }
    ],
    ['large notes', service => { service.encrypted = { annotations: { 'a.b': Buffer.alloc(33_000) } } }]
  ] as ReadonlyArray<readonly [string, (service: TestKeyService) => void]>) {
    const service = await keyServiceOf(t)
    change(service)
    const server = await serve(t, await memory(t), configurationOf([kms(service)]))
    t.equal((await server.post(SECRETS, secret('a', 'the text'))).code, 500, what)
    t.equal((await server.get('/healthz/kms-provider-0')).code, 500, what)
    t.notMatch(server.log.join(''), /the text/, what)
    const how = { 'no key': 'empty', 'a long name of a key': 'too_long' }[what]
    if (how !== undefined) {
      t.match(
        (await server.get('/metrics')).body, `invalid_key_id_from_status_total{provider_name="local",error="${how}"} `
      )
    }
    await server.close()
  }
})

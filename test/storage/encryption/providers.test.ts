/** Order of providers and keys, values that are read and no longer written, and values that cannot be decrypted. */
import t, { type Test } from 'tap'
import type { Backend } from '../../../storage/backend.js'
import { openEncryption } from '../../../storage/encryption/index.js'
import { openBackend } from '../../../storage/open.js'
import { keyServiceOf } from '../../key-service.js'
import { configurationOf, encrypted, key, type Provider } from './configured.js'

const AT = '/registry/secrets/default/one'
const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value).toString()

async function memory (t: Test): Promise<Backend> {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  return store
}

/** Creates a value through one configuration, or replaces an existing one. */
async function write (t: Test, store: Backend, providers: readonly Provider[], value: string, at = AT): Promise<void> {
  const backend = await encrypted(t, store, providers)
  const { kv } = await store.get(at)
  t.match(
    kv === undefined
      ? await backend.create(at, Buffer.from(value))
      : await backend.update(at, Buffer.from(value), kv.modRevision),
    { succeeded: true }
  )
}

async function read (
  t: Test, store: Backend, providers: readonly Provider[], at = AT
): Promise<{ value: string | undefined, outdated: boolean | undefined, damage: string | undefined }> {
  const backend = await encrypted(t, store, providers)
  const { kv } = await backend.get(at)
  return { value: text(kv?.value), outdated: await backend.outdated?.(at), damage: kv?.damage?.message }
}

const stored = async (store: Backend, at = AT): Promise<string> =>
  Buffer.from((await store.get(at)).kv?.value ?? '').toString('latin1')

const gcm = (...keys: Array<ReturnType<typeof key>>): Provider => ({ aesgcm: { keys } })
const cbc = (...keys: Array<ReturnType<typeof key>>): Provider => ({ aescbc: { keys } })
const box = (...keys: Array<ReturnType<typeof key>>): Provider => ({ secretbox: { keys } })

t.test('the first key of the first provider writes, and all read', async t => {
  const store = await memory(t)
  await write(t, store, [gcm(key('a', 1), key('b', 2)), cbc(key('c', 3))], 'text')
  t.match(await stored(store), /^orch:enc:aesgcm:v1:a:/)
  t.same(await read(t, store, [gcm(key('a', 1))]), { value: 'text', outdated: false, damage: undefined })
  for (const providers of [
    [gcm(key('b', 2), key('a', 1))],
    [cbc(key('c', 3)), gcm(key('a', 1))],
    [{ identity: {} }, gcm(key('b', 2)), gcm(key('a', 1))]
  ]) {
    t.same(await read(t, store, providers), { value: 'text', outdated: true, damage: undefined })
  }
})

t.test('keys rotate: both keys read, the first one writes, the old one can be removed', async t => {
  const store = await memory(t)
  for (const provider of [gcm, cbc, box]) {
    await write(t, store, [provider(key('old', 1))], 'text')
    t.match(await read(t, store, [provider(key('old', 1), key('new', 2))]), { value: 'text', outdated: false })
    t.match(await read(t, store, [provider(key('new', 2), key('old', 1))]), { value: 'text', outdated: true })
    await write(t, store, [provider(key('new', 2), key('old', 1))], 'text')
    t.match(await read(t, store, [provider(key('new', 2))]), { value: 'text', outdated: false })
  }
})

t.test(
  'plain values are read where identity is among the providers, and are outdated unless it is the first', async t => {
    const store = await memory(t)
    await store.create(AT, Buffer.from('plain'))
    t.match(await read(t, store, [gcm(key('a', 1)), { identity: {} }]), { value: 'plain', outdated: true })
    t.match(await read(t, store, [{ identity: {} }, gcm(key('a', 1))]), { value: 'plain', outdated: false })
    t.match(await read(t, store, [gcm(key('a', 1))]), {
      value: '',
      damage:
      `the stored value of ${AT} is not encrypted, and its resource has no provider identity: add it to the ` +
      'encryption configuration'
    })
  }
)

t.test('two keys of one name, of which the second reads the value', async t => {
  const store = await memory(t)
  await write(t, store, [gcm(key('a', 2))], 'text')
  t.same(await read(t, store, [gcm(key('a', 1)), gcm(key('a', 2))]), {
    value: 'text', outdated: true, damage: undefined
  })
})

t.test('the longest name that is a prefix is tried first', async t => {
  const store = await memory(t)
  for (let at = 0; at < 600; at++) await write(t, store, [cbc(key('a:b', 2))], `text ${at}`, `${AT}-${at}`)
  // one in 256 would decrypt to garbage
  for (let at = 0; at < 600; at++) {
    t.equal((await read(t, store, [cbc(key('a', 1)), cbc(key('a:b', 2))], `${AT}-${at}`)).value, `text ${at}`)
  }
})

t.test('aesgcm refuses a value that was copied to another key', async t => {
  const store = await memory(t)
  await write(t, store, [gcm(key('a', 1))], 'text')
  await store.create('/registry/secrets/other/one', (await store.get(AT)).kv?.value ?? Buffer.alloc(0))
  t.match(await read(t, store, [gcm(key('a', 1))], '/registry/secrets/other/one'), {
    value: '',
    damage:
      /\/other\/one is encrypted by aesgcm with the key "a", and the configured key of that name does not decrypt it/
  })
})

t.test('damaged, truncated and foreign values are damage, which names the object and nothing of it', async t => {
  const service = await keyServiceOf(t)
  const kms: Provider = { kms: { name: 'local', endpoint: service.endpoint } }
  for (const [provider, authenticated] of [
    [gcm(key('a', 1)), true], [box(key('a', 1)), true], [cbc(key('a', 1)), false], [kms, false]
  ] as const) {
    const store = await memory(t)
    const backend = await encrypted(t, store, [provider])
    await backend.create(AT, Buffer.from('the secret text'))
    const whole = (await store.get(AT)).kv?.value ?? Buffer.alloc(0)
    const prefix = Buffer.from(whole).indexOf(provider === kms ? 'local:' : 'a:')
    for (let length = 1; length < whole.length; length++) {
      const at = `${AT}/${length}`
      await store.create(at, whole.subarray(0, length))
      const { kv } = await backend.get(at)
      t.equal(kv?.damage?.code, 'Undecryptable', `${length} of ${whole.length} bytes`)
      t.equal(kv?.damage?.key, at)
      t.notMatch(`${kv?.damage?.message ?? ''} ${String(kv?.damage?.cause)}`, /secret text/)
    }
    if (!authenticated) continue
    for (let at = prefix; at < whole.length; at++) {
      const flipped = Buffer.from(whole)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      await store.create(`${AT}/flipped/${at}`, flipped)
      t.equal((await backend.get(`${AT}/flipped/${at}`)).kv?.damage?.code, 'Undecryptable', `byte ${at}`)
    }
  }
})

t.test('a damaged value stops neither a list nor its deletion', async t => {
  const store = await memory(t)
  await write(t, store, [gcm(key('a', 1))], 'a', '/s/a')
  await write(t, store, [gcm(key('other', 2))], 'b', '/s/b')
  await write(t, store, [gcm(key('a', 1))], 'c', '/s/c')
  const backend = await encrypted(t, store, [gcm(key('a', 1))])
  const { kvs, count } = await backend.list({ start: '/s/', end: '/s0' })
  t.same(kvs.map(({ key, value, damage }) => [key, text(value), damage?.code]), [
    ['/s/a', 'a', undefined], ['/s/b', '', 'Undecryptable'], ['/s/c', 'c', undefined]
  ])
  t.equal(count, 3)
  t.match(await backend.delete('/s/b', kvs[1]?.modRevision ?? 0), { succeeded: true })
})

t.test('several entries of one resource have the providers of all, in order', async t => {
  const store = await memory(t)
  const [one] = configurationOf([gcm(key('a', 1))], ['secrets', 'configmaps']).resources ?? []
  const [other] = configurationOf([cbc(key('b', 2))], ['secrets', 'things.example.com']).resources ?? []
  const encryption = await openEncryption({
    ...configurationOf([]), resources: [one, other] as NonNullable<typeof one>[]
  })
  const write = async (group: string, plural: string): Promise<string> => {
    await encryption.of(group, plural, store).create(`/${plural}/x`, Buffer.from('text'))
    return await stored(store, `/${plural}/x`)
  }
  t.match(await write('', 'secrets'), /^orch:enc:aesgcm:v1:a:/)
  t.match(await write('', 'configmaps'), /^orch:enc:aesgcm:v1:a:/)
  t.match(await write('example.com', 'things'), /^orch:enc:aescbc:v1:b:/)
  t.equal(await write('example.org', 'others'), 'text')
  const { kv } = await (await encrypted(t, store, [cbc(key('b', 2))])).get('/things/x')
  await store.create('/secrets/y', Buffer.from((await store.get('/things/x')).kv?.value ?? ''))
  t.equal(
    text((await encryption.of('', 'secrets', store).get('/secrets/y')).kv?.value), text(kv?.value),
    'aescbc does not authenticate keys'
  )
  t.equal(encryption.of('', 'pods', store), store)
})

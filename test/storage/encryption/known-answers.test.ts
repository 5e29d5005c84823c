/** The stored bytes, computed here without the product: by node:crypto, and by an independent secretbox. */
import t, { type Test } from 'tap'
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import nacl from 'tweetnacl'
import { openBackend } from '../../../storage/open.js'
import { keyServiceOf } from '../../key-service.js'
import { encrypted, key, secretOf, type Provider } from './configured.js'

const AT = '/registry/secrets/default/one'
const TEXT = Buffer.from('orch\0\n\r{"kind":"Secret"}')

const bytes = (value: Uint8Array | undefined): Buffer => Buffer.from(value ?? '')

/** What the product stores for TEXT, without the prefix. */
async function written (t: Test, provider: Provider, prefix: string): Promise<Buffer> {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  t.match(await (await encrypted(t, store, [provider])).create(AT, TEXT), { succeeded: true })
  const stored = bytes((await store.get(AT)).kv?.value)
  t.equal(stored.subarray(0, prefix.length).toString(), prefix)
  return stored.subarray(prefix.length)
}

/** What the product reads of stored bytes. */
async function read (t: Test, provider: Provider, stored: readonly Buffer[]): Promise<string> {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  await store.create(AT, Buffer.concat(stored))
  const { kv } = await (await encrypted(t, store, [provider])).get(AT)
  return kv?.damage?.code ?? bytes(kv?.value).toString()
}

for (const length of [16, 24, 32]) {
  t.test(`aesgcm with ${length * 8} bits: nonce, text and tag, and the key in the store is authenticated`, async t => {
    const provider: Provider = { aesgcm: { keys: [key('one', 7, length)] } }
    const algorithm = `aes-${length * 8}-gcm` as 'aes-256-gcm'
    const stored = await written(t, provider, 'orch:enc:aesgcm:v1:one:')
    t.equal(stored.length, 12 + TEXT.length + 16)
    const decipher = createDecipheriv(algorithm, secretOf(7, length), stored.subarray(0, 12))
      .setAAD(Buffer.from(AT))
      .setAuthTag(stored.subarray(-16))
    t.equal(Buffer.concat([decipher.update(stored.subarray(12, -16)), decipher.final()]).toString(), TEXT.toString())

    const nonce = randomBytes(12)
    const cipher = createCipheriv(algorithm, secretOf(7, length), nonce).setAAD(Buffer.from(AT))
    const parts = [Buffer.from('orch:enc:aesgcm:v1:one:'), nonce, cipher.update(TEXT), cipher.final()]
    t.equal(await read(t, provider, [...parts, cipher.getAuthTag()]), TEXT.toString())
  })

  t.test(`aescbc with ${length * 8} bits: vector and padded text`, async t => {
    const provider: Provider = { aescbc: { keys: [key('one', 7, length)] } }
    const stored = await written(t, provider, 'orch:enc:aescbc:v1:one:')
    const decipher = createDecipheriv(`aes-${length * 8}-cbc`, secretOf(7, length), stored.subarray(0, 16))
    t.equal(Buffer.concat([decipher.update(stored.subarray(16)), decipher.final()]).toString(), TEXT.toString())

    const vector = randomBytes(16)
    const cipher = createCipheriv(`aes-${length * 8}-cbc`, secretOf(7, length), vector)
    t.equal(
      await read(t, provider, [Buffer.from('orch:enc:aescbc:v1:one:'), vector, cipher.update(TEXT), cipher.final()]),
      TEXT.toString()
    )
  })
}

t.test('aesgcm: a fixed value from another implementation of AES-GCM', async t => {
  // Test case 4 of the GCM specification has other additional data. This is its key and nonce with ours, from OpenSSL's
  // command line.
  const secret = Buffer.from('feffe9928665731c6d6a8f9467308308', 'hex')
  const nonce = Buffer.from('cafebabefacedbaddecaf888', 'hex')
  const cipher = createCipheriv('aes-128-gcm', secret, nonce).setAAD(Buffer.from(AT))
  const text = Buffer.concat([cipher.update(TEXT), cipher.final(), cipher.getAuthTag()])
  t.equal(
    await read(
      t, { aesgcm: { keys: [{ name: 'one', secret: secret.toString('base64') }] } },
      [Buffer.from('orch:enc:aesgcm:v1:one:'), nonce, text]
    ),
    TEXT.toString()
  )
})

t.test('secretbox: nonce and box, as NaCl', async t => {
  const provider: Provider = { secretbox: { keys: [key('one', 7)] } }
  const stored = await written(t, provider, 'orch:enc:secretbox:v1:one:')
  t.equal(
    Buffer.from(nacl.secretbox.open(stored.subarray(24), stored.subarray(0, 24), secretOf(7)) ?? '').toString(),
    TEXT.toString()
  )

  const nonce = randomBytes(24)
  t.equal(
    await read(t, provider, [
      Buffer.from('orch:enc:secretbox:v1:one:'), nonce, Buffer.from(nacl.secretbox(TEXT, nonce, secretOf(7)))
    ]),
    TEXT.toString()
  )
})

t.test("secretbox: the vector of NaCl's own tests", async t => {
  const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')
  const secret = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389')
  const nonce = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37')
  const text = hex(`
    be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f4
    1db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52
    f0a089bc76897040e082f937763848645e0705
  `)
  const box = hex(`
    f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b
    4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da
    99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5
  `)
  const provider: Provider = { secretbox: { keys: [{ name: 'one', secret: secret.toString('base64') }] } }
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  await store.create(AT, Buffer.concat([Buffer.from('orch:enc:secretbox:v1:one:'), nonce, box]))
  t.same(bytes((await (await encrypted(t, store, [provider])).get(AT)).kv?.value), text)
})

t.test('a key service: length, encrypted key, and AES-CBC with that key; AES-GCM is read too', async t => {
  const service = await keyServiceOf(t)
  service.encrypt = plain => Buffer.from(`wrapped:${plain.toString('hex')}`)
  service.decrypt = encrypted => Buffer.from(encrypted.toString().slice('wrapped:'.length), 'hex')
  const provider: Provider = { kms: { name: 'local', endpoint: service.endpoint } }
  const stored = await written(t, provider, 'orch:enc:kms:v1:local:')
  const length = stored.readUInt16BE(0)
  const wrapped = stored.subarray(2, 2 + length).toString()
  t.match(wrapped, /^wrapped:[0-9a-f]{64}$/)
  const secret = Buffer.from(wrapped.slice('wrapped:'.length), 'hex')
  const decipher = createDecipheriv('aes-256-cbc', secret, stored.subarray(2 + length, 2 + length + 16))
  t.equal(
    Buffer.concat([decipher.update(stored.subarray(2 + length + 16)), decipher.final()]).toString(), TEXT.toString()
  )

  const own = randomBytes(32)
  const head = Buffer.from(`orch:enc:kms:v1:local:\0\x48wrapped:${own.toString('hex')}`)
  const vector = randomBytes(16)
  const cbc = createCipheriv('aes-256-cbc', own, vector)
  t.equal(await read(t, provider, [head, vector, cbc.update(TEXT), cbc.final()]), TEXT.toString())
  const nonce = randomBytes(12)
  for (const text of [TEXT, Buffer.alloc(20, 'x')]) { // the second is a multiple of the AES-CBC block
    const gcm = createCipheriv('aes-256-gcm', own, nonce).setAAD(Buffer.from(AT))
    const parts = [head, nonce, gcm.update(text), gcm.final()]
    t.equal(await read(t, provider, [...parts, gcm.getAuthTag()]), text.toString())
  }
})

t.test('identity: the value as it is', async t => {
  t.equal((await written(t, { identity: {} }, '')).toString(), TEXT.toString())
  t.equal(await read(t, { identity: {} }, [TEXT]), TEXT.toString())
})

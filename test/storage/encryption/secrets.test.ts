/** Secrets of a server that encrypts them: what clients see, and what is in the store. */
import t, { type Test } from 'tap'
import type { Backend } from '../../../storage/backend.js'
import { openBackend } from '../../../storage/open.js'
import { isEncrypted } from '../../../storage/encryption/forms.js'
import { Watch } from '../../build.js'
import { keyServiceOf } from '../../key-service.js'
import { configurationOf, key } from './configured.js'
import { secret, SECRETS, serve, storedAt, textOf } from './server.js'

const ONE = { aesgcm: { keys: [key('one', 1)] } }
const TWO = { aescbc: { keys: [key('two', 2)] } }
const AT = '/registry/secrets/default/a'

/** A store with the Secret `a`, which a server that has ended encrypted with the key `one`. */
async function storeOfOne (t: Test): Promise<Backend> {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  const before = await serve(t, store, configurationOf([ONE]))
  await before.reach('/readyz', 200)
  await before.post(SECRETS, secret('a', 'the text'))
  await before.close()
  return store
}

t.test('values are encrypted in the store and plain to clients: reads, lists, old lists, watches, quotas', async t => {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  const server = await serve(t, store, configurationOf([ONE]))
  await server.reach('/readyz', 200)
  t.equal((await server.post(SECRETS, secret('a', 'the text'))).code, 201)
  t.match(await storedAt(store, AT), /^orch:enc:aesgcm:v1:one:/)
  t.notMatch(await storedAt(store, AT), /the text|Secret/)
  t.equal(textOf((await server.get(`${SECRETS}/a`)).json), 'the text')
  const { metadata: { resourceVersion } } = (await server.get(SECRETS)).json as {
    metadata: { resourceVersion: string }
  }

  t.equal((await server.patch(`${SECRETS}/a`, { stringData: { text: 'another text' } })).code, 200)
  t.equal(textOf((await server.get(SECRETS)).json['items'][0]), 'another text')
  const old = await server.get(`${SECRETS}?resourceVersionMatch=Exact&resourceVersion=${resourceVersion}`)
  t.equal(textOf(old.json['items'][0]), 'the text')
  const watch = await Watch.open(t, `${server.url}${SECRETS}?watch=1&resourceVersion=${resourceVersion}`)
  t.same((await watch.take(1)).map(({ type, object }) => [type, textOf(object)]), [['MODIFIED', 'another text']])
  t.equal(
    (await server.post('/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'a' }, data: { text: 'plain' }
    })).code,
    201
  )
  t.match(await storedAt(store, '/registry/configmaps/default/a'), /plain/)

  await server.close()
  const again = await serve(t, store, configurationOf([ONE]), { watchCache: { size: 0 } })
  await again.reach('/readyz', 200)
  t.equal(textOf((await again.get(`${SECRETS}/a`)).json), 'another text', 'without a cache too')
  t.equal(
    textOf(
      (await again.get(`${SECRETS}?resourceVersionMatch=Exact&resourceVersion=${resourceVersion}`)).json['items'][0]
    ),
    'the text'
  )
  t.equal((await again.delete(`${SECRETS}/a`)).code, 200)
  t.notMatch([...server.log, ...again.log].join(''), /the text|another text|dGhlIHRleHQ/)
})

t.test('a write of an unchanged object stores the form of the first provider, once', async t => {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  const plain = await serve(t, store, undefined)
  await plain.reach('/readyz', 200)
  await plain.post(SECRETS, secret('a', 'the text'))
  await plain.close()
  t.match(await storedAt(store, AT), /the text/)

  for (const [providers, form] of [
    [[ONE, { identity: {} }], /^orch:enc:aesgcm:v1:one:/],
    [[TWO, ONE], /^orch:enc:aescbc:v1:two:/],
    [[{ identity: {} }, TWO], /the text/]
  ] as const) {
    const server = await serve(t, store, configurationOf(providers))
    await server.reach('/readyz', 200)
    const before = (await server.get(`${SECRETS}/a`)).json
    t.equal(
      (await server.call('PUT', `${SECRETS}/a?dryRun=All`, before)).json['metadata'].resourceVersion,
      before['metadata'].resourceVersion
    )
    t.notMatch(await storedAt(store, AT), form, 'a dry run writes nothing')
    const written = (await server.put(`${SECRETS}/a`, before)).json
    t.match(await storedAt(store, AT), form)
    t.not(written['metadata'].resourceVersion, before['metadata'].resourceVersion)
    t.same(
      { ...written, metadata: { ...written['metadata'], resourceVersion: '' } },
      { ...before, metadata: { ...before['metadata'], resourceVersion: '' } }
    )
    t.equal(
      (await server.put(`${SECRETS}/a`, written)).json['metadata'].resourceVersion, written['metadata'].resourceVersion,
      'it is current now'
    )
    t.equal(
      (await server.patch(`${SECRETS}/a`, {})).json['metadata'].resourceVersion, written['metadata'].resourceVersion
    )
    await server.close()
  }
})

t.test('an object that cannot be decrypted is named, can be deleted and concerns no other', async t => {
  const store = await storeOfOne(t)
  const server = await serve(t, store, configurationOf([TWO]))
  await server.reach('/readyz', 200)
  await server.post(SECRETS, secret('b', 'other text'))
  for (const url of [`${SECRETS}/a`, SECRETS, '/api/v1/secrets']) {
    const { code, json } = await server.get(url)
    t.match(
      [code, json['reason'], json['message']],
      [
        500,
        'InternalError',
        new RegExp(
          `the stored value of ${AT} is encrypted by aesgcm with the key "one", which no provider of its resource has`
        )
      ],
      url
    )
    t.notMatch(json['message'], /delete/, 'its key may be found again')
  }
  t.equal((await server.put(`${SECRETS}/a`, secret('a', 'new'))).code, 500)
  t.equal((await server.get(`${SECRETS}/b`)).code, 200)
  t.equal((await server.get('/api/v1/namespaces/other/secrets')).code, 200)
  t.equal((await server.get('/api/v1/configmaps')).code, 200)
  t.match((await server.get('/healthz')).code, 200)
  t.notMatch(server.log.join(''), /the text|dGhlIHRleHQ/)
  t.equal((await server.delete(`${SECRETS}/a`)).code, 200)
  t.equal((await server.get(SECRETS)).json['items'].length, 1)

  // Another server writes with a key that this one lacks, and the watch of the cache receives it.
  const other = await serve(t, store, configurationOf([ONE, TWO]))
  await other.reach('/readyz', 200)
  t.equal((await other.post(SECRETS, secret('c', 'the text'))).code, 201)
  await server.reach(`${SECRETS}/c`, 500)
  t.equal((await server.get(`${SECRETS}/b`)).code, 200)
  t.equal((await server.delete(`${SECRETS}/c`)).code, 200)
  await server.reach(SECRETS, 200)
})

t.test('a wrong key under the right name is named, and deletion is not advised', async t => {
  const store = await storeOfOne(t)
  const server = await serve(t, store, configurationOf([{ aesgcm: { keys: [key('one', 9)] } }]))
  await server.reach('/readyz', 200)
  const { json: { message } } = await server.get(`${SECRETS}/a`)
  t.match(message, /by aesgcm with the key "one", and the configured key of that name does not decrypt it/)
  t.notMatch([message, ...server.log].join(''), /delete/)
})

t.test('a value that was copied under another key is not served', async t => {
  const service = await keyServiceOf(t)
  const providers = [
    TWO, { secretbox: { keys: [key('three', 3)] } }, { kms: { name: 'local', endpoint: service.endpoint } }, ONE
  ]
  for (const provider of providers) {
    const store = await openBackend({ kind: 'memory' })
    const server = await serve(t, store, configurationOf([provider]))
    await server.reach('/readyz', 200)
    await server.post(SECRETS, secret('a', 'the text'))
    const { kv } = await store.get(AT)
    for (const at of ['/registry/secrets/default/b', '/registry/secrets/other/a']) {
      await store.create(at, kv?.value ?? Buffer.alloc(0))
    }
    for (const path of [`${SECRETS}/b`, '/api/v1/namespaces/other/secrets/a', '/api/v1/secrets']) {
      await server.reach(path, 500)
      t.notMatch((await server.get(path)).body, /dGhlIHRleHQ/, `${Object.keys(provider).join()} ${path}`)
    }
    t.equal(textOf((await server.get(`${SECRETS}/a`)).json), 'the text')
    await server.close()
    await store.close()
  }
})

t.test('without configuration, an encrypted object is named as one', async t => {
  const store = await storeOfOne(t)
  const server = await serve(t, store, undefined)
  await server.reach('/readyz', 200)
  t.match(
    (await server.get(SECRETS)).json['message'],
    /the stored value of \/registry\/secrets\/default\/a is encrypted by aesgcm with the key "one"/
  )
  t.match(server.log.join(''), /with the key .*the object \/registry\/secrets\/default\/a cannot be decrypted: lists/)
  t.equal((await server.delete(`${SECRETS}/a`)).code, 200)
})

t.test('other types: custom objects, Events with their leases, service accounts and their tokens', async t => {
  const store = await openBackend({ kind: 'memory' })
  t.teardown(() => store.close())
  const server = await serve(
    t,
    store,
    configurationOf(
      [ONE],
      ['events', 'things.example.com', 'services', 'namespaces', 'customresourcedefinitions.apiextensions.orch.io']
    )
  )
  await server.reach('/readyz', 200)
  await server.post('/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-orch-preserve-unknown-fields': true } }
        }
      ]
    }
  })
  await server.reach('/apis/example.com/v1/things', 200)
  t.equal(
    (await server.post('/apis/example.com/v1/namespaces/default/things', {
      apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'one' }, spec: { text: 'the text' }
    })).code,
    201
  )
  t.equal((await server.get('/apis/example.com/v1/namespaces/default/things/one')).json['spec'].text, 'the text')
  t.equal(
    (await server.post('/api/v1/namespaces/default/events', {
      metadata: { name: 'one' }, involvedObject: { namespace: 'default' }, message: 'the text'
    })).code,
    201
  )
  t.equal((await server.get('/apis/events.orch.io/v1/namespaces/default/events/one')).json['note'], 'the text')
  const { kvs } = await store.list({ start: '/registry/', end: '/registry0' })
  const forms = new Map(kvs.map(({ key, value }) => [key.split('/')[2] ?? '', isEncrypted(value)]))
  t.same(
    [
      'events', 'example.com', 'namespaces', 'apiextensions.orch.io', 'rbac.authorization.orch.io'
    ].map(name => forms.get(name)),
    [true, true, true, true, undefined],
    [...forms.keys()].join()
  )
})

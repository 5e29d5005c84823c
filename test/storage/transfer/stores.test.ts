/**
 * Contents that are copied from one store to another: what is kept, and what clients that knew the first see of the
 * second.
 */
import t, { type Test } from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openBackend, openStores } from '../../../storage/open.js'
import { openEtcd } from '../../../storage/etcd/backend.js'
import type { Backend } from '../../../storage/backend.js'
import { embeddedReader } from '../../../storage/embedded/store-reader.js'
import { firstRevision, type StoreReader, type StoredObject } from '../../../storage/transfer/stores.js'
import { openReader, openWriter, type WholeStore } from '../../../storage/transfer/open.js'
import { done } from '../../contracts/backend.js'
import { Observed } from '../../contracts/observed.js'
import { startEtcd } from '../../etcd-process.js'

let etcd: Awaited<ReturnType<typeof startEtcd>>
t.before(async () => { etcd = await startEtcd(t) })
let stores = 0
const newFolder = (): WholeStore & { readonly kind: 'embedded' } => ({
  kind: 'embedded', directory: join(t.testdirName, `store-${++stores}`)
})
const newPrefix = (): WholeStore & { readonly kind: 'etcd' } => ({
  kind: 'etcd', servers: [etcd.url], prefix: `/p${++stores}`
})
t.testdir()

/** Opens the store as a server does, except that an etcd does not show it. */
async function opened (t: Test, store: WholeStore): Promise<Backend> {
  const format = { note: () => {}, refused: () => {} }
  const backend = store.kind === 'etcd'
    ? openEtcd({ servers: store.servers, prefix: store.prefix, format })
    : await openBackend({ kind: 'embedded', directory: store.directory })
  t.teardown(() => backend.close())
  return backend
}

async function carried (from: WholeStore, to: WholeStore): Promise<number> {
  const contents = await openReader(from, true)
  try {
    const target = await openWriter(to, contents)
    for await (const objects of contents.objects()) await target.put(objects)
    await contents.unchanged()
    return await target.finish()
  } finally {
    await contents.close()
  }
}

const made = (objects: readonly StoredObject[], more: Partial<StoreReader> = {}): StoreReader => ({
  source: 'etcd', revision: 100, takenAt: Date.now(), prefix: '/p', count: objects.length, unchanged: async () => {},
  close: async () => {}, objects: async function * () { yield objects }, ...more
})
const object = (key: string, modRevision: number, more: Partial<StoredObject> = {}): StoredObject => ({
  key, value: Buffer.from(key), createRevision: 1, modRevision, lease: undefined, ...more
})
const keysOf = async (backend: Backend, scope = '/p'): Promise<string[]> => (await backend.list({
  start: `${scope}/`, end: `${scope}0`
})).kvs.map(({ key }) => key).filter(key => !key.includes('/.'))

async function restored (t: Test, to: WholeStore, contents: StoreReader): Promise<Backend> {
  const target = await openWriter(to, contents)
  for await (const objects of contents.objects()) await target.put(objects)
  await target.finish()
  return await opened(t, to)
}

for (const kind of ['embedded', 'etcd'] as const) {
  t.test(
    `${kind}: clients of the copied store get Compacted at any revision, and continue from a new list`, async t => {
      const to = kind === 'embedded' ? newFolder() : newPrefix()
      const prefix = to.kind === 'etcd' ? to.prefix : '/p'
      const contents = made([object(`${prefix}/a`, 7), object(`${prefix}/b`, 100)])
      const backend = await restored(t, to, contents)
      const newest = await backend.revision()
      t.ok(
        newest >= firstRevision(contents, contents.takenAt), 'beyond any revision its server may have written meanwhile'
      )
      for (const after of [1, 7, 99, 100, 101, 5000, 999_999_999]) {
        const observed = new Observed(backend, `${prefix}/`, `${prefix}0`, after)
        t.match(await observed.ended(), { code: 'Compacted' }, `a watch after ${after}`)
        t.strictSame(observed.events, [])
        await t.rejects(
          backend.list({ start: `${prefix}/`, end: `${prefix}0`, revision: after }), { code: 'Compacted' },
          `a list at ${after}`
        )
        await t.rejects(backend.get(`${prefix}/a`, after), { code: 'Compacted' }, `a get at ${after}`)
      }
      const observed = new Observed(backend, `${prefix}/`, `${prefix}0`, newest)
      const a = (await backend.list({ start: `${prefix}/`, end: `${prefix}0` })).kvs
        .find(({ key }) => key === `${prefix}/a`)
      t.match(
        await backend.update(`${prefix}/a`, Buffer.from('x'), 50),
        { succeeded: false, current: { key: `${prefix}/a`, modRevision: a?.modRevision } },
        'a version that it never had'
      )
      const written = [
        done(await backend.update(`${prefix}/a`, Buffer.from('new'), a?.modRevision ?? 0)),
        done(await backend.create(`${prefix}/c`, Buffer.from('c')))
      ]
      await observed.upTo(written[1] ?? 0)
      t.strictSame(observed.events.map(({ type, kv }) => [type, kv.key, kv.modRevision]), [
        ['put', `${prefix}/a`, written[0]], ['put', `${prefix}/c`, written[1]]
      ])
      t.ok(written.every(revision => revision > newest))
      t.strictSame(observed.faults, [])
      if (kind === 'embedded') {
        t.strictSame(
          a, { key: '/p/a', value: Buffer.from('/p/a'), createRevision: 1, modRevision: 7 },
          'versions of objects are kept'
        )
      }
    }
  )

  t.test(`${kind}: a lease continues for its time, and objects that expire within a minute are omitted`, async t => {
    const to = kind === 'embedded' ? newFolder() : newPrefix()
    const prefix = to.kind === 'etcd' ? to.prefix : '/p'
    const [long, short] = [
      { ttlSeconds: 3600, expires: Date.now() + 1_800_000 }, { ttlSeconds: 3600, expires: Date.now() + 50_000 }
    ]
    const backend = await restored(t, to, made([
      object(`${prefix}/long`, 5, { lease: long }), object(`${prefix}/same`, 6, { lease: long }),
      object(`${prefix}/short`, 7, { lease: short }), object(`${prefix}/stays`, 8)
    ]))
    t.strictSame(await keysOf(backend, prefix), [`${prefix}/long`, `${prefix}/same`, `${prefix}/stays`])
    if (kind === 'embedded') await backend.close()
    const again = await openReader(to, false)
    t.teardown(again.close)
    const leases = new Map<string, StoredObject['lease']>()
    for await (const objects of again.objects()) for (const { key, lease } of objects) leases.set(key, lease)
    const found = leases.get(`${prefix}/long`)
    t.ok(
      found !== undefined && Math.abs(found.expires - long.expires) < 20_000,
      `ends ${found?.expires}, not ${long.expires}`
    )
    t.equal(leases.get(`${prefix}/same`), found)
    t.equal(leases.get(`${prefix}/stays`), undefined)
  })

  t.test(`${kind}: an existing store is refused and kept, and an unfinished one can be replaced`, async t => {
    const to = kind === 'embedded' ? newFolder() : newPrefix()
    const prefix = to.kind === 'etcd' ? to.prefix : '/p'
    const target = await openWriter(to, made([]))
    await target.put([object(`${prefix}/half`, 5)])
    const refusing = (): Promise<unknown> => opened(t, to).then(async backend => await backend.get(`${prefix}/half`))
    await t.rejects(refusing(), {
      code: 'Unavailable',
      message: kind === 'embedded'
        ? /in use by another server/
        : /is being restored, or a restore was interrupted: wait for it, or run it again/
    })
    if (kind === 'embedded') await t.rejects(openWriter(to, made([])), /in use/)
    else {
      // A killed writer is replaced; if it were alive, it could not continue.
      const next = await openWriter(to, made([]))
      await t.rejects(target.put([object(`${prefix}/half`, 5)]), /another server or restore has begun to use the range/)
      await next.put([object(`${prefix}/next`, 6)])
      await next.discard()
    }
    await target.discard().catch(() => {})
    await target.discard().catch(() => {})
    const backend = await restored(t, to, made([object(`${prefix}/whole`, 5)]))
    t.strictSame(await keysOf(backend, prefix), [`${prefix}/whole`])
    if (kind === 'embedded') await backend.close()
    await t.rejects(openWriter(to, made([])), { message: /holds a store already/ })
    t.strictSame(await keysOf(kind === 'embedded' ? await opened(t, to) : backend, prefix), [`${prefix}/whole`])
  })
}

t.test('from one kind to the other and back, every object arrives', async t => {
  const [one, two, three] = [newFolder(), { ...newPrefix(), prefix: '/p' }, newFolder()]
  const source = await opened(t, one)
  const large = Buffer.alloc(1_400_000, 'large')
  for (let at = 0; at < 700; at++) {
    await source.create(`/p/things/${at}`, at % 250 === 0 ? large : Buffer.from(`value ${at}`))
  }
  for (let at = 0; at < 700; at += 7) {
    done(await source.delete(`/p/things/${at}`, (await source.get(`/p/things/${at}`)).kv?.modRevision ?? 0))
  }
  const expected = (await source.list({ start: '/p/', end: '/p0' })).kvs.map(({ key, value }) => [
    key, Buffer.from(value).toString('latin1')
  ])
  await source.close()
  const revisions = [await carried(one, two), await carried(two, three)]
  t.ok((revisions[1] ?? 0) > (revisions[0] ?? 0))
  const end = await opened(t, three)
  t.strictSame(
    (await end.list({ start: '/p/', end: '/p0' })).kvs.map(({ key, value }) => [
      key, Buffer.from(value).toString('latin1')
    ]),
    expected
  )
  t.equal(
    new Set((await end.list({ start: '/p/', end: '/p0' })).kvs.map(({ modRevision }) => modRevision)).size,
    expected.length, 'each with a version of its own'
  )
})

t.test('an etcd in use is not copied: by its servers, and by what they write', async t => {
  const from = newPrefix()
  const backend = await restored(t, from, made([object(`${from.prefix}/a`, 5)]))
  const lease = await backend.lease(600)
  const key = `${from.prefix}/masterleases/10.0.0.7`
  const revision = done(await backend.create(key, Buffer.from('{}'), { lease }))
  await t.rejects(openReader(from, true), {
    message:
      `servers use the store below ${from.prefix}: 10.0.0.7; stop them first (the entry of one that was killed ends ` +
      'within 15 seconds)'
  })
  done(await backend.delete(key, revision))
  for (const change of [
    async () => await backend.create(`${from.prefix}/b`, Buffer.from('b')),
    async () => await backend.delete(`${from.prefix}/b`, (await backend.get(`${from.prefix}/b`)).kv?.modRevision ?? 0)
  ]) {
    const contents = await openReader(from, true)
    await contents.unchanged()
    await change()
    await t.rejects(contents.unchanged(), {
      message: /the store was changed while it was copied \(.*\): stop what writes to it/
    })
    await contents.close()
  }
})

t.test('a server on an etcd shows itself, whatever it publishes: ' +
  'nothing is copied from there or restored to there', async t => {
  const at = newPrefix()
  const stores = await openStores(
    { kind: 'etcd', servers: [etcd.url] }, { prefix: at.prefix, note: () => {}, refused: () => {} }
  )
  t.teardown(() => stores.close())
  const [{ backend }] = stores.all as [typeof stores.all[0]] // it has one
  const shown = async (): Promise<number> => await backend.count(`${at.prefix}/.servers/`, `${at.prefix}/.servers0`)
  while (await shown() === 0) await backend.revision()
  const using = { message: new RegExp(`^servers use the store below ${at.prefix}: \\S+; stop them first`) }
  await t.rejects(openReader(at, true), using)
  await t.rejects(openWriter(at, made([])), using)
  await (await openReader(at, false)).close()
  await stores.close()
  await (await openReader(at, true)).close()
  await (await openWriter(at, made([]))).discard()
})

t.test('a compaction while an etcd is read is an error, not a gap', async t => {
  const from = newPrefix()
  const backend = await restored(
    t, from, made(Array.from({ length: 300 }, (_, at) => object(`${from.prefix}/${at}`, 5)))
  )
  const contents = await openReader(from, false)
  t.teardown(contents.close)
  done(await backend.create(`${from.prefix}/new`, Buffer.from('x')))
  await backend.compact(await backend.revision())
  await t.rejects(
    async () => { for await (const objects of contents.objects()) t.ok(objects) },
    { code: 'Compacted', message: /^etcd compacted revision \d+ while it was read: try again/ }
  )
})

t.test('a server that started on an etcd at the same moment fails the restore', async t => {
  const to = newPrefix()
  const target = await openWriter(to, made([]))
  await target.put([object(`${to.prefix}/a`, 5)])
  const plain = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => plain.close())
  await plain.create(`${to.prefix}/namespaces/default`, Buffer.from('x'))
  await t.rejects(target.finish(), {
    message:
      `a server has begun to use the range below ${to.prefix}, which has 1 objects of others: ` +
      'end it, and run this again'
  })
  await target.discard()
  t.match(await plain.get(`${to.prefix}/.format`), { kv: { value: Buffer.from('1') } })
})

t.test('keys outside the prefix, and a format of a newer release, are refused', async t => {
  const to = newPrefix()
  const target = await openWriter(to, made([]))
  await t.rejects(target.put([object('/elsewhere/a', 5)]), {
    message: `the key /elsewhere/a is not below --etcd-prefix=${to.prefix}: name the prefix of the contents`
  })
  await target.discard()
  const plain = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => plain.close())
  const { kv } = await plain.get(`${to.prefix}/.format`)
  await plain.update(`${to.prefix}/.format`, Buffer.from('3'), kv?.modRevision ?? 0)
  for (const open of [
    async (): Promise<unknown> => await openReader(to, false), async () => await openWriter(to, made([]))
  ]) {
    await t.rejects(open(), { message: /is of format 3, this release reads up to format 1/ })
  }
})

t.test('an interrupted restore into a folder keeps servers out until it is repeated or removed', async t => {
  const to = newFolder()
  mkdirSync(to.directory)
  writeFileSync(join(to.directory, 'data.mdb.partial'), 'half')
  await t.rejects(opened(t, to), {
    code: 'Unavailable',
    message:
      `a restore into the directory ${to.directory} was interrupted: ` +
      'run it again, or remove data.mdb.partial for an empty store'
  })
  const backend = await restored(t, to, made([object('/p/a', 5)]))
  t.strictSame(await keysOf(backend), ['/p/a'])
  await backend.close()
  // Beside a store, it is left from an interrupted compaction.
  writeFileSync(join(to.directory, 'data.mdb.partial'), 'half')
  t.strictSame(await keysOf(await opened(t, to)), ['/p/a'])
  t.notOk(existsSync(join(to.directory, 'data.mdb.partial')))
})

t.test('a read of a store that grows too far is ended, also while its reader is idle', { timeout: 60_000 }, async t => {
  const { directory } = newFolder()
  // In another process, because LMDB allows one environment in each.
  const child = spawn(process.execPath, ['--input-type=module', '-e', `
    const { openBackend } = await import(${JSON.stringify(import.meta.resolve('../../../storage/open.js'))})
    const backend = await openBackend({ kind: 'embedded', directory: ${JSON.stringify(directory)} })
    for (let at = 0; ; at++) {
      const create = index => backend.create('/p/' + at + '/' + index, Buffer.alloc(10_000))
      await Promise.all(Array.from({ length: 200 }, (_, index) => create(index)))
      if (at === 0) console.log('filled')
    }`], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => { child.kill('SIGKILL') })
  await once(child.stdout, 'data')
  const contents = await embeddedReader(directory, false, 1024 * 1024)
  t.teardown(contents.close)
  const batches = contents.objects()[Symbol.asyncIterator]()
  t.equal((await batches.next()).done, false)
  await t.rejects(async () => {
    for (let done: boolean | undefined = false; done !== true;) {
      await new Promise(resolve => { setTimeout(resolve, 600) })
      done = (await batches.next()).done
    }
  }, {
    code: 'Unavailable',
    message:
      /^the store grew by \d+ MiB while it was read, because it keeps the state that is read: write to a faster disk, or at a quieter time$/
  })
})

t.test('damaged pages and values of a store are refused by name', async t => {
  const from = newFolder()
  const backend = await opened(t, from)
  for (const name of ['one', 'two']) await backend.create(`/p/${name}`, Buffer.alloc(5000, `the value of ${name};`))
  await backend.close()
  const file = join(from.directory, 'data.mdb')
  const whole = readFileSync(file)
  const bytes = Buffer.from(whole)
  bytes.write('#', bytes.indexOf('the value of two;') + 100)
  writeFileSync(file, bytes)
  const contents = await openReader(from, false)
  await t.rejects(
    async () => { for await (const objects of contents.objects()) t.ok(objects) },
    {
      code: 'Corrupt',
      message:
        /^the value of \/p\/two at revision 3 is damaged: delete the object through the server, or restore an older backup$/
    }
  )
  await contents.close()
  for (let at = 2; at < whole.length / 4096; at++) {
    if ((whole.readUInt16LE(at * 4096 + 18) & 0x0f) === 2) whole.fill(0, at * 4096 + 24, (at + 1) * 4096)
  }
  writeFileSync(file, whole)
  await t.rejects(openReader(from, false), {
    code: 'Corrupt',
    message: /^the store in .* is damaged: page \d+ .* \(orch-apiserver fsck --data-dir=.* names all that is damaged\)$/
  })
  rmSync(file)
  await t.rejects(openReader(from, false), {
    code: 'Unavailable', message: /^there is no store in .*: no data.mdb lies there/
  })
})

import t from 'tap'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openEmbedded } from '../../../storage/embedded/lmdb.js'
import { done } from '../../contracts/backend.js'
import { Observed } from '../../contracts/observed.js'
import { FakeClock } from '../fake-clock.js'

const bytes = (text: string) => Buffer.from(text)
const root = await mkdtemp(path.join(tmpdir(), 'orch-disk-'))
t.teardown(() => rm(root, { recursive: true, force: true }))
let directories = 0
const fresh = () => path.join(root, `store-${++directories}`)

t.test('a restart keeps values, history, change log and compaction', async t => {
  const directory = fresh()
  let backend = await openEmbedded(directory)
  const first = done(await backend.create('/a', bytes('1')))
  const second = done(await backend.update('/a', bytes('2'), first))
  const other = done(await backend.create('/b', bytes('x')))
  const deleted = done(await backend.delete('/b', other))
  await backend.compact(second)
  await backend.close()

  backend = await openEmbedded(directory)
  t.equal(await backend.revision(), deleted)
  t.equal(backend.compactedRevision(), second)
  t.match((await backend.get('/a')).kv, { createRevision: first, modRevision: second })
  t.equal(Buffer.from((await backend.get('/b', other)).kv?.value ?? []).toString(), 'x')
  t.equal((await backend.get('/b')).kv, undefined)
  await t.rejects(backend.get('/a', first), { code: 'Compacted' })
  t.equal(await backend.count('/', '0'), 1)
  const watch = new Observed(backend, '/', '0', second)
  await watch.upTo(deleted)
  t.same(watch.events.map(event => event.type), ['put', 'delete'])
  await backend.compact(deleted)
  await backend.close()

  backend = await openEmbedded(directory)
  t.equal(await backend.revision(), deleted, 'the last revision stays although its key is forgotten')
  t.ok(done(await backend.create('/c', bytes('x'))) > deleted)
  await backend.close()
})

t.test('after a restart a lease continues with its remaining time', async t => {
  const directory = fresh()
  const clock = new FakeClock()
  let backend = await openEmbedded(directory, { clock })
  const lease = await backend.lease(100)
  done(await backend.create('/kept', bytes('x'), { lease }))
  clock.advance(60_000)
  await backend.close()

  const later = new FakeClock(clock.wall() + 10_000)
  backend = await openEmbedded(directory, { clock: later })
  const revision = await backend.revision()
  done(await backend.create('/late', bytes('x'), { lease }))
  later.advance(29_000)
  t.equal(await backend.count('/', '0'), 2)
  const watch = new Observed(backend, '/', '0', revision)
  later.advance(1_000)
  await watch.until(() => watch.events.length === 3, 'the deletes')
  t.equal(await backend.count('/', '0'), 0)
  await backend.close()

  // If the clock was set back, no lease gets more than its whole time; if it jumped ahead, the lease ends.
  backend = await openEmbedded(directory, { clock: later })
  const another = await backend.lease(10)
  done(await backend.create('/x', bytes('x'), { lease: another }))
  await backend.close()
  const back = new FakeClock(5)
  backend = await openEmbedded(directory, { clock: back })
  const again = new Observed(backend, '/', '0', await backend.revision())
  back.advance(10_000)
  await again.until(() => again.events.length === 1, 'the delete')
  await backend.close()
})

t.test('a second opening is refused with the directory and the process named, in the same process too', async t => {
  const directory = fresh()
  const backend = await openEmbedded(directory)
  await t.rejects(openEmbedded(directory), {
    code: 'Unavailable', message: new RegExp(`${directory}.*in use.*${process.pid}`)
  })
  done(await backend.create('/a', bytes('still works')))
  const neighbour = await openEmbedded(fresh())
  t.equal(await neighbour.count('/', '0'), 0)
  await neighbour.close()
  await backend.close()
  const next = await openEmbedded(directory)
  t.equal(await next.count('/', '0'), 1)
  await next.close()
})

t.test('a compaction that was cut short is finished by the next start and brings no deleted key back', async t => {
  const directory = fresh()
  let backend = await openEmbedded(directory)
  let revision = 0
  for (let i = 0; i < 10; i++) {
    revision = done(
      i === 0 ? await backend.create('/a', bytes('0')) : await backend.update('/a', bytes(String(i)), revision)
    )
  }
  const gone = done(await backend.create('/gone', bytes('x')))
  const deleted = done(await backend.delete('/gone', gone))
  const last = done(await backend.update('/a', bytes('last'), revision))
  await backend.close()

  const { open: openLmdb } = await import('lmdb')
  const table = () => openLmdb<Uint8Array, Uint8Array>({
    path: path.join(directory, 'data.mdb'), noSubdir: true, encoding: 'binary', keyEncoding: 'binary'
  })
  // The state after a crash right after the compaction was recorded.
  const before = table()
  await before.put(bytes('\0compacted'), bytes(String(deleted)))
  await before.close()

  backend = await openEmbedded(directory)
  t.equal(backend.compactedRevision(), deleted)
  t.same(
    (await backend.list({ start: '/', end: '0', revision: deleted })).kvs.map(kv => [kv.key, kv.modRevision]),
    [['/a', revision]]
  )
  t.same((await backend.list({ start: '/', end: '0' })).kvs.map(kv => [kv.key, kv.modRevision]), [['/a', last]])
  t.equal(await backend.count('/', '0'), 1)
  await backend.close()
  const after = table()
  const versions = [...after.getKeys({ start: Buffer.of(2), end: Buffer.of(4) })]
  t.equal(versions.length, 2, 'the versions that are still readable')
  await after.close()
})

/** A process that holds the store in this directory until it is killed. */
async function holder (directory: string): Promise<ChildProcess> {
  const module = new URL('../../../storage/embedded/lmdb.js', import.meta.url).href
  const child = spawn(process.execPath, ['--input-type=module', '-e',
    `const { openEmbedded } = await import(${JSON.stringify(module)}); await openEmbedded(process.argv[1]); ` +
    "console.log('open'); setInterval(() => {}, 1000)",
    directory],
  { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

t.test('another process is refused while the first lives and let in at once when it is killed', async t => {
  const directory = fresh()
  const child = await holder(directory)
  await t.rejects(openEmbedded(directory), { code: 'Unavailable', message: new RegExp(`in use.*${child.pid}`) })
  child.kill('SIGKILL')
  await once(child, 'exit')
  const backend = await openEmbedded(directory)
  done(await backend.create('/a', bytes('x')))
  await backend.close()
})

t.test(
  'closed in the midst of reads, writes, a compaction and ending leases, it finishes or refuses each of them',
  async t => {
    const directory = fresh()
    const clock = new FakeClock()
    const backend = await openEmbedded(directory, { clock })
    const lease = await backend.lease(1)
    await Promise.all(Array.from(
      { length: 8000 }, (_, i) => backend.create(`/k/${i}`, bytes('x'), i % 2 === 0 ? { lease } : {})
    ))
    const revision = await backend.revision()
    const updated = await Promise.all(Array.from(
      { length: 4000 }, (_, i) => backend.update(`/k/${i * 2 + 1}`, bytes('y'), i * 2 + 3)
    ))
    t.ok(updated.every(result => result.succeeded))
    const settled = Promise.allSettled([
      backend.list({ start: '/', end: '0' }),
      backend.list({ start: '/', end: '0', revision }),
      backend.compact(await backend.revision()),
      ...Array.from({ length: 3000 }, (_, i) => backend.create(`/late/${i}`, bytes('x')))
    ])
    clock.advance(1000)
    await new Promise(resolve => setImmediate(resolve))
    await backend.close()
    const outcomes = await settled
    const reasons = new Set(outcomes.map(outcome =>
      outcome.status === 'rejected' ? String(Object(outcome.reason).code) : 'done'))
    reasons.delete('done')
    t.ok([...reasons].every(code => code === 'Closed'), [...reasons].join())

    const again = await openEmbedded(directory, { clock })
    const written = outcomes.slice(3).filter(outcome => outcome.status === 'fulfilled').length
    t.equal(await again.count('/late/', '/late0'), written)
    const left = await again.count('/k/', '/k0') - 4000
    const watch = new Observed(again, '/', '0', await again.revision())
    clock.advance(1000)
    await watch.until(() => watch.events.length === left, 'the last deletes')
    t.equal(await again.count('/k/', '/k0'), 4000, 'the lease has ended for all of its keys and no others')
    await again.close()
  }
)

t.test('a directory with a very long name works and is guarded', async t => {
  const directory = path.join(fresh(), 'x'.repeat(120), 'y'.repeat(120))
  const backend = await openEmbedded(directory)
  await t.rejects(openEmbedded(directory), { code: 'Unavailable' })
  await backend.close()
})

t.test('the store is for its user alone', async t => {
  const directory = fresh()
  const backend = await openEmbedded(directory)
  t.equal((await stat(directory)).mode & 0o777, 0o700)
  t.equal((await stat(path.join(directory, 'data.mdb'))).mode & 0o077, 0)
  await backend.close()
})

t.test('directories that hold no store of ours are refused by name and left as they are', async t => {
  const refuses = async (directory: string, why: RegExp) => {
    await t.rejects(openEmbedded(directory), { name: 'StorageError', message: new RegExp(directory) })
    await t.rejects(openEmbedded(directory), { message: why })
  }
  const foreign = fresh()
  await mkdir(foreign)
  await writeFile(path.join(foreign, 'data.mdb'), 'something else entirely'.repeat(1000))
  await refuses(foreign, /not an LMDB file/)
  t.match(await readFile(path.join(foreign, 'data.mdb'), 'utf8'), /^something else/)

  const cut = fresh()
  let backend = await openEmbedded(cut)
  for (let i = 0; i < 50; i++) done(await backend.create(`/k${i}`, Buffer.alloc(3000, 'x')))
  await backend.close()
  await truncate(path.join(cut, 'data.mdb'), 40_960)
  await refuses(cut, /cut off/)
  await truncate(path.join(cut, 'data.mdb'), 4096)
  await refuses(cut, /cut off/)
  const file = await open(path.join(cut, 'data.mdb'), 'r+')
  await file.write(Buffer.alloc(4096, 0xff), 0, 4096, 0)
  await file.close()
  await refuses(cut, /not an LMDB file/)
  await truncate(path.join(cut, 'data.mdb'), 0)
  await refuses(cut, /data\.mdb is empty/)
  await writeFile(path.join(cut, 'opening'), '') // the marker of a killed first start
  await (await openEmbedded(cut)).close()
  backend = await openEmbedded(cut)
  await backend.close()

  const plain = fresh()
  await writeFile(plain, 'a file')
  await refuses(plain, /can not be used/)
  await refuses(path.join(plain, 'below'), /can not be used/)

  const other = fresh()
  await mkdir(other)
  const { open: openLmdb } = await import('lmdb')
  const table = openLmdb({
    path: path.join(other, 'data.mdb'), noSubdir: true, encoding: 'binary', keyEncoding: 'binary'
  })
  await table.put(bytes('somebody'), bytes('else'))
  await table.close()
  await refuses(other, /another program/)

  const newer = fresh()
  await mkdir(newer)
  const future = openLmdb({
    path: path.join(newer, 'data.mdb'), noSubdir: true, encoding: 'binary', keyEncoding: 'binary'
  })
  await future.put(bytes('\0format'), bytes('orch-store 999'))
  await future.close()
  await refuses(
    newer,
    /holds a store of the format 'orch-store 999', this server reads 'orch-store 2': start the release that wrote it, or a newer one, or name another --data-dir$/
  )

  // Refused opens have released their lock.
  await rm(path.join(cut, 'data.mdb'))
  backend = await openEmbedded(cut)
  await backend.close()
})

t.test('a full disk refuses writes, loses nothing that was acknowledged, and is survived', async t => {
  const directory = fresh()
  const module = new URL('../../../storage/embedded/lmdb.js', import.meta.url).href
  const program = `
    const { openEmbedded } = await import(${JSON.stringify(module)})
    const backend = await openEmbedded(process.argv[1])
    process.on('unhandledRejection', error => { console.log('unhandled ' + error); process.exit(1) })
    const codes = {}
    const written = []
    for (let i = 0; i < 30; i++) {
      await Promise.all(Array.from({ length: 16 }, async (_, j) => {
        try {
          const result = await backend.create('/k/' + i + '/' + j, Buffer.alloc(2048, 'x'))
          written.push(['/k/' + i + '/' + j, result.revision])
        } catch (error) {
          codes[error.code] = (codes[error.code] ?? 0) + 1
        }
      }))
    }
    const { count } = await backend.list({ start: '/', end: '0' })
    await backend.close()
    console.log(JSON.stringify({ codes, written, count }))`
  // A limit on file sizes is a full disk that a test can make without root.
  const child = spawn(
    'bash',
    [
      '-c', 'trap "" XFSZ; ulimit -f 600; exec "$@"', 'bash', process.execPath, '--input-type=module', '-e', program,
      directory
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] }
  )
  let text = ''
  child.stdout.on('data', piece => { text += piece })
  await once(child, 'close')
  const { codes, written, count } = JSON.parse(text) as {
    codes: Record<string, number>
    written: Array<[string, number]>
    count: number
  }
  t.ok((codes.Unavailable ?? 0) > 0)
  t.same(Object.keys(codes), ['Unavailable'])
  t.ok(written.length > 0)
  t.equal(count, written.length)
  const backend = await openEmbedded(directory)
  t.equal(await backend.count('/', '0'), written.length)
  for (const [key, revision] of written) t.equal((await backend.get(key)).kv?.modRevision, revision)
  t.ok(done(await backend.create('/room/again', bytes('x'))) > Math.max(...written.map(([, revision]) => revision)))
  await backend.close()
})

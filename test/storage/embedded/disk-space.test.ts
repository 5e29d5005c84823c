import t from 'tap'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openEmbedded } from '../../../storage/embedded/lmdb.js'
import { DiskSpace } from '../../../storage/embedded/disk-space.js'
import { done } from '../../contracts/backend.js'
import { FakeClock } from '../fake-clock.js'

const root = await mkdtemp(path.join(tmpdir(), 'orch-space-'))
t.teardown(() => rm(root, { recursive: true, force: true }))
let directories = 0
const fresh = () => path.join(root, `store-${++directories}`)
const MIB = 1024 * 1024

/** A disk whose free space and time the test controls. */
function disk (minFree: number) {
  const held = { free: 0, reusable: 0, now: 0, looks: 0 }
  const freeBytes = () => {
    held.looks++
    return held.free
  }
  return {
    held,
    space: new DiskSpace({ directory: '/d', minFree, freeBytes, reusable: () => held.reusable, now: () => held.now })
  }
}

t.test(
  'values are written down to the floor, deletions down to an eighth of it, and the refusal ends by itself',
  async t => {
    const { held, space } = disk(16 * MIB)
    held.free = 16 * MIB
    t.doesNotThrow(() => space.admit(5 * MIB, true))
    held.free = 15 * MIB
    t.throws(
      () => space.admit(MIB, true),
      { code: 'NoSpace', message: /\/d is nearly full: 15 MiB are free, 16 MiB are to stay free/ }
    )
    t.match(space.refusal, { code: 'NoSpace' })
    t.doesNotThrow(() => space.admit(5 * MIB, false))
    held.free = 3 * MIB
    t.doesNotThrow(() => space.admit(MIB, false))
    t.throws(() => space.admit(MIB + 1, false), { code: 'NoSpace' }, 'at the worst an eighth stays free')
    held.free = 17 * MIB
    t.match(space.shortage, { code: 'NoSpace' }, 'at the floor itself it does not begin anew')
    held.free = 18 * MIB
    t.equal(space.refusal, undefined)
    t.doesNotThrow(() => space.admit(MIB, true))
    t.throws(() => space.admit(17 * MIB, true), { code: 'NoSpace' }, 'a write that would fill the disk is refused')
    t.equal(space.refusal, undefined, 'and smaller writes are still accepted')
  }
)

t.test('with plenty of room the disk is checked occasionally, and writes in between are counted', async t => {
  const { held, space } = disk(MIB)
  held.free = 1000 * MIB
  for (let i = 0; i < 100; i++) space.admit(MIB, true)
  t.equal(held.looks, 1)
  held.now = 11
  space.admit(MIB, true)
  t.equal(held.looks, 2)
  held.free = 4 * MIB
  for (let i = 0; i < 995; i++) space.admit(MIB, true)
  t.throws(() => { for (let i = 0; i < 10; i++) { space.admit(MIB, true); held.free -= MIB } }, { code: 'NoSpace' })
  t.ok(held.free >= 0)
})

t.test('room inside of the file counts while half of the floor is free', async t => {
  const { held, space } = disk(16 * MIB)
  held.free = 10 * MIB
  t.match(space.shortage, { code: 'NoSpace' })
  held.reusable = 40 * MIB
  t.equal(space.shortage, undefined)
  t.doesNotThrow(() => space.admit(MIB, true))
  held.free = 7 * MIB
  t.match(space.shortage, { code: 'NoSpace' })
})

t.test('below the floor the store refuses values and nothing else, and takes them again by itself', async t => {
  let free = 1000 * MIB
  const backend = await openEmbedded(fresh(), { minFree: 16 * MIB, freeBytes: () => free })
  const kept = done(await backend.create('/a', Buffer.from('1')))
  const other = done(await backend.create('/b', Buffer.from('1')))
  t.equal(backend.shortage?.(), undefined)
  free = 8 * MIB
  t.match(backend.shortage?.(), { code: 'NoSpace' })
  await t.rejects(backend.create('/c', Buffer.from('1')), { name: 'StorageError', code: 'NoSpace' })
  await t.rejects(backend.update('/a', Buffer.from('2'), kept), { code: 'NoSpace' })
  await t.rejects(backend.lease(10), { code: 'NoSpace' })
  t.equal((await backend.get('/a')).kv?.modRevision, kept)
  done(await backend.delete('/b', other))
  t.equal(await backend.count('/', '0'), 1)
  t.ok((await backend.status()).size > 0, 'it answers')
  await backend.compact(await backend.revision())
  free = MIB
  await t.rejects(backend.delete('/a', kept), { code: 'NoSpace' })
  t.equal((await backend.get('/a')).kv?.modRevision, kept)
  free = 1000 * MIB
  done(await backend.update('/a', Buffer.from('2'), kept))
  t.equal(backend.shortage?.(), undefined)
  await backend.close()
})

t.test('a compaction that finds the disk full is finished when there is room', async t => {
  const directory = fresh()
  const clock = new FakeClock()
  const looks: number[] = []
  const backend = await openEmbedded(directory, {
    minFree: 16 * MIB, clock, freeBytes: () => looks.shift() ?? 50 * MIB
  })
  let revision = 0
  for (let i = 0; i < 20; i++) {
    revision = done(
      i === 0
        ? await backend.create('/a', Buffer.from('0'))
        : await backend.update('/a', Buffer.from(String(i)), revision)
    )
  }
  // The mark of the compaction is still written, the removals are not.
  looks.push(50 * MIB, 0)
  let finished = false
  const compacting = backend.compact(revision).then(() => { finished = true })
  while (looks.length > 0) await new Promise(resolve => setImmediate(resolve))
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
  t.notOk(finished)
  clock.advance(1000)
  await compacting
  await backend.close()
  const { open } = await import('lmdb')
  const table = open<Uint8Array, Uint8Array>({
    path: path.join(directory, 'data.mdb'), noSubdir: true, encoding: 'binary', keyEncoding: 'binary'
  })
  t.equal([...table.getKeys({ start: Buffer.of(2), end: Buffer.of(4) })].length, 1)
  await table.close()
})

t.test('a disk too full to start on is reported in one line', async t => {
  await t.rejects(
    openEmbedded(fresh(), { freeBytes: () => 1000 }),
    { code: 'NoSpace', message: /disk of the directory .* is full: 0 MiB are free, a start needs 1 MiB/ }
  )
})

/** The store on a real small disk. Runs where nobody else sees it mounted. */
const PROGRAM = `
  import { statfsSync, rmSync, writeFileSync } from 'node:fs'
  const { openEmbedded } = await import(process.argv[1])
  const directory = process.argv[2]
  const MIB = 1024 * 1024
  process.on('unhandledRejection', error => { console.log('unhandled ' + error); process.exit(1) })
  const backend = await openEmbedded(directory + '/store', { minFree: 8 * MIB })
  const codes = {}
  const written = new Map()
  const free = () => { const { bavail, bsize } = statfsSync(directory); return bavail * bsize }
  let next = 0
  let refusedInARow = 0
  const create = async size => {
    const key = '/k/' + next++
    try {
      written.set(key, (await backend.create(key, Buffer.alloc(size, 'x'))).revision)
      refusedInARow = 0
    } catch (error) {
      codes[error.code] = (codes[error.code] ?? 0) + 1
      refusedInARow++
    }
  }
  const fill = async () => {
    refusedInARow = 0
    while (refusedInARow < 300) {
      await Promise.all(Array.from({ length: 16 }, (_, at) => create(at === 0 ? 300_000 : 2500)))
    }
  }
  const report = {}
  await fill()
  report.first = { written: written.size, free: free(), shortage: backend.shortage()?.code }
  // Another program fills the rest: now nothing can be written.
  let rest = 0
  for (; ;) { try { writeFileSync(directory + '/other-' + rest++, Buffer.alloc(MIB)) } catch { break } }
  await fill()
  const [key, revision] = written.entries().next().value
  report.full = {
    free: free(),
    deleted: await backend.delete(key, revision).then(() => 'done', error => error.code),
    read: (await backend.get(key)).kv.modRevision === revision,
    count: await backend.count('/', '0') === written.size
  }
  for (let at = 0; at < rest; at++) rmSync(directory + '/other-' + at, { force: true })
  // Deletes and a compaction free space within the file, which is then reused.
  let deleted = 0
  for (const [key, revision] of written) { await backend.delete(key, revision); written.delete(key); deleted++ }
  await backend.compact(await backend.revision())
  report.deleted = deleted
  await fill()
  report.again = { written: written.size, free: free() }
  const { kvs, revision: last } = await backend.list({ start: '/', end: '0' })
  const complete = kvs => kvs.length === written.size && kvs.every(kv => written.get(kv.key) === kv.modRevision)
  report.listed = complete(kvs)
  await backend.close()
  const reopened = await openEmbedded(directory + '/store', { minFree: 8 * MIB })
  const after = await reopened.list({ start: '/', end: '0' })
  report.reopened = after.revision >= last && complete(after.kvs)
  await reopened.close()
  console.log(JSON.stringify({ codes, ...report }))`

t.test('a real small disk is filled, by the store and by others, again and again, and the store lives on', async t => {
  const directory = fresh()
  const module = new URL('../../../storage/embedded/lmdb.js', import.meta.url).href
  // In a mount namespace of its own: it needs root, or a kernel with user namespaces.
  const script =
    'mkdir -p "$3" && mount -t tmpfs -o size=48m orch "$3" && exec "$0" --input-type=module -e "$1" "$2" "$3"'
  const user = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const { status, signal, stdout, stderr } = spawnSync(
    'unshare', [...user, '--mount', 'sh', '-c', script, process.execPath, PROGRAM, module, directory],
    { encoding: 'utf8', timeout: 120_000 }
  )
  if (status !== 0) throw new Error(`ended with ${status ?? signal}: ${stdout}${stderr.slice(-2000)}`)
  const report = JSON.parse(stdout) as {
    codes: Record<string, number>
    first: { written: number, free: number, shortage: string }
    full: Record<string, unknown>
    deleted: number
    again: { written: number, free: number }
    listed: boolean
    reopened: boolean
  }
  t.strictSame(Object.keys(report.codes), ['NoSpace'], 'nothing ever failed but was refused')
  t.equal(stderr, '', 'the package had nothing to complain of')
  t.ok(report.first.written > 500)
  t.ok(
    report.first.free < 8 * MIB && report.first.free > 6 * MIB,
    `${report.first.free} stay free, the floor but for a batch`
  )
  t.equal(report.first.shortage, 'NoSpace')
  t.match(report.full, { free: 0, deleted: 'NoSpace', read: true, count: true })
  t.ok(report.again.written > report.first.written / 3, `${report.again.written} of ${report.first.written} fit again`)
  t.ok(report.again.free >= 4 * MIB)
  t.ok(report.listed)
  t.ok(report.reopened)
})

t.test('free space is what an ordinary user may write', async t => {
  const { bavail, bsize } = await statfs(root)
  await writeFile(path.join(root, 'x'), 'x')
  const backend = await openEmbedded(fresh(), { minFree: bavail * bsize * 2 })
  await t.rejects(backend.create('/a', Buffer.from('1')), { code: 'NoSpace' })
  await backend.close()
})

/** Commands that are killed at any moment: nothing is lost, and nothing incomplete is taken for complete. */
import t, { type Test } from 'tap'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBackend, openStores } from '../../../storage/open.js'
import { startEtcd } from '../../etcd-process.js'
import { begin, called, fill, objectsOf } from './command.js'

const OBJECTS = 3_000
const ROUNDS = 4

const root = mkdtempSync(join(tmpdir(), 'orch-crash-'))
t.teardown(() => { rmSync(root, { recursive: true, force: true }) })
const at = (name: string): string => join(root, name)
let objects: Awaited<ReturnType<typeof objectsOf>>
t.before(async () => {
  await fill(at('data'), OBJECTS)
  objects = await objectsOf(at('data'))
})

/**
 * Kills the command `after` milliseconds from the moment at which it has begun to write. Returns false if it finished
 * before.
 */
async function killed (begun: () => boolean, after: number, ...args: string[]): Promise<boolean> {
  const child = begin(...args)
  const closed = once(child, 'close')
  while (!begun() && child.exitCode === null) await new Promise(resolve => { setTimeout(resolve, 1) })
  const timer = setTimeout(() => { child.kill('SIGKILL') }, after)
  const [code] = await closed as [number | null]
  clearTimeout(timer)
  if (code !== null && code !== 0) throw new Error(`it ended with ${code}`)
  return code === null
}

/** Moments at equal distances over the duration of the command, from the moment at which it has begun to write. */
async function moments (begun: () => boolean, again: () => unknown, ...args: string[]): Promise<number[]> {
  const start = { at: 0 }
  await killed(() => {
    if (!begun()) return false
    start.at = performance.now()
    return true
  }, 60_000, ...args)
  const whole = performance.now() - start.at
  await again()
  return Array.from({ length: ROUNDS }, (_, round) => whole * round / (ROUNDS - 1))
}

const isWhole = async (t: Test, folder: string, what: string): Promise<void> => {
  t.strictSame(await objectsOf(folder), objects, what)
}

t.test('a snapshot', { timeout: 300_000 }, async t => {
  const [file, args] = [at('file'), ['snapshot', at('file'), `--data-dir=${at('data')}`] as const]
  const begun = (): boolean => existsSync(`${file}.partial`) || existsSync(file)
  const clean = (): void => { for (const name of [file, `${file}.partial`]) rmSync(name, { force: true }) }
  let kills = 0
  for (const after of await moments(begun, clean, ...args)) {
    clean()
    if (await killed(begun, after, ...args)) kills++
    if (!existsSync(file)) continue
    t.match(
      await called('restore', file, `--data-dir=${at(`restored-${after}`)}`), { status: 0 },
      `what is there after ${after} ms is whole`
    )
  }
  t.ok(kills > 1, `${kills} kills`)
  clean()
  await killed(begun, 5, ...args)
  t.match(await called(...args, '--force'), { status: 0 }, 'and is written in the end')
  t.match(await called('restore', file, `--data-dir=${at('from-file')}`), { status: 0 })
  await isWhole(t, at('from-file'), 'with every object')
})

t.test('a snapshot of a store that is written to: its pages are used again once it is dead', {
  timeout:
    120_000
}, async t => {
  const folder = at('served')
  await fill(folder, OBJECTS)
  const backend = await openBackend({ kind: 'embedded', directory: folder })
  t.teardown(() => backend.close())
  const rewrite = async (): Promise<void> => {
    const { kvs } = await backend.list({ start: '/registry/', end: '/registry0' })
    await Promise.all(kvs.map(async ({ key, modRevision }) =>
      await backend.update(key, Buffer.alloc(1000, `${modRevision} `), modRevision)))
    await backend.compact(await backend.revision())
  }
  // It waits for its reader and keeps the store open meanwhile.
  const child = begin('snapshot', '-', `--data-dir=${folder}`)
  if (child.stdout === null) throw new Error('no standard output')
  await once(child.stdout, 'readable')
  await rewrite()
  const closed = once(child, 'exit')
  child.kill('SIGKILL')
  await closed
  await rewrite()
  await rewrite()
  const before = statSync(join(folder, 'data.mdb')).size
  for (let round = 0; round < 5; round++) await rewrite()
  t.ok(statSync(join(folder, 'data.mdb')).size <= before * 1.2, 'the file does not grow any more')
})

t.test('a restore into a folder', { timeout: 300_000 }, async t => {
  const [file, folder] = [at('source'), at('target')]
  t.match(await called('snapshot', file, `--data-dir=${at('data')}`), { status: 0 })
  const args = ['restore', file, `--data-dir=${folder}`] as const
  const clean = (): void => { rmSync(folder, { recursive: true, force: true }) }
  const begun = (): boolean => existsSync(join(folder, 'data.mdb.partial')) || existsSync(join(folder, 'data.mdb'))
  let kills = 0
  for (const after of await moments(begun, clean, ...args)) {
    clean()
    if (await killed(begun, after, ...args)) kills++
    if (existsSync(join(folder, 'data.mdb'))) {
      await isWhole(t, folder, `what is there after ${after} ms is whole`)
      continue
    }
    await t.rejects(
      openBackend({ kind: 'embedded', directory: folder }),
      /a restore into the directory .* was interrupted: run it again/, `no server starts after ${after} ms`
    )
    t.match(await called(...args), { status: 0 }, 'and it is repeated')
    await isWhole(t, folder, 'with every object')
  }
  t.ok(kills > 1, `${kills} kills`)
})

t.test('a compaction', { timeout: 300_000 }, async t => {
  const folder = at('compacted')
  await fill(folder, OBJECTS)
  const args = ['compact', `--data-dir=${folder}`] as const
  const begun = (): boolean => existsSync(join(folder, 'opening')) || existsSync(join(folder, 'data.mdb.partial'))
  let kills = 0
  for (const after of await moments(begun, () => {}, ...args)) {
    if (await killed(begun, after, ...args)) kills++
    await isWhole(t, folder, `after ${after} ms`)
    t.match(await called('fsck', `--data-dir=${folder}`), { status: 0, stdout: /^clean: 3000 objects/ })
  }
  t.ok(kills > 1, `${kills} kills`)
  t.match(await called(...args), { status: 0 })
  t.strictSame(readdirSync(folder).filter(name => name.includes('partial')), [])
})

t.test('a migration to etcd and back', { timeout: 300_000 }, async t => {
  const etcd = await startEtcd(t)
  const plain = await openBackend({ kind: 'etcd', servers: [etcd.url] })
  t.teardown(() => plain.close())
  const mark = async (): Promise<string> =>
    Buffer.from((await plain.get('/registry/.format')).kv?.value ?? []).toString()
  const args = ['migrate', `--from=${at('data')}`, `--to=${etcd.url}`] as const
  let kills = 0
  for (const after of [0, 100, 300]) {
    const child = begin(...args)
    const closed = once(child, 'close')
    while (!(await mark()).startsWith('restoring') && child.exitCode === null) {
      await new Promise(resolve => { setTimeout(resolve, 5) })
    }
    const timer = setTimeout(() => { child.kill('SIGKILL') }, after)
    const [code] = await closed as [number | null]
    clearTimeout(timer)
    if (code === 0) break
    kills++
    const stores = await openStores(
      { kind: 'etcd', servers: [etcd.url] }, { prefix: '/registry', note: () => {}, refused: () => {} }
    )
    await t.rejects(
      stores.of('', 'configmaps').revision(), /is being restored, or a restore was interrupted/,
      `no server starts after ${after} ms`
    )
    await stores.close()
    t.match(
      await called('snapshot', at('half'), `--etcd-servers=${etcd.url}`),
      { status: 1, stderr: /is being restored, or a restore was interrupted/ }, 'and cannot be copied'
    )
  }
  t.ok(kills > 0, `${kills} kills`)
  if ((await mark()).startsWith('restoring')) t.match(await called(...args), { status: 0 }, 'and it is repeated')
  const back = ['migrate', `--from=${etcd.url}`, `--to=${at('back')}`] as const
  const begun = (): boolean => existsSync(join(at('back'), 'data.mdb.partial'))
  for (const after of [0, 200]) await killed(begun, after, ...back)
  if (!existsSync(join(at('back'), 'data.mdb'))) t.match(await called(...back), { status: 0 })
  await isWhole(t, at('back'), 'with every object')
})

import t from 'tap'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Backend, Revision } from '../../../storage/backend.js'
import { openEmbedded } from '../../../storage/embedded/lmdb.js'
import { RETENTION_FILE, type Retention } from '../../../storage/embedded/retention.js'
import { done } from '../../contracts/backend.js'
import type { Test } from '../../build.js'
import { FakeClock } from '../fake-clock.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

class Store {
  readonly directory = mkdtempSync(join(tmpdir(), 'orch-retention-'))
  readonly clock = new FakeClock()
  readonly notes: string[] = []
  /** The revision of each minute's write. */
  readonly written: Revision[] = []
  backend: Backend | undefined

  async open (historyRetention: Retention): Promise<Backend> {
    this.backend = await openEmbedded(this.directory, {
      historyRetention, clock: this.clock, note: text => { this.notes.push(text) }
    })
    return this.backend
  }

  /** Writes once a minute. */
  async pass (backend: Backend, minutes: number, bytes = 10): Promise<void> {
    for (let minute = 0; minute < minutes; minute++) {
      const { kv } = await backend.get('/a')
      const value = Buffer.alloc(bytes, String(this.written.length))
      this.written.push(done(
        kv === undefined ? await backend.create('/a', value) : await backend.update('/a', value, kv.modRevision)
      ))
      while (this.clock.waits.length === 0) await new Promise(resolve => { setImmediate(resolve) })
      this.clock.advance(MINUTE)
      // the step is over when it waits for the next
      while (this.clock.waits.length === 0) await new Promise(resolve => { setImmediate(resolve) })
    }
  }
}

async function store (t: Test): Promise<Store> {
  const made = new Store()
  t.teardown(async () => {
    await made.backend?.close()
    rmSync(made.directory, { recursive: true, force: true })
  })
  return made
}

t.test('a state is readable for the time, over restarts, and not for longer', async t => {
  const kept = await store(t)
  let backend = await kept.open({ milliseconds: HOUR })
  await kept.pass(backend, 40)
  await backend.close()
  backend = await kept.open({ milliseconds: HOUR })
  await kept.pass(backend, 60)
  const ago = (minutes: number): Revision => kept.written[kept.written.length - minutes] ?? 0
  t.equal((await backend.get('/a', ago(58))).kv?.modRevision, ago(58))
  t.ok(
    backend.compactedRevision() <= ago(60) && backend.compactedRevision() >= ago(62),
    'the state of an hour ago is the oldest'
  )
  await t.rejects(backend.get('/a', ago(62)), { code: 'Compacted' })
  t.equal(statSync(join(kept.directory, RETENTION_FILE)).mode & 0o777, 0o600)
  t.same(kept.notes, [])
})

t.test('or for so many bytes of changes', async t => {
  const kept = await store(t)
  const backend = await kept.open({ bytes: 100_000 })
  await kept.pass(backend, 150, 1000)
  const ago = (writes: number): Revision => kept.written[kept.written.length - writes] ?? 0
  t.equal((await backend.get('/a', ago(95))).kv?.modRevision, ago(95))
  await t.rejects(backend.get('/a', ago(105)), { code: 'Compacted' })
})

t.test(
  'marks that are damaged or of another store are forgotten, and a clock that was set back keeps nothing for longer',
  async t => {
    const kept = await store(t)
    let backend = await kept.open({ milliseconds: HOUR })
    await kept.pass(backend, 5)
    for (const text of [
      '', '[1]', '{"at":1}', `[{"at":${kept.clock.wall()},"revision":1000,"written":0}]`,
      `[{"at":${kept.clock.wall() + 1000 * HOUR},"revision":${kept.written[3] ?? 0},"written":0}]`
    ]) {
      await backend.close()
      writeFileSync(join(kept.directory, RETENTION_FILE), text)
      backend = await kept.open({ milliseconds: HOUR })
      await kept.pass(backend, 2)
      t.equal(backend.compactedRevision(), 0, text)
    }
    await kept.pass(backend, 62)
    t.ok(backend.compactedRevision() >= (kept.written[3] ?? Infinity))
  }
)

t.test('a long retention keeps no more marks than a short one', async t => {
  const kept = await store(t)
  const backend = await kept.open({ milliseconds: 300 * 24 * HOUR })
  await kept.pass(backend, 300)
  t.ok((JSON.parse(readFileSync(join(kept.directory, RETENTION_FILE), 'utf8')) as unknown[]).length < 3)
  await kept.pass(backend, 1)
  t.equal(backend.compactedRevision(), 0)
})

t.test('restarts between marks do not prolong a history limited by bytes', async t => {
  const kept = await store(t)
  for (let start = 0; start < 6; start++) {
    const backend = await kept.open({ bytes: 1_000_000 })
    await kept.pass(backend, 1, 9000) // a mark is due after 10 kB
    await backend.close()
  }
  const marks = JSON.parse(readFileSync(join(kept.directory, RETENTION_FILE), 'utf8')) as Array<{ written: number }>
  t.ok((marks.at(-1)?.written ?? 0) >= 35_000, 'bytes written between the last mark and the restart count')
})

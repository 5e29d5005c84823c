/** Watches of a shared store with more to deliver than the connection buffers. */
import t from 'tap'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBackend } from '../../storage/open.js'
import { serveStore } from '../../storage/shared/server.js'
import { done } from '../contracts/backend.js'
import { eventually } from '../serving/processes/server.js'
import { Observed } from '../contracts/observed.js'

t.test('a long history comes whole and in order, in parts as it is taken, and is followed by what is new', {
  timeout:
    100_000
}, async t => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-shared-watches-'))
  const store = await openBackend({ kind: 'embedded', directory })
  const server = await serveStore(store, directory, error => { throw error })
  const backend = await openBackend({ kind: 'shared', directory })
  t.teardown(async () => {
    await backend.close()
    await server.close()
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const value = Buffer.alloc(64 * 1024, 'x')
  const begin = await store.revision()
  let revision = done(await store.create('/a', value))
  const revisions = [revision]
  for (let at = 0; at < 200; at++) revisions.push(revision = done(await store.update('/a', value, revision)))

  // More than the connection buffers, for one watch with previous values and one without; both request progress at
  // once.
  const withPrevious = new Observed(backend, '/a', '/b', begin)
  withPrevious.watch.requestProgress()
  const seen: number[] = []
  const progress: number[] = []
  const without = backend.watch({
    start: '/a', end: '/b', after: begin, previous: false,
    onEvents: events => { for (const { kv } of events) seen.push(kv.modRevision) },
    onProgress: reached => { progress.push(reached) },
    onEnd: error => { t.error(error) }
  })
  without.requestProgress()
  await withPrevious.upTo(revision)
  await eventually('the watch says that it is up to date', () => (progress.at(-1) ?? 0) >= revision)
  t.same(withPrevious.events.map(({ kv }) => kv.modRevision), revisions)
  t.ok(withPrevious.events.slice(1).every(({ previous }) => previous?.value.length === value.length))
  t.same(seen, revisions)
  const next = done(await backend.update('/a', Buffer.from('new'), revision))
  await withPrevious.upTo(next)
  t.equal(seen.at(-1), next)
  t.same(withPrevious.faults, [])
  withPrevious.watch.cancel()
  without.cancel()
})

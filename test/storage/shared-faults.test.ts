/** The process with the disk is killed and restarted while others write and watch. */
import t from 'tap'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { openBackend } from '../../storage/open.js'
import { isStorageError } from '../../storage/errors.js'
import { done } from '../contracts/backend.js'
import { writeThroughTrouble } from '../contracts/faults.js'

const KILLS = 4

async function hold (directory: string): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('store-holder.js', import.meta.url)), [directory])
  await once(child, 'message')
  return child
}

async function kill (child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function place (t: { teardown: (end: () => unknown) => void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-shared-faults-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  return join(folder, 'store')
}

t.test(
  'the outcome reported of each write is true, and watches continue, while the store is killed repeatedly',
  { timeout: 200_000 }, async t => {
    const directory = place(t)
    let holder = await hold(directory)
    t.teardown(() => { holder.kill('SIGKILL') })
    const backend = await openBackend({ kind: 'shared', directory })
    t.teardown(() => backend.close())
    await writeThroughTrouble(t, backend, async () => await openBackend({ kind: 'shared', directory }), async () => {
      for (let at = 0; at < KILLS; at++) {
        await sleep(300)
        await kill(holder)
        holder = await hold(directory)
      }
      await sleep(300)
    })
  }
)

t.test(
  'without the process of the store, calls fail within a little more than a second and nothing is written',
  { timeout: 100_000 }, async t => {
    const directory = place(t)
    const holder = await hold(directory)
    const backend = await openBackend({ kind: 'shared', directory })
    t.teardown(() => backend.close())
    const revision = done(await backend.create('/a', Buffer.from('1')))
    t.equal(backend.revisionNow(), revision)
    await kill(holder)
    while (backend.revisionNow() !== undefined) await sleep(1)
    const refused = await Promise.all([
      backend.get('/a'), backend.update('/a', Buffer.from('2'), revision), backend.revision(), backend.status()
    ].map(async call => await call.then(() => undefined, (error: unknown) => error)))
    t.ok(refused.every(error => isStorageError(error, 'Unavailable')), refused.map(String).join(', '))
    const again = await hold(directory)
    t.teardown(() => { again.kill('SIGKILL') })
    await backend.revision()
    t.equal(Buffer.from((await backend.get('/a')).kv?.value ?? []).toString(), '1')
  }
)

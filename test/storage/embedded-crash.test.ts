import t from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openBackend } from '../../storage/open.js'

const ROUNDS = 10
const WRITES = 5_000

interface Acknowledged { readonly key: string, readonly revision: number, readonly name: string }

/** Runs the writer until it has acknowledged that many writes, kills it, and returns all that it acknowledged. */
async function killAmidWrites (
  directory: string, round: number
): Promise<{ opened: number, acknowledged: Acknowledged[] }> {
  const child = spawn(
    process.execPath, [path.join(import.meta.dirname, 'crash-writer.js'), directory, String(round)],
    { stdio: ['ignore', 'pipe', 'inherit'] }
  )
  let text = ''
  let lines = 0
  child.stdout.setEncoding('latin1')
  child.stdout.on('data', (piece: string) => {
    text += piece
    for (let at = piece.indexOf('\n'); at >= 0; at = piece.indexOf('\n', at + 1)) lines++
    // A different moment each round, relative to active commits.
    if (lines >= WRITES / 2 + round * 97) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'close')
  if (signal !== 'SIGKILL') throw new Error(`the writer ended by itself: ${text.slice(-200)}`)
  // The last line may be truncated.
  const [first = '', ...rest] = text.slice(0, text.lastIndexOf('\n')).split('\n')
  return {
    opened: Number(first.split(' ')[1]),
    acknowledged: rest.map(line => {
      const [key = '', revision, name = ''] = line.split(' ')
      return { key, revision: Number(revision), name }
    })
  }
}

t.test('after ten kills amid writes the store has all acknowledged writes and accepts new ones', async t => {
  const directory = await mkdtemp(path.join(tmpdir(), 'orch-crash-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  let highest = 1
  let total = 0
  const newest = new Map<string, Acknowledged>()
  for (let round = 0; round < ROUNDS; round++) {
    const { opened, acknowledged } = await killAmidWrites(directory, round)
    t.ok(opened >= highest, `round ${round}: opened at ${opened}, not before ${highest}`)
    total += acknowledged.length
    for (const write of acknowledged) {
      highest = Math.max(highest, write.revision)
      if (write.revision > (newest.get(write.key)?.revision ?? 0)) newest.set(write.key, write)
    }
    t.equal(new Set(acknowledged.map(write => write.revision)).size, acknowledged.length, 'no revision was given twice')

    const backend = await openBackend({ kind: 'embedded', directory })
    const wrong: string[] = []
    const { kvs, revision } = await backend.list({ start: '/crash/', end: '/crash0' })
    const found = new Map(kvs.map(kv => [kv.key, kv]))
    for (const { key, revision, name } of newest.values()) {
      const kv = found.get(key)
      const value = Buffer.from(kv?.value ?? []).toString()
      // Writes without an acknowledgement when the process died may exist too; then the revision is higher.
      if (kv === undefined ||
        kv.modRevision < revision) wrong.push(`${key} at ${revision} is lost, there is ${kv?.modRevision}`)
      else if (kv.modRevision === revision &&
        !value.startsWith(`${name};`)) wrong.push(`${key} at ${revision} holds ${value.slice(0, 20)}`)
      else if (value.length !== 600) wrong.push(`${key} at ${kv.modRevision} has ${value.length} bytes`)
    }
    for (const { key, revision, name } of acknowledged) {
      if (revision < backend.compactedRevision()) continue
      const { kv } = await backend.get(key, revision)
      if (kv?.modRevision !== revision || !Buffer.from(kv.value).toString().startsWith(`${name};`)) {
        wrong.push(`${key} can not be read at ${revision}`)
      }
    }
    t.same(wrong.slice(0, 5), [])
    t.ok(revision >= highest)
    const next = await backend.create(`/after/${round}`, Buffer.from('x'))
    t.ok(next.succeeded && next.revision > revision)
    highest = Math.max(highest, next.revision)
    await backend.close()
  }
  t.ok(total >= ROUNDS * WRITES / 2, `${total} acknowledged writes`)
})

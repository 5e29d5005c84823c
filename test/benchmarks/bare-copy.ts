/**
 * The cheapest way to back up bytes: `copy FROM TO` with a digest, synced; or `store FROM TO`, which puts the values of
 * a snapshot into lmdb alone, synced.
 */
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, fsyncSync, openSync, writeSync } from 'node:fs'
import { open } from 'lmdb'
import { readSnapshot } from '../../storage/transfer/snapshot-reader.js'

const [what, from = '', to = ''] = process.argv.slice(2)
const chunks = createReadStream(from, { highWaterMark: 1024 * 1024 })
if (what === 'copy') {
  const digest = createHash('sha256')
  const fd = openSync(to, 'w')
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    digest.update(chunk)
    writeSync(fd, chunk)
  }
  console.log(digest.digest('hex'))
  fsyncSync(fd)
  closeSync(fd)
} else {
  const table = open<Uint8Array, string>({
    path: to, noSubdir: true, encoding: 'binary', noSync: true, eventTurnBatching: false
  })
  for await (const objects of (await readSnapshot(chunks)).objects()) {
    await table.batch(() => { for (const { key, value } of objects) void table.put(key, value) })
  }
  await table.close()
  const fd = openSync(to, 'r')
  fsyncSync(fd)
}

/** `orch-apiserver restore FILE`: creates a store from a snapshot. */
import { createReadStream } from 'node:fs'
import { openWriter } from '../../storage/transfer/open.js'
import { readSnapshot, SnapshotError } from '../../storage/transfer/snapshot-reader.js'
import type { Command } from './command.js'
import { copyStore } from './copy-store.js'
import { HELP_FLAG, placeOf, STORE_FLAGS, storeOf } from './stores.js'

const CHUNK_BYTES = 1024 * 1024

export const RESTORE: Command = {
  form: {
    name: 'orch-apiserver restore',
    usage: 'FILE [--data-dir=FOLDER | --etcd-servers=…]',
    description: `Makes a store of a snapshot that orch-apiserver snapshot wrote, from FILE, or from standard input if \
FILE is -: in a folder without a store, or below --etcd-prefix in an etcd without keys there. The store can be used \
when all of it has been read, checked and written; until then no server starts on it.

An embedded store keeps the versions of its objects, in etcd they get new ones. All versions from then on are above \
those that clients know, so every watch and continue token from before gets 410, and clients list again.

Exit code: 0 it is restored, 1 it is not, and nothing is left of it.`,
    operands: ['FILE'],
    sections: { Flags: { ...STORE_FLAGS, ...HELP_FLAG } }
  },
  run: async (parsed, { interruption, stream }) => {
    const [file = ''] = parsed.operands
    const store = await storeOf(parsed)
    const chunks = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: CHUNK_BYTES })
    try {
      const reader = await readSnapshot(chunks)
      try {
        const { what, revision } = await copyStore(reader, () => openWriter(store, reader), {
          name: 'restore', stream, interruption
        })
        return `restored ${placeOf(store)} from ${file === '-' ? 'standard input' : file}: ${what}, as of ` +
          `${new Date(reader.takenAt).toISOString()}, revision ${reader.revision}; it continues at revision ` +
          `${revision}`
      } finally {
        await reader.close()
      }
    } catch (error) {
      throw error instanceof SnapshotError
        ? new Error(`${file === '-' ? 'standard input' : file}: ${error.message}`, { cause: error })
        : error
    } finally {
      chunks.destroy()
    }
  }
}

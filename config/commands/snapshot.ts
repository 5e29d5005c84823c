/** `orch-apiserver snapshot FILE`: writes the newest state of a store to a file, also while servers use it. */
import { realpathSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { packageVersion } from '../../schemas/package-files.js'
import { openReader, type WholeStore } from '../../storage/transfer/open.js'
import { ArgumentError } from '../command-line.js'
import { snapshotOf } from '../../storage/transfer/snapshot-writer.js'
import type { Flag } from '../flag.js'
import type { Command, Context } from './command.js'
import { Progress } from './progress.js'
import { snapshotFile, standardOutput, type Sink } from './snapshot-file.js'
import { COMMAND_FLAGS, HELP_FLAG, placeOf, STORE_FLAGS, storeOf } from './stores.js'

/** The file of an embedded store. The names of its other files begin with this name. */
const STORE_FILE = 'data.mdb'

export const SNAPSHOT: Command = {
  form: {
    name: 'orch-apiserver snapshot',
    usage: 'FILE [--data-dir=FOLDER | --etcd-servers=…]',
    description: `Writes the newest state of a store to FILE, or to standard output if FILE is -. Servers go on \
meanwhile. The file appears when it is complete and on disk, with mode 0600.

It holds every object as it is stored: encrypted values stay encrypted, and all others can be read in it. It holds no \
certificates and no keys. orch-apiserver restore reads it.

Exit code: 0 it is written, 1 it is not.`,
    operands: ['FILE'],
    sections: { Flags: { ...STORE_FLAGS, force: COMMAND_FLAGS.force as Flag<unknown>, ...HELP_FLAG } }
  },
  run: async (parsed, context) => {
    const [file = ''] = parsed.operands
    const store = await storeOf(parsed)
    refuseFileOfStore(store, file)
    const sink = file === '-' ? standardOutput() : snapshotFile(file, parsed.values.force === true)
    try {
      return await written(store, file, sink, context)
    } catch (error) {
      sink.discard()
      throw error
    }
  }
}

async function written (
  store: WholeStore, file: string, sink: Sink, { interruption, stream }: Context
): Promise<string> {
  const reader = await openReader(store, false)
  try {
    const progress = new Progress(stream, 'snapshot', reader.count)
    const checkSpace = spaceCheck(store, file)
    let bytes = 0
    for await (const chunk of snapshotOf(reader, `orch-apiserver ${packageVersion()}`, progress.add)) {
      interruption.check()
      checkSpace(chunk.length)
      await sink.write(chunk)
      bytes += chunk.length
    }
    interruption.check()
    await sink.finish()
    return `wrote ${file === '-' ? 'standard output' : file}: ${progress.end()}, at revision ${reader.revision} of ` +
      `${placeOf(store)} (${bytes} bytes)`
  } finally {
    await reader.close()
  }
}

/** With `--force` the snapshot would replace the store, even under a running server. @throws ArgumentError */
function refuseFileOfStore (store: WholeStore, file: string): void {
  if (store.kind !== 'embedded' || !basename(file).startsWith(STORE_FILE)) return
  const real = (folder: string): string | undefined => {
    try {
      return realpathSync(folder)
    } catch {
      return undefined // opening the store reports it
    }
  }
  const folder = real(dirname(file))
  if (folder !== undefined && folder === real(store.directory)) {
    throw new ArgumentError(`${file}: is a file of the store; name another one`)
  }
}

/** A multiple of the server's minimum: once it refuses writes, it needs more than the minimum to resume. */
const MARGIN = 2

/** A file on the disk of an embedded store must leave room for its server. */
function spaceCheck (store: WholeStore, file: string): (bytes: number) => void {
  if (store.kind !== 'embedded' || store.minFree === undefined || file === '-') return () => {}
  const folder = dirname(file)
  if (statSync(folder).dev !== statSync(store.directory).dev) return () => {}
  const keep = store.minFree * MARGIN
  return bytes => {
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize < keep + bytes) {
      throw new Error(`${file}: the disk is that of the store, and would have less than ${keep / 1024 / 1024} MiB ` +
        'free, twice --data-dir-min-free; name a file on another one')
    }
  }
}

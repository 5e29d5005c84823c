/** `orch-apiserver recover FOLDER`: writes what is readable of a damaged embedded store to a snapshot. */
import { InUseError } from '../../storage/errors.js'
import { salvage } from '../../storage/embedded/salvage.js'
import { snapshotOf } from '../../storage/transfer/snapshot-writer.js'
import { packageVersion } from '../../schemas/package-files.js'
import { printable, type Flag } from '../flag.js'
import type { Command } from './command.js'
import { Progress } from './progress.js'
import { snapshotFile } from './snapshot-file.js'
import { COMMAND_FLAGS, HELP_FLAG } from './stores.js'

/** Losses that are listed one by one. */
const LISTED = 1000

export const RECOVER: Command = {
  form: {
    name: 'orch-apiserver recover',
    usage: 'FOLDER [--output=FILE]',
    description: `Reads a damaged embedded store that no server uses, writes the newest readable version of each \
object to a snapshot, and lists on standard error what is damaged, lost, or older than it was. It changes no data in \
FOLDER, which may be mounted read-only.

Rather restore a backup, if there is one: which objects lay on unreadable pages nobody knows, and objects whose \
deletion lay there are back. orch-apiserver restore makes a store of the snapshot; then look at what is listed.

Exit code: 0 the snapshot is written, 1 it is not.`,
    operands: ['FOLDER'],
    sections: {
      Flags: {
        output: COMMAND_FLAGS.output as Flag<unknown>, force: COMMAND_FLAGS.force as Flag<unknown>, ...HELP_FLAG
      }
    }
  },
  run: async ({ operands, values }, { interruption, stream }) => {
    const [folder = ''] = operands
    const file = values.output === '' ? `${folder.replace(/\/+$/, '')}.recovered` : String(values.output)
    const sink = snapshotFile(file, values.force === true)
    try {
      const { reader, losses } = await salvage(folder)
      try {
        for (const loss of losses.slice(0, LISTED)) stream.write(`${printable(loss, 1000)}\n`)
        if (losses.length > LISTED) stream.write(`and ${losses.length - LISTED} more\n`)
        const progress = new Progress(stream, 'recover', reader.count)
        for await (const chunk of snapshotOf(reader, `orch-apiserver ${packageVersion()}`, progress.add)) {
          interruption.check()
          await sink.write(chunk)
        }
        await sink.finish()
        return `wrote ${file}: ${progress.end()}, at revision ${reader.revision}, with ${losses.length} damages; now ` +
          `orch-apiserver restore ${file} --data-dir=NEW, and start the server there`
      } finally {
        await reader.close()
      }
    } catch (error) {
      sink.discard()
      if (!(error instanceof InUseError)) throw error
      throw new Error(`${error.problem}: stop that one first`, { cause: error })
    }
  }
}

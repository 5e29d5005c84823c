/** `orch-apiserver migrate --from=… --to=…`: copies a store that no server uses to one of the other kind. */
import { openReader, openWriter } from '../../storage/transfer/open.js'
import { ArgumentError } from '../command-line.js'
import type { Flag } from '../flag.js'
import type { Command } from './command.js'
import { copyStore } from './copy-store.js'
import { COMMAND_FLAGS, ETCD_FLAGS, FOLDER_FLAGS, HELP_FLAG, isRemote, placeOf, storeNamed } from './stores.js'

export const MIGRATE: Command = {
  form: {
    name: 'orch-apiserver migrate',
    usage: '--from=FOLDER --to=SERVERS | --from=SERVERS --to=FOLDER',
    description: `Copies a store from a folder to an etcd, or from an etcd to a folder, where there is no store yet. \
SERVERS are those of --etcd-servers, the flags of etcd are for them. Stop all servers of the store first: a folder in \
use is refused, and so is an etcd that servers use or that changes meanwhile.

Versions of objects and watches are as after a restore. The store that was copied stays; start no server on it any \
more. Run it again if it was interrupted.

Exit code: 0 it is copied, 1 it is not, and nothing is left of it.`,
    sections: {
      Flags: {
        from: COMMAND_FLAGS.from as Flag<unknown>, to: COMMAND_FLAGS.to as Flag<unknown>, ...ETCD_FLAGS,
        ...FOLDER_FLAGS, ...HELP_FLAG
      }
    }
  },
  run: async (parsed, { interruption, stream }) => {
    const [source, target] = [await storeNamed('from', parsed), await storeNamed('to', parsed)]
    if (isRemote(String(parsed.values.from)) === isRemote(String(parsed.values.to))) {
      throw new ArgumentError(
        'one of --from and --to is a folder, the other the servers of an etcd; copies of the same kind are made with ' +
          'snapshot and restore'
      )
    }
    const reader = await openReader(source, true)
    try {
      const { what, revision } = await copyStore(reader, () => openWriter(target, reader), {
        name: 'migrate', stream, interruption
      })
      return `copied ${placeOf(source)} to ${placeOf(target)}: ${what}, at revision ${reader.revision}; it continues ` +
        `at revision ${revision}. Start no server on the first any more`
    } finally {
      await reader.close()
    }
  }
}

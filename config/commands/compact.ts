/** `orch-apiserver compact`: discards the history of a store and returns its free space to the disk. */
import type { Compacted } from '../../storage/transfer/stores.js'
import { compactStore } from '../../storage/transfer/open.js'
import { InUseError } from '../../storage/errors.js'
import type { Command } from './command.js'
import { mebibytes, Progress } from './progress.js'
import { HELP_FLAG, placeOf, STORE_FLAGS, storeOf } from './stores.js'

export const COMPACT: Command = {
  form: {
    name: 'orch-apiserver compact',
    usage: '[--data-dir=FOLDER | --etcd-servers=…]',
    description: `Forgets the history of a store and gives its free space back to the disk. Watches from before get 410.

An embedded store must have no server: its file is copied, which takes as much room again as its contents, and \
replaced when the copy is complete. In an etcd the history of all its programs is forgotten; each server in \
--etcd-servers is defragmented, one after the other, and answers nothing meanwhile. That needs the rights of its root \
user.

Exit code: 0 it is compacted, 1 it is not.`,
    sections: { Flags: { ...STORE_FLAGS, ...HELP_FLAG } }
  },
  run: async (parsed, { interruption, stream }) => {
    const store = await storeOf(parsed)
    const files: Compacted[] = []
    const progress = new Progress(stream, 'compact', undefined)
    try {
      await compactStore(store, file => { files.push(file) }, (records, bytes) => {
        interruption.check()
        progress.add(records, bytes)
      })
    } catch (error) {
      if (!(error instanceof InUseError)) throw error
      const remedy = 'stop that one first, or leave it as it is: the server reuses the space of deleted objects'
      throw new Error(`${error.problem}: ${remedy}`, { cause: error })
    } finally {
      progress.end()
    }
    return `compacted ${placeOf(store)}: ` +
      `${files.map(({ place, before, after }) =>
        `${store.kind === 'embedded' ? '' : `${place} `}${mebibytes(before)} before, ${mebibytes(after)} after`)
        .join('; ')}`
  }
}

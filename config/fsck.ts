/**
 * `orch-apiserver fsck --data-dir=FOLDER`: checks an embedded store that no server uses and reports damage. Read-only,
 * and without LMDB, which would crash on damaged pages.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { InUseError, isStorageError } from '../storage/errors.js'
import { inspect } from '../storage/embedded/inspection.js'
import { STORE_FILE } from '../storage/embedded/lmdb.js'
import { lockToRead } from '../storage/embedded/lock.js'
import { helpText, parseArguments, type CommandForm } from './command-line.js'
import { printable, type Flag } from './flag.js'
import { FLAGS } from './flags/index.js'

export const FSCK: CommandForm = {
  name: 'orch-apiserver fsck',
  usage: '--data-dir=FOLDER',
  description: `Reads the whole embedded store in the folder and reports every damage: pages, counts, the checksum of \
every value. It changes nothing, and runs only while no server holds the folder.

Exit code: 0 the store is clean, 1 something is damaged, 2 it could not be read.

A damaged store is not started with: restore the folder from a backup. Single damaged values do not stop it: each is \
named here and in the log of the server, can be deleted there, and all other objects are served.`,
  // as in SERVE
  sections: { Flags: { 'data-dir': FLAGS['data-dir'] as Flag<unknown>, help: FLAGS.help as Flag<unknown> } }
}

/** @returns the exit code */
export async function fsck (
  args: readonly string[], out: (text: string) => void, failed: (text: string) => void
): Promise<number> {
  let parsed
  try {
    parsed = parseArguments(args, FSCK)
  } catch (error) {
    failed(error instanceof Error ? error.message : String(error))
    return 2
  }
  const { values } = parsed
  if (values.help) {
    out(helpText(FSCK))
    return 0
  }
  const directory = values['data-dir']
  const file = join(directory, STORE_FILE)
  const cannot = (why: string): number => {
    failed(`--data-dir=${printable(directory)}: ${printable(why)}`)
    return 2
  }
  if (!existsSync(file)) {
    return cannot(`there is no store: no ${STORE_FILE} lies there; name the folder of an embedded store`)
  }
  let lock
  try {
    lock = await lockToRead(directory)
  } catch (error) {
    if (error instanceof InUseError) return cannot(`${error.problem}: stop that one first`)
    return cannot(isStorageError(error) ? error.message : String(error))
  }
  try {
    const { problems, values: damaged, versions, keys, bytes } = await inspect(file)
    for (const problem of [...problems, ...damaged]) out(`${printable(problem)}\n`)
    const all = `${keys} objects in ${versions} versions, ${bytes} bytes`
    if (problems.length > 0) {
      out('damaged: the store can not be used, restore it from a backup (orch-apiserver restore), or salvage what is ' +
        `readable (orch-apiserver recover ${printable(directory)}) (${all} were read)\n`)
    } else if (damaged.length > 0) {
      out(`damaged: ${damaged.length} values, beside which the others can be used (${all} were read)\n`)
    } else out(`clean: ${all}\n`)
    return problems.length + damaged.length > 0 ? 1 : 0
  } catch (error) {
    return cannot(String(error))
  } finally {
    await lock?.release()
  }
}

/**
 * Runs the commands that work on a store and then exit, such as `orch-apiserver snapshot`. Each ends with one line: the
 * result on standard output, or the reason of the failure on standard error.
 *
 * Exit codes: 0 done, 1 not done, 128 and the number of the signal if interrupted.
 */
import { ArgumentError, helpText, parseCommand, type CommandForm, type StoreCommand } from '../command-line.js'
import { FlagError, printable } from '../flag.js'
import type { Command } from './command.js'
import { Interrupted, Interruption } from './interruption.js'
import type { ProgressStream } from './progress.js'

const COMMANDS: Readonly<Record<StoreCommand, () => Promise<Command>>> = {
  snapshot: async () => (await import('./snapshot.js')).SNAPSHOT,
  restore: async () => (await import('./restore.js')).RESTORE,
  migrate: async () => (await import('./migrate.js')).MIGRATE,
  compact: async () => (await import('./compact.js')).COMPACT,
  recover: async () => (await import('./recover.js')).RECOVER
}

/** What a command takes. */
export const formOf = async (name: StoreCommand): Promise<CommandForm> => (await COMMANDS[name]()).form

interface Streams { readonly stdout: ProgressStream, readonly stderr: ProgressStream }

/** @returns the exit code */
export async function runCommand (
  name: StoreCommand, args: readonly string[], { stdout, stderr }: Streams = process
): Promise<number> {
  const command = await COMMANDS[name]()
  const interruption = new Interruption()
  try {
    const parsed = parseCommand(args, command.form)
    if (parsed.values.help === true) {
      stdout.write(helpText(command.form))
      return 0
    }
    const done = await command.run(parsed, { interruption, stream: stderr })
    // Standard output may be the snapshot.
    const out = parsed.operands[0] === '-' ? stderr : stdout
    out.write(`${printable(done, 2000)}\n`)
    return 0
  } catch (error) {
    stderr.write(`orch-apiserver ${name}: ${reasonOf(error)}\n`)
    return error instanceof Interrupted ? error.exitCode : 1
  } finally {
    interruption.end()
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full', EDQUOT: 'its quota is used up', EPIPE: 'what reads standard output has ended',
  EACCES: 'this user may not do it', ENOENT: 'there is no such file or folder', EISDIR: 'it is a folder',
  EFBIG: 'it is larger than files may be (ulimit -f)', EROFS: 'its file system is read-only'
}

function reasonOf (error: unknown): string {
  if (error instanceof FlagError || error instanceof ArgumentError) return error.message
  if (!(error instanceof Error)) return printable(String(error), 1000)
  const { code, path } = error as NodeJS.ErrnoException
  const reason = code === undefined ? undefined : REASONS[code]
  return printable(
    reason === undefined ? error.message : `${path === undefined ? '' : `${path}: `}${reason} (${code})`, 1000
  )
}

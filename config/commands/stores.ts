/** Flags that name the store of a command, with the same meaning as for a server, and how they are read. */
import type { WholeStore } from '../../storage/transfer/open.js'
import { checkCombinations } from '../combinations.js'
import type { Parsed, ParsedCommand } from '../command-line.js'
import { bool, type Flag, FlagError, path, Problem } from '../flag.js'
import { FLAGS, type FlagName } from '../flags/index.js'
import { backendOptions } from '../store.js'

type Flags = Readonly<Record<string, Flag<unknown>>>

// each parses its own values
const flagsOf = (...names: FlagName[]): Flags =>
  Object.fromEntries(names.map(name => [name, FLAGS[name] as Flag<unknown>]))

export const STORE_FLAGS = flagsOf(
  'data-dir', 'data-dir-min-free', 'etcd-servers', 'etcd-prefix', 'etcd-cafile', 'etcd-certfile', 'etcd-keyfile'
)
export const FOLDER_FLAGS = flagsOf('data-dir-min-free')
export const ETCD_FLAGS = flagsOf('etcd-prefix', 'etcd-cafile', 'etcd-certfile', 'etcd-keyfile')
export const HELP_FLAG = flagsOf('help')

/** Flags of commands that servers do not have. */
export const COMMAND_FLAGS = {
  force: bool(false, 'replace FILE if it exists'),
  output: path('the snapshot to write; empty for FOLDER with .recovered behind it'),
  from: path('the store to copy: a folder, or servers of an etcd as in --etcd-servers'),
  to: path('the store to make: a folder without a store, or servers of an etcd without keys below --etcd-prefix')
}

/** @throws FlagError */
export async function storeOf ({ values, given }: ParsedCommand): Promise<WholeStore> {
  const all = Object.fromEntries(Object.entries(FLAGS).map(([name, flag]) => [name, values[name] ?? flag.default]))
  const parsed = { values: all, given } as unknown as Parsed // one value of each flag, parsed by it
  checkCombinations(parsed)
  const options = await backendOptions(parsed)
  if (options.kind === 'etcd') return { ...options, prefix: parsed.values['etcd-prefix'] }
  return { kind: options.kind, directory: options.directory, minFree: options.minFree }
}

/**
 * The store named by `--from` or `--to`: a folder or etcd servers. Other flags apply only to the kind they belong to.
 * @throws FlagError
 */
export async function storeNamed (
  flag: 'from' | 'to', { values, given, operands }: ParsedCommand
): Promise<WholeStore> {
  const text = String(values[flag])
  if (text === '') throw new FlagError(flag, undefined, 'is missing: name a folder, or servers of an etcd')
  const remote = isRemote(text)
  const name = remote ? 'etcd-servers' : 'data-dir'
  const own = new Set(Object.keys(remote ? ETCD_FLAGS : FOLDER_FLAGS))
  const only = <T>(entries: Iterable<readonly [string, T]>): Array<readonly [string, T]> =>
    [...entries].filter(([other]) => own.has(other))
  try {
    const value = (FLAGS[name] as Flag<unknown>).parse(text, undefined)
    return await storeOf({
      values: { ...Object.fromEntries(only(Object.entries(values))), [name]: value },
      given: new Map([...only(given), [name, text]]), operands
    })
  } catch (error) {
    if (error instanceof Problem) throw new FlagError(flag, text, error.message)
    throw error instanceof FlagError && error.flag === name
      ? new FlagError(flag, text, error.problem, { cause: error })
      : error
  }
}

export const isRemote = (text: string): boolean => /^https?:\/\//.test(text)

/** Names the store by its flags, for messages. */
export const placeOf = (store: WholeStore): string => store.kind === 'embedded'
  ? `--data-dir=${store.directory}`
  : `--etcd-servers=${store.servers.join(',')} below ${store.prefix}`

/** Commands that print something of the flags' declarations. */
import { ArgumentError, STORE_COMMANDS, type CommandForm, type PRINTING_COMMANDS } from '../command-line.js'
import { printable } from '../flag.js'
import { FSCK } from '../fsck.js'
import { completion } from './completion.js'
import { DEV_FORM } from './dev.js'
import { manPage } from './man.js'
import { formOf } from './run.js'

/** @throws ArgumentError */
export async function printed (
  name: (typeof PRINTING_COMMANDS)[number], args: readonly string[]
): Promise<string> {
  const [shell] = args
  const allowed = name === 'completion' ? ['bash'] : []
  if (args.length > allowed.length || (shell !== undefined && shell !== 'bash')) {
    throw new ArgumentError(`unexpected argument ${printable(JSON.stringify(args.at(-1)))}: ` + (name === 'completion'
      ? 'the script is for bash; zsh reads it after `autoload -U bashcompinit && bashcompinit`'
      : `${name} takes none`))
  }
  return name === 'completion' ? completion(await formsOfCommands()) : manPage()
}

async function formsOfCommands (): Promise<Readonly<Record<string, CommandForm>>> {
  const stores = await Promise.all(STORE_COMMANDS.map(async name => [name, await formOf(name)] as const))
  return { fsck: FSCK, ...Object.fromEntries(stores), dev: DEV_FORM }
}

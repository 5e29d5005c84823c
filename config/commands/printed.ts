/** Commands that print something of the flags' declarations. */
import { ArgumentError, type PRINTING_COMMANDS } from '../command-line.js'
import { printable } from '../flag.js'
import { completion } from './completion.js'
import { manPage } from './man.js'

/** @throws ArgumentError */
export function printed (name: (typeof PRINTING_COMMANDS)[number], args: readonly string[]): string {
  const [shell] = args
  const allowed = name === 'completion' ? ['bash'] : []
  if (args.length > allowed.length || (shell !== undefined && shell !== 'bash')) {
    throw new ArgumentError(`unexpected argument ${printable(JSON.stringify(args.at(-1)))}: ` + (name === 'completion'
      ? 'the script is for bash; zsh reads it after `autoload -U bashcompinit && bashcompinit`'
      : `${name} takes none`))
  }
  return name === 'completion' ? completion() : manPage()
}

/**
 * Parses the command line with commander: `--flag=value` and `--flag value`. The last occurrence of a scalar counts; lists and maps
 * accumulate. Each flag validates its values (`flag.ts`). Errors are one line: a FlagError with flag, value and remedy, or an ArgumentError
 * for other arguments.
 */
import { Command, CommanderError, Option } from 'commander'
import { packageVersion, RELEASE_NAME } from '../schemas/meta/release.js'
import { FlagError, Problem, printable, type Flag } from './flag.js'
import { FLAGS, isFlagName, SECTIONS, type FlagName, type Values } from './flags/index.js'

export interface Parsed {
  readonly values: Values
  /** The flags given, with the text of their last occurrence. */
  readonly given: ReadonlyMap<FlagName, string>
}

/** An argument that is not a flag. */
export class ArgumentError extends Error {}

/** Name, description and flags of a command, in `--help` order. */
export interface CommandForm {
  readonly name: string
  readonly usage: string
  readonly description: string
  readonly sections: Readonly<Record<string, Readonly<Record<string, Flag<unknown>>>>>
}

export const SERVE: CommandForm = {
  name: 'orch-apiserver',
  usage: '[flags]\n       orch-apiserver fsck --data-dir=FOLDER   (checks an embedded store; fsck --help says more)',
  description: 'The API server of a cluster: HTTPS on --secure-port, its state in --data-dir or in the etcd cluster of --etcd-servers.',
  sections: SECTIONS as CommandForm['sections'] // flags differ only in their value types, and each parses its own values
}

const WIDTH = 100
const INDENT = '          '

export const helpText = (form = SERVE): string => `${command(form).helpInformation().trimEnd()}\n`

export const versionText = (): string => `orch-apiserver ${packageVersion()}, serves the interface of release ${RELEASE_NAME}`

/** @throws FlagError, ArgumentError */
export function parseArguments (args: readonly string[], form = SERVE): Parsed {
  const given = new Map<FlagName, { readonly text: string, readonly value: unknown }>()
  const parser = command(form, args, (name, text, value) => { given.set(name, { text, value }) })
  try {
    parser.parse(withBareBools(args, form), { from: 'user' })
  } catch (error) {
    throw error instanceof CommanderError ? mistake(error) : error
  }
  const [stray] = args.includes('--') ? ['--'] : parser.args
  if (stray === 'help' || stray === 'version') throw new ArgumentError(`unexpected argument "${stray}": did you mean --${stray}?`)
  if (stray !== undefined) throw new ArgumentError(`unexpected argument ${printable(JSON.stringify(stray))}: the server takes flags only, a flag begins with -- and its value follows = or a space (a bool is set by --flag=value)`)
  const values = Object.fromEntries(Object.entries(FLAGS).map(([name, flag]) => [name, isFlagName(name) ? given.get(name)?.value ?? flag.default : flag.default]))
  return {
    values: values as Values, // one value per declared flag, parsed by it
    given: new Map([...given].map(([name, { text }]) => [name, text]))
  }
}

/** Called for each occurrence of a flag, with the accumulated value. */
type Found = (name: FlagName, text: string, value: unknown) => void

function command ({ name, usage, description, sections }: CommandForm, args: readonly string[] = [], found: Found = () => {}): Command {
  const made = new Command(name)
    .usage(usage)
    .description(description)
    .helpOption(false) // help is an ordinary flag
    .allowExcessArguments() // reported by parseArguments
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .configureHelp({
      helpWidth: WIDTH,
      optionTerm: ({ flags }) => flags,
      formatItem: (term, _width, text, helper) => `  ${term}\n${helper.boxWrap(text, WIDTH - INDENT.length).replace(/^/gm, INDENT)}`
    })
  for (const [section, flags] of Object.entries(sections)) {
    for (const [flagName, flag] of Object.entries(flags)) {
      if (isFlagName(flagName)) made.addOption(option(flagName, flag, args, found).helpGroup(`${section}:\n`))
    }
  }
  return made
}

/** An empty default is not displayed. */
const emptiness = (value: unknown): string => Array.isArray(value) ? '[]' : value instanceof Map ? '{}' : ''

function option (name: FlagName, flag: Flag<unknown>, args: readonly string[], found: Found): Option {
  const short = flag.short === undefined ? '' : `-${flag.short}, `
  const initial = flag.defaultText === '' ? emptiness(flag.default) : flag.defaultText
  const made = new Option(`${short}--${name} <value>`, flag.help + (initial === '' ? '' : ` (default ${initial})`))
  made.flags = `${short === '' ? '    ' : short}--${name}${flag.bare ? `[=${flag.type}]` : ` ${flag.type}`}`
  return made.argParser<unknown>((text, before) => {
    if (text.startsWith('--') && !args.includes(`--${name}=${text}`)) {
      throw new FlagError(name, undefined, `needs a value (${flag.type}) before ${printable(text)}; write --${name}=VALUE where the value begins with dashes`)
    }
    try {
      const value = flag.parse(text, before)
      found(name, text, value)
      return value
    } catch (error) {
      throw error instanceof Problem ? new FlagError(name, text, error.message) : error
    }
  })
}

const FORM = /^(?:--([^=]+)|-([a-z]))(=?)/
const SHORTS: ReadonlyMap<string, FlagName> = new Map(Object.entries(FLAGS).flatMap(([name, flag]) => {
  const { short } = flag as Flag<unknown> // flags differ only in their value types
  return short !== undefined && isFlagName(name) ? [[short, name]] : []
}))

/**
 * Normalizes arguments for commander: a bare bool becomes `--flag=true`, because commander would take the next argument; `-v=4` becomes
 * `--v=4`; underscores in names become dashes, as upstream; an unknown flag loses its value, so that commander can suggest a similar name.
 */
const withBareBools = (args: readonly string[], { sections }: CommandForm): string[] => args.map(argument => {
  const [head = '', long, short = '', equals] = FORM.exec(argument) ?? []
  if (head === '') return argument
  const name = long?.replaceAll('_', '-') ?? SHORTS.get(short) ?? ''
  if (!isFlagName(name) || !Object.values(sections).some(flags => Object.hasOwn(flags, name))) return long === undefined ? argument : `--${long}`
  if (equals === '=') return `--${name}=${argument.slice(head.length)}`
  return FLAGS[name].bare && argument.length === head.length ? `--${name}=true` : long === undefined ? argument : `--${name}`
})

/** Translates commander's errors: `error: unknown option '--nam'\n(Did you mean --name?)`. */
function mistake ({ code, message }: CommanderError): Error {
  const [, quoted = ''] = /option '([^]*?)'(?:\n\(Did|$| argument missing)/.exec(message) ?? []
  if (code === 'commander.optionMissingArgument') {
    const name = /--([^=[ ]+)/.exec(quoted)?.[1] ?? ''
    return new FlagError(name, undefined, `needs a value (${isFlagName(name) ? FLAGS[name].type : 'string'})`)
  }
  const [, near] = /\n\(Did you mean (?:one of )?([^]*)\?\)$/.exec(message) ?? []
  return new ArgumentError(`unknown flag ${printable(quoted)}: ${near === undefined ? '' : `did you mean ${near.replace(/, (?=[^,]*$)/, ' or ')}? `}--help lists all flags`)
}

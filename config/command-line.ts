/**
 * The command line, which commander takes apart and explains: `--flag=value` and `--flag value`, of a scalar given
 * twice the last one holds, lists and maps add up. What a value may be and means is the flag's own (`flag.ts`). What is
 * wrong ends in one line: a FlagError naming flag, value and mend, or an ArgumentError for what belongs to no flag.
 */
import { Command, CommanderError, Option } from 'commander'
import { packageVersion, RELEASE_NAME } from '../schemas/meta/release.js'
import { FlagError, Problem, printable, type Flag } from './flag.js'
import { FLAGS, isFlagName, SECTIONS, type FlagName, type Values } from './flags/index.js'

export interface Parsed {
  readonly values: Values
  /** The flags that were given, whatever their value, with the text of their last occurrence. */
  readonly given: ReadonlyMap<FlagName, string>
}

/** An argument that belongs to no flag. */
export class ArgumentError extends Error {}

/** What a command is called, says of itself, and takes: flags by section, in the order of `--help`. */
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
  sections: SECTIONS as CommandForm['sections'] // flags differ in the type of their values alone, and each parses what it made itself
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
  if (stray !== undefined) throw new ArgumentError(`unexpected argument ${printable(JSON.stringify(stray))}: the server takes flags only, a flag begins with -- and its value follows = or a space (a bool is set by --flag=value)`)
  const values = Object.fromEntries(Object.entries(FLAGS).map(([name, flag]) => [name, isFlagName(name) ? given.get(name)?.value ?? flag.default : flag.default]))
  return {
    values: values as Values, // one value per declared flag, made by that flag
    given: new Map([...given].map(([name, { text }]) => [name, text]))
  }
}

/** Told of each occurrence of a flag, with the value of all of them so far. */
type Found = (name: FlagName, text: string, value: unknown) => void

function command ({ name, usage, description, sections }: CommandForm, args: readonly string[] = [], found: Found = () => {}): Command {
  const made = new Command(name)
    .usage(usage)
    .description(description)
    .helpOption(false) // one of our own flags
    .allowExcessArguments() // said in our own words
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

/** A blank text is no default. */
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
  const { short } = flag as Flag<unknown> // as above
  return short !== undefined && isFlagName(name) ? [[short, name]] : []
}))

/**
 * Commander's optional values take the next argument, a bool never does: a bool alone becomes `--flag=true`. And `-v=4`
 * becomes `--v=4`, and an unknown flag loses its value, as names are compared with all that stands in its place.
 */
const withBareBools = (args: readonly string[], { sections }: CommandForm): string[] => args.map(argument => {
  const [head = '', long, short = '', equals] = FORM.exec(argument) ?? []
  if (head === '') return argument
  const name = long ?? SHORTS.get(short) ?? ''
  if (!isFlagName(name) || !Object.values(sections).some(flags => Object.hasOwn(flags, name))) return long === undefined ? argument : `--${long}`
  if (equals === '=') return `--${name}=${argument.slice(head.length)}`
  return FLAGS[name].bare && argument.length === head.length ? `--${name}=true` : argument
})

/** Commander's words in ours: `error: unknown option '--nam'\n(Did you mean --name?)`. */
function mistake ({ code, message }: CommanderError): Error {
  const [, shown = ''] = /option '([^]*?)'(?:\n\(Did|$| argument missing)/.exec(message) ?? []
  if (code === 'commander.optionMissingArgument') {
    const name = /--([^=[ ]+)/.exec(shown)?.[1] ?? ''
    return new FlagError(name, undefined, `needs a value (${isFlagName(name) ? FLAGS[name].type : 'string'})`)
  }
  const [, near] = /\n\(Did you mean (?:one of )?([^]*)\?\)$/.exec(message) ?? []
  return new ArgumentError(`unknown flag ${printable(shown)}: ${near === undefined ? '' : `did you mean ${near.replace(/, (?=[^,]*$)/, ' or ')}? `}--help lists all flags`)
}

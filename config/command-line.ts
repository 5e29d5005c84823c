/**
 * Parses the command line with commander: `--flag=value` and `--flag value`. The last occurrence of a scalar counts;
 * lists and maps accumulate. Each flag validates its values (`flag.ts`). Errors are one line: a FlagError with flag,
 * value and remedy, or an ArgumentError for other arguments.
 */
import { Command, CommanderError, Option, type ParseOptionsResult } from 'commander'
import { RELEASE_NAME } from '../schemas/meta/release.js'
import { packageVersion } from '../schemas/package-files.js'
import { FlagError, Problem, printable, type Flag } from './flag.js'
import { didYouMean, nearest } from './suggestions.js'
import { ABSENT } from './flags/absent.js'
import { FLAGS, isFlagName, MOST_USED, SECTIONS, type FlagName, type Values } from './flags/index.js'

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
  /** Names of the arguments that are not flags, all required. Default none. */
  readonly operands?: readonly string[]
  readonly sections: Readonly<Record<string, Readonly<Record<string, Flag<unknown>>>>>
}

/** The parsed arguments of a command. */
export interface ParsedCommand {
  /** A value for every flag of the form: the given one, else the default. */
  readonly values: Readonly<Record<string, unknown>>
  /** The flags given, with the text of their last occurrence. */
  readonly given: ReadonlyMap<string, string>
  readonly operands: readonly string[]
}

export const SERVE: CommandForm = {
  name: 'orch-apiserver',
  usage: `[flags]
       orch-apiserver fsck --data-dir=FOLDER     (checks an embedded store)
       orch-apiserver snapshot FILE [flags]      (writes a store to a file, also while a server uses it)
       orch-apiserver restore FILE [flags]       (creates a store from such a file)
       orch-apiserver migrate --from=… --to=…    (copies an embedded store to etcd, or back)
       orch-apiserver compact [flags]            (gives free space of a store back to its disk)
       orch-apiserver recover FOLDER             (salvages what is readable of a damaged embedded store)
       orch-apiserver dev [flags]                (a server for tests: in memory, with a clock to move and faults)
       orch-apiserver completion bash            (prints a script that completes commands and flags)
       orch-apiserver man                        (prints the manual page)
       All but the last two have a --help of their own.`,
  description:
    `The API server of a cluster: HTTPS on --secure-port, its state in --data-dir or in the etcd cluster
of --etcd-servers. These flags are set most; all follow by what they concern:

${Object.entries(MOST_USED).map(([flag, what]) => `  --${flag.padEnd(20)} ${what}`).join('\n')}`,
  // flags differ only in their value types, and each parses its own values
  sections: SECTIONS as CommandForm['sections']
}

/**
 * First arguments that run a command of `config/commands/` instead of the server. `fsck` is another one, in `fsck.ts`.
 */
export const STORE_COMMANDS = ['snapshot', 'restore', 'migrate', 'compact', 'recover'] as const
/** First arguments that print something. */
export const PRINTING_COMMANDS = ['completion', 'man'] as const
export const COMMANDS: readonly string[] = ['fsck', ...STORE_COMMANDS, 'dev', ...PRINTING_COMMANDS]
export type StoreCommand = (typeof STORE_COMMANDS)[number]

const WIDTH = 100
const INDENT = '          '

export const helpText = (form = SERVE): string => `${command(form).helpInformation().trimEnd()}\n`

export const versionText = (): string =>
  `orch-apiserver ${packageVersion()}, serves the interface of release ${RELEASE_NAME}`

/** @throws FlagError, ArgumentError */
export function parseArguments (args: readonly string[], form = SERVE): Parsed {
  const { values, given } = parseCommand(args, form)
  // forms for it have flags of FLAGS only
  return { values: { ...DEFAULTS, ...values } as Values, given: given as ReadonlyMap<FlagName, string> }
}

const DEFAULTS = Object.fromEntries(Object.entries(FLAGS).map(([name, flag]) => [name, flag.default]))

/** @throws FlagError, ArgumentError */
export function parseCommand (args: readonly string[], form: CommandForm): ParsedCommand {
  const given = new Map<string, { readonly text: string, readonly value: unknown }>()
  const parser = command(form, args, (name, text, value) => { given.set(name, { text, value }) })
  const { operands: others, unknown: [unknown] } = optionsIn(withBareBools(args, form), parser, form)
  if (unknown !== undefined) throw unknownFlag(unknown, form)
  const { operands = [] } = form
  const stray = args.includes('--') ? '--' : others[operands.length]
  if (stray === 'help' || stray === 'version') {
    throw new ArgumentError(`unexpected argument "${stray}": did you mean --${stray}?`)
  }
  if (stray !== undefined && form === SERVE) {
    if (COMMANDS.some(name => name === stray)) {
      throw new ArgumentError(`unexpected argument "${stray}": a command comes before all flags`)
    }
    const near = didYouMean(stray, COMMANDS)
    if (near !== '') throw new ArgumentError(`unexpected argument ${printable(JSON.stringify(stray))}${near}`)
  }
  if (stray !== undefined) {
    throw new ArgumentError(`unexpected argument ${printable(JSON.stringify(stray))}: ` +
      `${operands.length > 0 ? `only ${operands.join(' and ')} is no flag` : 'the server takes flags only'}, a flag ` +
      'begins with -- and its value follows = or a space (a bool is set by --flag=value)')
  }
  const values = Object.fromEntries(
    Object.entries(flagsOf(form)).map(([name, flag]) => [name, given.has(name) ? given.get(name)?.value : flag.default])
  )
  const missing = values.help === true ? undefined : operands.find((_, at) => (others[at] ?? '') === '')
  if (missing !== undefined) {
    throw new ArgumentError(`${missing} is missing: ${form.name} ${form.usage.split('\n')[0] ?? ''}`)
  }
  return { values, given: new Map([...given].map(([name, { text }]) => [name, text])), operands: others }
}

const flagsOf = ({ sections }: CommandForm): Readonly<Record<string, Flag<unknown>>> =>
  Object.assign({}, ...Object.values(sections)) as Record<string, Flag<unknown>>

/** Called for each occurrence of a flag, with the accumulated value. */
type OnFlag = (name: string, text: string, value: unknown) => void

function command (
  { name, usage, description, sections }: CommandForm, args: readonly string[] = [], onFlag: OnFlag = () => {}
): Command {
  const parser = new Command(name)
    .usage(usage)
    .description(description)
    .helpOption(false) // help is an ordinary flag
    .allowExcessArguments() // reported by parseArguments
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .configureHelp({
      helpWidth: WIDTH,
      optionTerm: ({ flags }) => flags,
      formatItem: (term, _width, text, helper) =>
        `  ${term}\n${helper.boxWrap(text, WIDTH - INDENT.length).replace(/^/gm, INDENT)}`
    })
  for (const [section, flags] of Object.entries(sections)) {
    for (const [flagName, flag] of Object.entries(flags)) {
      parser.addOption(option(flagName, flag, args, onFlag).helpGroup(`${section}:\n`))
    }
  }
  return parser
}

/** How an empty default is displayed; '' for not at all. */
const emptiness = ({ default: value, emptyText }: Flag<unknown>): string =>
  emptyText ?? (Array.isArray(value) ? '[]' : value instanceof Map ? '{}' : '')

function option (name: string, flag: Flag<unknown>, args: readonly string[], onFlag: OnFlag): Option {
  const short = flag.short === undefined ? '' : `-${flag.short}, `
  const initial = flag.defaultText === '' ? emptiness(flag) : flag.defaultText
  const { later, removed } = flag
  const parsed = new Option(
    `${short}--${name} <value>`,
    flag.help + (removed === undefined ? '' : ` (until release ${removed})`) +
      (later === undefined ? '' : ` (from release ${later.since} on ${later.defaultText})`) +
      (initial === '' ? '' : ` (default ${initial})`)
  )
  parsed.flags = `${short === '' ? '    ' : short}--${name}${flag.bare ? `[=${flag.type}]` : ` ${flag.type}`}`
  return parsed.argParser<unknown>((text, before) => {
    if (text.startsWith('--') && !args.includes(`--${name}=${text}`)) {
      throw new FlagError(
        name, undefined,
        `needs a value (${flag.type}) before ${printable(text)}; write --${name}=VALUE where the value begins with ` +
          'dashes'
      )
    }
    try {
      const value = flag.parse(text, before)
      onFlag(name, text, value)
      return value
    } catch (error) {
      throw error instanceof Problem ? new FlagError(name, text, error.message) : error
    }
  })
}

/** What other servers call flags of this one. */
const USUAL: Readonly<Record<string, FlagName>> = {
  port: 'secure-port', 'https-port': 'secure-port', 'bind-port': 'secure-port', 'insecure-port': 'secure-port',
  host: 'bind-address', address: 'bind-address', listen: 'bind-address', 'insecure-bind-address': 'bind-address',
  'kubelet-client-certificate': 'node-agent-client-certificate', 'kubelet-client-key': 'node-agent-client-key',
  'kubelet-certificate-authority': 'node-agent-certificate-authority', 'kubelet-timeout': 'node-agent-timeout',
  'kubelet-preferred-address-types': 'node-agent-preferred-address-types',
  db: 'data-dir', 'data-folder': 'data-dir', verbose: 'v', 'log-level': 'v'
}

const FORM = /^(?:--([^=]+)|-([a-z]))(=?)/
const SHORTS: ReadonlyMap<string, FlagName> = new Map(Object.entries(FLAGS).flatMap(([name, flag]) => {
  const { short } = flag as Flag<unknown> // flags differ only in their value types
  return short !== undefined && isFlagName(name) ? [[short, name]] : []
}))

/**
 * Normalizes arguments for commander: a bare bool becomes `--flag=true`, because commander would take the next
 * argument; `-v=4` becomes `--v=4`; underscores in names become dashes, as upstream; an unknown flag loses its value,
 * which is no part of its name.
 */
function withBareBools (args: readonly string[], form: CommandForm): string[] {
  const flags = flagsOf(form)
  return args.map(argument => {
    const [head = '', long, short = '', equals] = FORM.exec(argument) ?? []
    if (head === '') return argument
    const name = long?.replaceAll('_', '-') ?? SHORTS.get(short) ?? ''
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (flag === undefined) return long === undefined ? argument : `--${long}`
    if (equals === '=') return `--${name}=${argument.slice(head.length)}`
    return flag.bare && argument.length === head.length ? `--${name}=true` : long === undefined ? argument : `--${name}`
  })
}

/** Reads the flags, and finds all else. @throws FlagError */
function optionsIn (args: string[], parser: Command, form: CommandForm): ParseOptionsResult {
  try {
    return parser.parseOptions(args)
  } catch (error) {
    if (!(error instanceof CommanderError && error.code === 'commander.optionMissingArgument')) throw error
    const [, long, short = ''] = FORM.exec(args.at(-1) ?? '') ?? [] // any other argument would be its value
    const name = long ?? SHORTS.get(short) ?? ''
    throw new FlagError(name, undefined, `needs a value (${flagsOf(form)[name]?.type ?? 'string'})`)
  }
}

function unknownFlag (flag: string, form: CommandForm): Error {
  const absent = flag.slice(2)
  if (form === SERVE && Object.hasOwn(ABSENT, absent)) {
    return new FlagError(absent, undefined, `is not implemented: ${ABSENT[absent] ?? ''}; leave it out`)
  }
  const usual = form === SERVE && Object.hasOwn(USUAL, absent) ? USUAL[absent] : undefined
  if (usual !== undefined) return new ArgumentError(`unknown flag ${flag}: did you mean --${usual}?`)
  const near = flag.startsWith('--') ? nearest(absent, Object.keys(flagsOf(form))) : undefined
  return new ArgumentError(`unknown flag ${printable(flag)}: ` +
    `${near === undefined ? '' : `did you mean --${near}? `}--help lists all flags`)
}

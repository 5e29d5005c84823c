/** `orch-apiserver completion bash`: a script for the shell that completes commands, flags and their values. */
import type { Flag } from '../flag.js'
import { COMMANDS, SERVE, type CommandForm } from '../command-line.js'

type Named = readonly [name: string, flag: Flag<unknown>]

const flagsOf = ({ sections }: CommandForm): Named[] => Object.values(sections).flatMap(flags => Object.entries(flags))

const words = (flags: readonly Named[]): string => flags.map(([name]) => `--${name}`).join(' ')

const BOOL = 'true false'

/** What a flag can be set to; undefined if that cannot be listed. */
const valuesOf = ({ type, bare }: Flag<unknown>): string | undefined =>
  bare ? BOOL : /^[\w.+/-]+(?:\|[\w.+/-]+)+$/.test(type) ? type.split('|').join(' ') : undefined

/**
 * zsh reads it too, after `bashcompinit`.
 * @param forms of commands with flags of their own
 */
export function completion (forms: Readonly<Record<string, CommandForm>>): string {
  const byValues = new Map<string, string[]>()
  const every = new Map([...Object.values(forms), SERVE].flatMap(flagsOf))
  for (const [name, flag] of every) {
    const values = flag.type === 'path' ? 'path' : valuesOf(flag)
    if (values !== undefined) byValues.set(values, [...byValues.get(values) ?? [], `--${name}`])
  }
  const commands = Object.entries(forms).map(([name, form]) => `    ${name}) flags='${words(flagsOf(form))}' ;;`)
  const cases = [...byValues].map(([values, flags]) => {
    const generated = values === 'path' ? '-f' : `-W '${values}'`
    // The word after a bare bool is none of its values.
    const when = values === BOOL ? '[ -z "$equals" ] || ' : ''
    return `    ${flags.join('|')})\n      ${when}{ COMPREPLY=($(compgen ${generated} -- "$word")); return; } ;;`
  })
  return `# bash completion of orch-apiserver; for this shell: source <(orch-apiserver completion bash)
_orch_apiserver () {
  local word=\${COMP_WORDS[COMP_CWORD]} flag=\${COMP_WORDS[COMP_CWORD-1]} equals= flags=
  # The shell splits words at "=".
  if [ "$word" = = ]; then word= equals=1
  elif [ "$flag" = = ]; then flag=\${COMP_WORDS[COMP_CWORD-2]} equals=1
  fi
  COMPREPLY=()
  case $flag in
${cases.join('\n')}
  esac
  case \${COMP_WORDS[1]} in
${commands.join('\n')}
    completion) [ "$COMP_CWORD" != 2 ] || COMPREPLY=($(compgen -W bash -- "$word")); return ;;
    *) flags='${words(flagsOf(SERVE))}' ;;
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) [ "$COMP_CWORD" = 1 ] && COMPREPLY=($(compgen -W '${COMMANDS.join(' ')}' -- "$word")) ;;
  esac
}
complete -o default -F _orch_apiserver orch-apiserver
`
}

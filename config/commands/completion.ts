/** `orch-apiserver completion bash`: a script for the shell that completes commands, flags and their values. */
import type { Flag } from '../flag.js'
import { COMMANDS } from '../command-line.js'
import { FLAGS } from '../flags/index.js'

const ALL = Object.entries(FLAGS) as Array<[string, Flag<unknown>]> // flags differ in their value types

const BOOL = 'true false'

/** What a flag can be set to; undefined if that cannot be listed. */
const valuesOf = ({ type, bare }: Flag<unknown>): string | undefined =>
  bare ? BOOL : /^[\w.+/-]+(?:\|[\w.+/-]+)+$/.test(type) ? type.split('|').join(' ') : undefined

/** zsh reads it too, after `bashcompinit`. */
export function completion (): string {
  const byValues = new Map<string, string[]>()
  for (const [name, flag] of ALL) {
    const values = flag.type === 'path' ? 'path' : valuesOf(flag)
    if (values !== undefined) byValues.set(values, [...byValues.get(values) ?? [], `--${name}`])
  }
  const cases = [...byValues].map(([values, flags]) => {
    const words = values === 'path' ? '-f' : `-W '${values}'`
    // The word after a bare bool is none of its values.
    const when = values === BOOL ? '[ -z "$equals" ] || ' : ''
    return `    ${flags.join('|')})\n      ${when}{ COMPREPLY=($(compgen ${words} -- "$word")); return; } ;;`
  })
  return `# bash completion of orch-apiserver; for this shell: source <(orch-apiserver completion bash)
_orch_apiserver () {
  local word=\${COMP_WORDS[COMP_CWORD]} flag=\${COMP_WORDS[COMP_CWORD-1]} equals=
  # The shell splits words at "=".
  if [ "$word" = = ]; then word= equals=1
  elif [ "$flag" = = ]; then flag=\${COMP_WORDS[COMP_CWORD-2]} equals=1
  fi
  COMPREPLY=()
  case $flag in
${cases.join('\n')}
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W '${ALL.map(([name]) => `--${name}`).join(' ')}' -- "$word")) ;;
    *) [ "$COMP_CWORD" = 1 ] && COMPREPLY=($(compgen -W '${COMMANDS.join(' ')}' -- "$word")) ;;
  esac
}
complete -o default -F _orch_apiserver orch-apiserver
`
}

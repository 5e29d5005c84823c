/** `orch-apiserver man`: the manual page, of the same declarations as `--help`. */
import { packageVersion } from '../../schemas/package-files.js'
import { SERVE } from '../command-line.js'
import type { Flag } from '../flag.js'
import { MOST_USED } from '../flags/index.js'

/** Text as roff: a line that begins with a dot or a quote would be a request, and a plain dash a hyphen. */
const escaped = (text: string): string =>
  text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^(?=[.'])/gm, '\\&')

const bold = (text: string): string => `\\fB${escaped(text)}\\fR`
const italic = (text: string): string => `\\fI${escaped(text)}\\fR`

function entry ([name, flag]: readonly [string, Flag<unknown>]): string {
  const { short, bare, type, help, defaultText, removed, later } = flag
  const letter = short === undefined ? '' : `${bold(`-${short}`)}, `
  const term = `${letter}${bold(`--${name}`)}${bare ? '' : `=${italic(type)}`}`
  const notes = [
    ...removed === undefined ? [] : [`until release ${removed}`],
    ...later === undefined ? [] : [`from release ${later.since} on ${later.defaultText}`],
    ...defaultText === '' ? [] : [`default ${defaultText}`]
  ]
  return `.TP\n${term}\n${escaped(help)}${notes.length === 0 ? '' : `\n(${escaped(notes.join('; '))})`}`
}

export function manPage (): string {
  const [synopsis = '', ...others] = SERVE.usage.split('\n')
  const commands = others.flatMap(line => {
    const [, command = '', what = ''] = /^\s*orch-apiserver (.*?)\s+\((.*)\)$/.exec(line) ?? []
    return command === '' ? [] : [`.TP\n${bold(command)}\n${escaped(what)}`]
  })
  return `.TH ORCH\\-APISERVER 8 "" "orch\\-apiserver ${packageVersion()}"
.SH NAME
orch\\-apiserver \\- the API server of a cluster
.SH SYNOPSIS
${bold('orch-apiserver')} ${escaped(synopsis)}
.PP
${bold('orch-apiserver')} ${italic('command')} [flags]
.SH DESCRIPTION
Serves the resources of a cluster over HTTPS, from an embedded store or from etcd. Set most are
${Object.keys(MOST_USED).map(name => bold(`--${name}`)).join(', ')}.
.SH COMMANDS
${commands.join('\n')}
.SH OPTIONS
${Object.entries(SERVE.sections).map(([section, flags]) =>
    `.SS ${escaped(section)}\n${Object.entries(flags).map(entry).join('\n')}`).join('\n')}
.SH EXIT STATUS
0 after an orderly end, 1 where it could not start or had to stop, 128 and the number of a second signal.
`
}

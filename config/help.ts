/** The text of `--help` and `--version`. */
import { packageVersion, RELEASE_NAME } from '../release.js'
import type { Flag } from './flag.js'
import { SECTIONS } from './flags/index.js'

const WIDTH = 100

export const versionText = (): string => `orch-apiserver ${packageVersion()}, serves the interface of release ${RELEASE_NAME}`

export function helpText (): string {
  const parts = ['Usage: orch-apiserver [flags]\n\nThe API server of a cluster: HTTPS on --secure-port, its state in --data-dir or in the etcd cluster of --etcd-servers.']
  for (const [section, flags] of Object.entries(SECTIONS)) {
    const lines = Object.entries(flags).map(([name, flag]) => describe(name, flag as Flag<unknown>)) // printed alike whatever their values are
    parts.push(`${section}:\n\n${lines.join('\n')}`)
  }
  return `${parts.join('\n\n')}\n`
}

function describe (name: string, flag: Flag<unknown>): string {
  const short = flag.short === undefined ? '    ' : `-${flag.short}, `
  const shown = flag.shown === '' ? '' : ` (default ${flag.shown})`
  return `  ${short}--${name}${flag.bare ? `[=${flag.type}]` : ` ${flag.type}`}\n${wrap(flag.help + shown, '          ')}`
}

function wrap (text: string, indent: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + word.length >= WIDTH) {
      lines.push(indent + line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, indent + line].join('\n')
}

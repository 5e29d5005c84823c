/** Forwards output in complete lines, so that lines of several processes do not mix. */
import type { Readable } from 'node:stream'

/** Longer lines are split. An event of the audit log is shorter: it has two objects of at most 16 Mi characters. */
const MAX_LINE = 40 * 1024 * 1024

/** @param write receives one or more whole lines */
export function wholeLines (from: Readable, write: (lines: string) => void): void {
  let rest = ''
  from.setEncoding('utf8').on('data', (text: string) => {
    const end = text.lastIndexOf('\n') + 1
    if (end > 0) write(rest + text.slice(0, end))
    rest = end > 0 ? text.slice(end) : rest + text
    if (rest.length <= MAX_LINE) return
    write(`${rest}\n`)
    rest = ''
  }).on('end', () => { if (rest !== '') write(`${rest}\n`) })
}

/**
 * What the log says of a slow request, in the form that operators of such servers know: who asked for what, how long it took, and
 * the steps that took their share of it or more, all in one line.
 */
import { randomInt } from 'node:crypto'
import type { Fields, Span, Trace } from '../../registry/trace.js'

/** Milliseconds; what takes less is not told of. */
const SLOW = 500
/** Characters of a value, such as the name of a client. */
const MOST_OF_VALUE = 1024
/** Random numbers tell the lines apart. */
const NUMBERS = 2 ** 31

export const isSlow = ({ startedAt, endedAt = startedAt, waited, allowance }: Trace): boolean => endedAt - startedAt - waited >= SLOW + allowance

/**
 * @param name of what was done: `Get`, `List`
 * @param everything tells of all steps, however short
 */
export function slowLine (trace: Trace, name: string, fields: Fields, everything: boolean): string {
  const { startedAt, endedAt = startedAt, items = [], dropped } = trace
  const wall = Date.now() - performance.now()
  const total = Math.round(endedAt - startedAt)
  const share = everything ? 0 : SLOW / (items.length + 1)
  return `Trace[${randomInt(NUMBERS)}]: ${JSON.stringify(name)} ${fieldsText(fields)} (${day(wall + startedAt)}) (total time: ${total}ms):${stepsOf(trace, share, wall, endedAt)}${dropped === 0 ? '' : ` and ${dropped} more steps`} [${total}ms] END`
}

/** Those that took as long as `share`, each since the one before it; one that goes on took until `over`. */
function stepsOf ({ startedAt, items = [] }: Span, share: number, wall: number, over: number): string {
  let text = ''
  let last = startedAt
  for (const item of items) {
    if ('at' in item) {
      if (item.at - last >= share) text += ` ---${summary(item.name, item.fields, item.at - last, wall + item.at)}`
      last = item.at
      continue
    }
    const { startedAt: began, endedAt: ended = over } = item
    if (ended - began >= share) text += ` ---[${summary(item.name, item.fields, ended - began, wall + began)}${stepsOf(item, share, wall, over)}]`
    last = Math.max(last, ended)
  }
  return text
}

const summary = (name: string, fields: Fields | undefined, took: number, at: number): string =>
  `${JSON.stringify(name)} ${fields === undefined ? '' : `${fieldsText(fields)} `}${Math.round(took)}ms (${time(at)})`

const fieldsText = (fields: Fields): string => Object.entries(fields).map(([name, value]) => `${name}:${quoted(String(value))}`).join(',')

/** What has characters that this line is made of is quoted: a client says what it is called, and must not say what took how long. */
function quoted (value: string): string {
  const cut = value.length > MOST_OF_VALUE ? `${value.slice(0, MOST_OF_VALUE)}...TRUNCATED` : value
  return /^[\w./:;=*+@%&?~-]+$/.test(cut) ? cut : JSON.stringify(cut)
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const time = (at: number): string => new Date(at).toISOString().slice(11, 23)

function day (at: number): string {
  const date = new Date(at)
  return `${String(date.getUTCDate()).padStart(2, '0')}-${MONTHS[date.getUTCMonth()] ?? ''}-${date.getUTCFullYear()} ${time(at)}`
}

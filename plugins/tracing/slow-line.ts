/**
 * Formats the log line of a slow request in upstream's form: the request, its duration, and the steps that took their
 * share of it, in one line.
 */
import { randomInt } from 'node:crypto'
import type { Fields, Span, Trace } from '../../registry/trace.js'

/** Milliseconds from which a request is slow. */
const SLOW = 500
/** Maximum characters of a value, such as a client's name. */
const MAX_VALUE_LENGTH = 1024
/** Range of the random number that identifies a line. */
const NUMBERS = 2 ** 31

export const isSlow = ({ startedAt, endedAt = startedAt, waited, allowance }: Trace): boolean =>
  endedAt - startedAt - waited >= SLOW + allowance

/** @param name of the operation: `Get`, `List` @param everything includes all steps, however short */
export function slowLine (trace: Trace, name: string, fields: Fields, everything: boolean): string {
  const { startedAt, endedAt = startedAt, items = [], dropped } = trace
  const wall = Date.now() - performance.now()
  const total = Math.round(endedAt - startedAt)
  const share = everything ? 0 : SLOW / (items.length + 1)
  return `Trace[${randomInt(NUMBERS)}]: ${JSON.stringify(name)} ${fieldsText(fields)} (${day(wall + startedAt)}) ` +
    `(total time: ${total}ms):${stepsOf(trace, share, wall, endedAt)}` +
    `${dropped === 0 ? '' : ` and ${dropped} more steps`} [${total}ms] END`
}

/** Steps that took at least `share`, measured from the previous one; a pending one lasts until `over`. */
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
    if (ended - began >= share) {
      text += ` ---[${summary(item.name, item.fields, ended - began, wall + began)}${stepsOf(item, share, wall, over)}]`
    }
    last = Math.max(last, ended)
  }
  return text
}

const summary = (name: string, fields: Fields | undefined, took: number, at: number): string =>
  `${JSON.stringify(name)} ${fields === undefined ? '' : `${fieldsText(fields)} `}${Math.round(took)}ms (${time(at)})`

const fieldsText = (fields: Fields): string =>
  Object.entries(fields).map(([name, value]) => `${name}:${quoted(String(value))}`).join(',')

/** Quotes values with special characters, so that client text cannot imitate parts of the line. */
function quoted (value: string): string {
  const cut = value.length > MAX_VALUE_LENGTH ? `${value.slice(0, MAX_VALUE_LENGTH)}...TRUNCATED` : value
  return /^[\w./:;=*+@%&?~-]+$/.test(cut) ? cut : JSON.stringify(cut)
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const time = (at: number): string => new Date(at).toISOString().slice(11, 23)

function day (at: number): string {
  const date = new Date(at)
  return `${String(date.getUTCDate()).padStart(2, '0')}-${MONTHS[date.getUTCMonth()] ?? ''}-${date.getUTCFullYear()} ` +
    `${time(at)}`
}

/** Options of a connection, which come as query parameters, read as the convention reads them. */
import { isTrue } from '../../schemas/query-boolean.js'
import { formatTime, parseTime } from '../../schemas/meta/time.js'
import { Facts } from '../../schemas/language/types.js'
import type { Int64, Message } from '../../schemas/language/types.js'
import { badRequest } from '../../schemas/status.js'

/**
 * @param given takes the place of parameters of these names
 * @throws StatusError 400 for a number or time that is none
 */
export function optionsFrom<T extends object> (message: Message<T>, query: URLSearchParams, given: Readonly<Record<string, string>> = {}): T {
  const { type, fields } = message[Facts]
  const options: Record<string, unknown> = { kind: type?.kind ?? '', apiVersion: type?.apiVersion ?? '' }
  for (const [name, field] of Object.entries(fields)) {
    const { shape, of } = field[Facts]
    const values = name in given ? [given[name] ?? ''] : query.getAll(name)
    if (values.length === 0) continue
    if (shape === 'list') options[name] = of === 'int32' ? values.map(text => Number(integer(text, 32))) : values
    else options[name] = valueOf(of, values[0] ?? '')
    if (options[name] === undefined || options[name] === '') delete options[name]
  }
  return options as T // made of its own fields
}

function valueOf (of: unknown, text: string): unknown {
  if (of === 'bool') return isTrue(text)
  if (of === 'int32') return Number(integer(text, 32))
  if (of === 'int64') return integer(text, 64)
  if (of === 'string') return text
  return time(text)
}

/** @throws StatusError 400 */
function integer (text: string, bits: 32 | 64): Int64 {
  const refuse = (why: string) => badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text.slice(0, 100))}: ${why}`)
  if (!/^[+-]?\d{1,100}$/.test(text)) throw refuse('invalid syntax')
  const value = BigInt(text.replace(/^\+/, ''))
  const most = 2n ** BigInt(bits - 1)
  if (value < -most || value >= most) throw refuse('value out of range')
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

const LAYOUT = '2006-01-02T15:04:05Z07:00'
/** The parts of the layout in order, as they are named where they are missing. */
const PARTS: ReadonlyArray<readonly [string, RegExp]> = [
  ['2006', /^\d{4}/], ['-', /^-/], ['01', /^\d\d/], ['-', /^-/], ['02', /^\d\d/], ['T', /^T/],
  ['15', /^\d\d?/], [':', /^:/], ['04', /^\d\d/], [':', /^:/], ['05', /^\d\d(?:[.,]\d+)?/], ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/]
]

/** Whole seconds. Undefined for one that is empty. @throws StatusError 400 */
function time (text: string): string | undefined {
  if (text === '' || text === 'null') return undefined
  const parsed = parseTime(text)
  if (parsed !== undefined) return formatTime(parsed)
  const shown = JSON.stringify(text.slice(0, 100))
  let left = text.slice(0, 100)
  for (const [part, pattern] of PARTS) {
    const found = pattern.exec(left)
    if (found === null) throw badRequest(`parsing time ${shown} as ${JSON.stringify(LAYOUT)}: cannot parse ${JSON.stringify(left)} as ${JSON.stringify(part)}`)
    left = left.slice(found[0].length)
  }
  throw badRequest(left === '' ? `parsing time ${shown}: a part of it is out of range` : `parsing time ${shown}: extra text: ${JSON.stringify(left)}`)
}

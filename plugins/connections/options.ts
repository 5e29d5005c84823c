/** Parses connection options from query parameters, with upstream's leniency. */
import { isTrue } from '../../schemas/query-boolean.js'
import { formatTime, parseTime } from '../../schemas/meta/time.js'
import { Facts, type Int64, type Message } from '../../schemas/language/types.js'
import { badRequest } from '../../schemas/status.js'
import { quote } from '../../schemas/quote.js'

/** @param given overrides parameters of the same name @throws StatusError 400 for an invalid number or time */
export function optionsFrom<T extends object> (
  message: Message<T>, query: URLSearchParams, given: Readonly<Record<string, string>> = {}
): T {
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
  return options as T // built from the message's fields
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
  const value = /^[+-]?\d{1,100}$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined
  const limit = 2n ** BigInt(bits - 1)
  if (value === undefined || value < -limit || value >= limit) {
    throw badRequest(`${quote(text)} is no integer of ${bits} bits`)
  }
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/** Truncated to seconds; undefined if empty. @throws StatusError 400 */
function time (text: string): string | undefined {
  if (text === '' || text === 'null') return undefined
  const parsed = parseTime(text)
  if (parsed === undefined) throw badRequest(`${quote(text)} is no time such as 2022-01-31T12:00:00Z`)
  return formatTime(parsed)
}

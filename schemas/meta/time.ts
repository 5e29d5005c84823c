/** API timestamps: RFC 3339 in UTC. They stay strings in memory. */
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:\d{2})$/

export interface Instant { readonly seconds: number, readonly nanos: number }

/** Go's zero time, which means unset. */
const ZERO = '0001-01-01T00:00:00'

/** The last result: an object is often converted several times, and mostly contains one timestamp. */
let read: { readonly text: string, readonly instant: Instant } | undefined

/** Undefined unless the text is an RFC 3339 time. */
export function parseTime (text: string): Instant | undefined {
  if (read?.text === text) return read.instant
  const instant = instantOf(text)
  if (instant !== undefined) read = { text, instant }
  return instant
}

function instantOf (text: string): Instant | undefined {
  if (!RFC3339.test(text)) return undefined
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10)]
  const [hour, minute, second] = [digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19)]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(month, year)) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  // Date.UTC takes years below 100 for those of the last century.
  const seconds = Date.UTC(year + PERIOD, month - 1, day, hour, minute, second) / 1000 - PERIOD_SECONDS
  if (text.length === PLAIN_LENGTH) return { seconds, nanos: 0 }
  const [, fraction = '0', zone = 'Z'] = AFTER_SECONDS.exec(text) ?? []
  const nanos = Number(fraction.padEnd(9, '0'))
  if (zone === 'Z') return { seconds, nanos }
  const [hours, minutes] = [digits(zone, 1, 3), digits(zone, 4, 6)]
  if (hours > 23 || minutes > 59) return undefined
  return { seconds: seconds - (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60), nanos }
}

/** `2006-01-02T15:04:05Z`. */
const PLAIN_LENGTH = 20
const AFTER_SECONDS = /:\d\d(?:[.,](\d{1,9})\d*)?(Z|[+-].*)$/
/** The calendar repeats itself after as many years. */
const PERIOD = 400
const PERIOD_SECONDS = 146_097 * 86_400

function digits (text: string, from: number, to: number): number {
  let number = 0
  for (let at = from; at < to; at++) number = number * 10 + text.charCodeAt(at) - 48
  return number
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const daysIn = (month: number, year: number): number =>
  month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % PERIOD === 0) ? 29 : DAYS[month - 1] ?? 0

/** The last result: objects are created in bursts, and managedFields repeat the timestamp. */
let last: { readonly seconds: number, readonly text: string } = { seconds: 0, text: '1970-01-01T00:00:00Z' }

/** `2006-01-02T15:04:05Z`, with a fraction of `digits` digits. Undefined for years beyond four digits. */
export function formatTime ({ seconds, nanos }: Instant, digits = 0): string | undefined {
  if (seconds === last.seconds && digits === 0) return last.text
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) return undefined
  const text = date.toISOString()
  if (text.length !== 24) return undefined
  if (digits === 0) {
    last = { seconds, text: `${text.slice(0, 19)}Z` }
    return last.text
  }
  return `${text.slice(0, 19)}.${String(nanos).padStart(9, '0').slice(0, digits)}Z`
}

export function isZeroTime (text: string): boolean {
  return text.startsWith(ZERO)
}

/** In whole seconds, as in creationTimestamp. */
export function timestamp (milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000)
  return formatTime({ seconds, nanos: 0 }) ?? new Date(milliseconds).toISOString()
}

/** API timestamps: RFC 3339 in UTC. They stay strings in memory. */
const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9})\d*)?(Z|[+-]\d{2}:\d{2})$/

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
  const match = RFC3339.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, fraction, zone] = match
  // Date normalizes 31 April to 1 May, so compare the result with the input.
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  date.setUTCHours(Number(hour), Number(minute), Number(second))
  if (date.getUTCDate() !== Number(day) || date.getUTCMonth() !== Number(month) - 1 ||
    date.getUTCHours() !== Number(hour) ||
    date.getUTCMinutes() !== Number(minute) || date.getUTCSeconds() !== Number(second)) return undefined
  let offset = 0
  if (zone !== 'Z' && zone !== undefined) {
    const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4))]
    if (hours > 23 || minutes > 59) return undefined
    offset = (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60)
  }
  return { seconds: date.getTime() / 1000 - offset, nanos: Number((fraction ?? '0').padEnd(9, '0')) }
}

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

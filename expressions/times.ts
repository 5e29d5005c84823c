/** Functions of timestamps and durations. */
import { parseDuration } from '../schemas/meta/duration.js'
import { formatTime, parseTime } from '../schemas/meta/time.js'
import { Fault, Instant, Span, type Value } from './values.js'

const SECOND = 1_000_000_000n
const MILLISECOND = 1_000_000n
const DAY_MS = 86_400_000
const EARLIEST = BigInt(new Date('0001-01-01T00:00:00Z').getTime()) * MILLISECOND
const LATEST = BigInt(new Date('9999-12-31T23:59:59Z').getTime()) * MILLISECOND + SECOND - 1n

export function parseInstant (text: string): bigint | undefined {
  const time = parseTime(text)
  return time === undefined ? undefined : BigInt(time.seconds) * SECOND + BigInt(time.nanos)
}

export const instant = (nanoseconds: bigint): Value =>
  nanoseconds < EARLIEST || nanoseconds > LATEST ? new Fault('timestamp overflow') : new Instant(nanoseconds)
export const span = (nanoseconds: bigint): Value =>
  BigInt.asIntN(64, nanoseconds) === nanoseconds ? new Span(nanoseconds) : new Fault('duration overflow')

export function timestampOf (value: Value): Value | undefined {
  if (value instanceof Instant) return value
  if (typeof value === 'bigint') return instant(value * SECOND)
  if (typeof value !== 'string') return undefined
  const nanoseconds = parseInstant(value)
  return nanoseconds === undefined ? new Fault(`parsing time ${JSON.stringify(value)} failed`) : instant(nanoseconds)
}

export function durationOf (value: Value): Value | undefined {
  if (value instanceof Span) return value
  if (typeof value === 'bigint') return span(value)
  if (typeof value !== 'string') return undefined
  const nanoseconds = parseDuration(value)
  return nanoseconds === undefined
    ? new Fault(`time: invalid duration ${JSON.stringify(value)}`)
    : new Span(nanoseconds)
}

/** Seconds as a decimal number. */
function secondsOf (nanoseconds: bigint): string {
  const all = nanoseconds < 0n ? -nanoseconds : nanoseconds
  const fraction = String(all % SECOND).padStart(9, '0').replace(/0+$/, '')
  return `${nanoseconds < 0n ? '-' : ''}${all / SECOND}${fraction === '' ? '' : `.${fraction}`}`
}

/** The text of a timestamp or duration. */
export function textOfTime (value: Instant | Span): string {
  if (value instanceof Span) return `${secondsOf(value.nanoseconds)}s`
  const [seconds, nanos] = [floor(value.nanoseconds, SECOND), Number(modulo(value.nanoseconds, SECOND))]
  const digits = String(nanos).padStart(9, '0').replace(/0+$/, '').length
  return formatTime({ seconds: Number(seconds), nanos }, digits) ?? ''
}

const floor = (value: bigint, by: bigint): bigint => (value - modulo(value, by)) / by
const modulo = (value: bigint, by: bigint): bigint => ((value % by) + by) % by

const OF_SPAN: Readonly<Record<string, bigint>> = {
  getHours: 3600n * SECOND, getMinutes: 60n * SECOND, getSeconds: SECOND, getMilliseconds: MILLISECOND
}
const OF_INSTANT: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: date => date.getUTCFullYear(),
  getMonth: date => date.getUTCMonth(),
  getDate: date => date.getUTCDate(),
  getDayOfMonth: date => date.getUTCDate() - 1,
  getDayOfWeek: date => date.getUTCDay(),
  getDayOfYear: date => {
    const start = new Date(date.getTime())
    start.setUTCMonth(0, 1)
    return Math.round((date.getTime() - start.getTime()) / DAY_MS)
  },
  getHours: date => date.getUTCHours(),
  getMinutes: date => date.getUTCMinutes(),
  getSeconds: date => date.getUTCSeconds(),
  getMilliseconds: date => date.getUTCMilliseconds()
}
export const TIME_METHODS = Object.keys(OF_INSTANT)

/** Undefined if the receiver has no such method. */
export function partOfTime (name: string, of: Value, zone: Value | undefined): Value | undefined {
  const [size, part] = [OF_SPAN[name], OF_INSTANT[name]]
  if (of instanceof Span) return size === undefined ? undefined : of.nanoseconds / size
  if (!(of instanceof Instant) || part === undefined) return undefined
  const utc = new Date(Number(floor(of.nanoseconds, MILLISECOND)))
  const date = zone === undefined ? utc : typeof zone === 'string' ? inZone(utc, zone) : undefined
  return date === undefined ? new Fault(`unknown time zone ${String(zone)}`) : BigInt(part(date))
}

/** Making a format takes a third of a millisecond. */
const formats = new Map<string, Intl.DateTimeFormat>()
const MAX_FORMATS = 100

/** @throws RangeError for an unknown zone */
function formatOf (zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (format === undefined) {
    if (formats.size >= MAX_FORMATS) formats.clear()
    formats.set(zone, format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric',
      minute: 'numeric', second: 'numeric'
    }))
  }
  return format
}

/** A date whose parts in UTC are those of the other in the zone. */
function inZone (date: Date, zone: string): Date | undefined {
  const [, sign, hours, minutes] = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone) ?? []
  if (hours !== undefined) {
    return new Date(date.getTime() + (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000)
  }
  try {
    const parts = formatOf(zone).formatToParts(date)
    const part = (type: string): number => Number(parts.find(candidate => candidate.type === type)?.value)
    return new Date(Date.UTC(
      part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'),
      date.getUTCMilliseconds()
    ))
  } catch {
    return undefined
  }
}

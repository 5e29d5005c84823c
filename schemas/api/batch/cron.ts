/** Cron schedules: five fields or a word such as `@daily`, optionally after a time zone. */
import { parseDuration } from '../../meta/duration.js'

interface Bounds {
  readonly name: string, readonly least: number, readonly most: number, readonly words?: readonly string[]
}

const MONTHS = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const FIELDS: readonly Bounds[] = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, words: MONTHS },
  { name: 'day of the week', least: 0, most: 6, words: DAYS }
]
const WORDS: readonly string[] = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']

/** In characters. A schedule that lists every minute, hour and day has about 400. */
const LONGEST = 1000

/** The error of a schedule; undefined if it is valid. */
export function scheduleFault (schedule: string): string | undefined {
  if (schedule.length > LONGEST) return `a schedule has at most ${LONGEST} characters`
  const zone = /^(?:TZ|CRON_TZ)=(\S*)\s*/.exec(schedule)
  if (zone !== null && !isTimeZone(zone[1] ?? '')) return `unknown time zone ${zone[1] ?? ''}`
  const text = schedule.slice(zone?.[0].length ?? 0).trim()
  if (text.startsWith('@')) return isWord(text) ? undefined : `unrecognized descriptor: ${text}`
  const fields = text === '' ? [] : text.split(/\s+/)
  if (fields.length !== FIELDS.length) {
    return `expected exactly 5 fields, found ${fields.length}: ${JSON.stringify(schedule)}`
  }
  for (const [index, bounds] of FIELDS.entries()) {
    for (const range of (fields[index] ?? '').split(',')) {
      const fault = range === '' ? undefined : rangeFault(range, bounds)
      if (fault !== undefined) return `${fault}: ${range}, as ${bounds.name}`
    }
  }
  return undefined
}

function isWord (text: string): boolean {
  return WORDS.includes(text) ||
    (text.startsWith('@every ') && parseDuration(text.slice('@every '.length)) !== undefined)
}

/** A range is `*`, `5` or `1-5`, optionally with a step, as in `0-30/5`. */
function rangeFault (range: string, { least, most, words = [] }: Bounds): string | undefined {
  const [span = '', step, ...rest] = range.split('/')
  if (rest.length > 0) return 'too many slashes'
  const [first = '', last, ...others] = span.split('-')
  const number = (text: string) =>
    /^\+?\d+$/.test(text) ? Number(text) : text === '' ? -1 : words.indexOf(text.toLowerCase())
  const every = first === '*' || first === '?'
  if (!every && others.length > 0) return 'too many hyphens'
  const begin = every ? least : number(first)
  const end = every || (last === undefined && step !== undefined) ? most : last === undefined ? begin : number(last)
  if (begin < 0 || end < 0) return 'failed to parse number'
  if (step !== undefined && !(/^\+?\d+$/.test(step) && Number(step) > 0)) {
    return 'step of range should be a positive number'
  }
  if (begin < least) return `beginning of range (${begin}) below minimum (${least})`
  if (end > most) return `end of range (${end}) above maximum (${most})`
  return begin > end ? `beginning of range (${begin}) beyond end of range (${end})` : undefined
}

/** Other programs look time zones up as file names, so their case matters. */
const ZONE = /^[A-Z][\w+-]{0,13}(?:\/[A-Z][\w+-]{0,13}){0,3}$/

let spelled: ReadonlyMap<string, string> | undefined
/** The spelling of each zone by its name in lower case, because ECMAScript ignores case. Aliases are missing. */
const zones = (): ReadonlyMap<string, string> =>
  spelled ??= new Map(Intl.supportedValuesOf('timeZone').map(name => [name.toLowerCase(), name]))

/** Whether the time zone database has the name. */
export function isTimeZone (name: string): boolean {
  if (name === '' || name === 'UTC' || name === 'Local') return true
  if (!ZONE.test(name) || (zones().get(name.toLowerCase()) ?? name) !== name) return false
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

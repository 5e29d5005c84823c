/** Milliseconds that fit into a 64-bit number of nanoseconds. */
const MAX_SHOWN = 2 ** 63 / 1e6

/** `5m12s`, `3h`, `2d4h`: shorter durations have finer units; the rest is truncated. May be negative. */
export function humanDuration (milliseconds: number): string {
  const seconds = Math.trunc(Math.min(milliseconds, MAX_SHOWN) / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return parts(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return parts(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 192) return parts(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.trunc(days / 365)
  return days < 2920 ? parts(years, 'y', days % 365, 'd') : `${years}y`
}

/** How the time is written that has passed since another, in milliseconds since the epoch. */
export interface Ages { readonly since: (then: number) => string }

export const agesAt = (now: number): Ages => ({ since: then => humanDuration(now - then) })

const parts = (high: number, highUnit: string, low: number, lowUnit: string) =>
  `${high}${highUnit}${low === 0 ? '' : `${low}${lowUnit}`}`

const NANOSECONDS: ReadonlyArray<readonly [string, bigint]> = [
  ['h', 3_600_000_000_000n], ['m', 60_000_000_000n], ['s', 1_000_000_000n], ['ms', 1_000_000n], ['us', 1000n],
  ['\u00b5s', 1000n], ['\u03bcs', 1000n], ['ns', 1n]
]
const UNITS = new Map(NANOSECONDS)
const DURATION = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:h|ms|m|s|us|\u00b5s|\u03bcs|ns))+$/
const LONGEST = 100

/**
 * Nanoseconds of a duration such as `1h15m30.5s`, in flags, configuration, objects and rules; undefined if malformed.
 */
export function parseDuration (text: string): bigint | undefined {
  if (/^[+-]?0$/.test(text)) return 0n
  if (text.length > LONGEST || !DURATION.test(text)) return undefined
  let nanoseconds = 0n
  for (const [, whole = '', fraction = '', unit = ''] of text
    .matchAll(/(\d*)(?:\.(\d*))?(h|ms|m|s|us|\u00b5s|\u03bcs|ns)/g)) {
    const size = UNITS.get(unit) ?? 0n
    nanoseconds += BigInt(whole === '' ? '0' : whole) * size +
      (fraction === '' ? 0n : BigInt(fraction) * size / 10n ** BigInt(fraction.length))
  }
  if (text.startsWith('-')) nanoseconds = -nanoseconds
  return BigInt.asIntN(64, nanoseconds) === nanoseconds ? nanoseconds : undefined
}

/** A unit has one of these names, or begins with the last of them. */
const WORDS: ReadonlyArray<readonly [names: readonly string[], beginning: string, nanoseconds: bigint]> = [
  [['ns'], 'nano', 1n], [['us', '\u00b5s'], 'micro', 1000n], [['ms'], 'milli', 1_000_000n],
  [['s'], 'sec', 1_000_000_000n],
  [['m'], 'min', 60_000_000_000n], [['h', 'hr'], 'hour', 3_600_000_000_000n], [['d'], 'day', 86_400_000_000_000n],
  [['w', 'wk'], 'week', 604_800_000_000_000n]
]
const LONGEST_WORDED = 1000

function sizeOf (unit: string): bigint | undefined {
  const lower = unit.toLowerCase()
  return WORDS.find(([names, beginning]) => names.includes(lower) || lower.startsWith(beginning))?.[2]
}

/**
 * Nanoseconds of what strings of the format `duration` hold in definitions: as above, or whole numbers with units up to
 * weeks, abbreviated or not, anywhere in the text (`2 weeks 3d`); what has another unit counts nothing.
 */
export function parseWordedDuration (text: string): bigint | undefined {
  const plain = parseDuration(text)
  if (plain !== undefined || text.length > LONGEST_WORDED) return plain
  const counted = [...text.matchAll(/(\d+)\s*([A-Za-z\u00b5]+)/g)].flatMap(([, count = '', unit = '']) => {
    const size = sizeOf(unit)
    return size === undefined ? [] : [BigInt(count) * size]
  })
  const nanoseconds = counted.reduce((sum, part) => sum + part, 0n)
  return counted.length === 0 || BigInt.asIntN(64, nanoseconds) !== nanoseconds ? undefined : nanoseconds
}

/** Go's format: hours, minutes and seconds, or a smaller unit below one second. */
export function formatDuration (nanoseconds: bigint): string {
  const sign = nanoseconds < 0n ? '-' : ''
  const all = nanoseconds < 0n ? -nanoseconds : nanoseconds
  if (all === 0n) return '0s'
  const decimal = (value: bigint, size: bigint): string => {
    const fraction = (value % size).toString().padStart(size.toString().length - 1, '0').replace(/0+$/, '')
    return `${value / size}${fraction === '' ? '' : `.${fraction}`}`
  }
  if (all < 1000n) return `${sign}${all}ns`
  if (all < 1_000_000n) return `${sign}${decimal(all, 1000n)}µs`
  if (all < 1_000_000_000n) return `${sign}${decimal(all, 1_000_000n)}ms`
  const hours = all / 3_600_000_000_000n
  const minutes = all / 60_000_000_000n % 60n
  const seconds = `${decimal(all % 60_000_000_000n, 1_000_000_000n)}s`
  return `${sign}${hours > 0n ? `${hours}h${minutes}m` : minutes > 0n ? `${minutes}m` : ''}${seconds}`
}

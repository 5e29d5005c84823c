/** `5m12s`, `3h`, `2d4h`: the shorter a time, the finer its parts; parts are cut off, not rounded. `milliseconds` may be negative. */
export function humanDuration (milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000)
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

const parts = (high: number, highUnit: string, low: number, lowUnit: string) => `${high}${highUnit}${low === 0 ? '' : `${low}${lowUnit}`}`

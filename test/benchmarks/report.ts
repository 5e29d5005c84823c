/** Medians and ratios, one line each. */

export const median = (values: readonly number[]): number => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN

export interface Measured {
  readonly work: string
  /** What both numbers are, such as 'µs of server CPU per request'. */
  readonly unit: string
  readonly ours: readonly number[]
  readonly limit?: readonly number[]
  /** Least share of the limit's rate: the limit's cost divided by ours. Or the most `ours` may be. */
  readonly atLeast?: number
  readonly atMost?: number
}

const figure = (value: number): string => value >= 100 ? value.toFixed(0) : value.toPrecision(3)

export function report ({ work, unit, ours, limit, atLeast, atMost }: Measured): boolean {
  const mine = median(ours)
  const bare = limit === undefined ? undefined : median(limit)
  const share = bare === undefined ? undefined : bare / mine
  const kept = (atLeast === undefined || (share ?? 0) >= atLeast) && (atMost === undefined || mine <= atMost)
  const parts = [
    work.padEnd(58),
    `${figure(mine)} ${unit}`,
    ...(bare === undefined ? [] : [`limit ${figure(bare)}`, `ratio ${(share ?? 0).toFixed(2)}`]),
    ...(atLeast === undefined ? [] : [`goal ≥ ${atLeast.toFixed(2)}`]),
    ...(atMost === undefined ? [] : [`goal < ${atMost}`]),
    ...(atLeast === undefined && atMost === undefined ? [] : [kept ? 'kept' : 'MISSED'])
  ]
  console.log(parts.join('  '))
  return kept
}

/** Prints a line for each figure when it is known, and the table of all figures for the documents. */

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** The smallest value that a given part (0 to 1) of the values does not exceed. */
export function quantile (values: readonly number[], part: number): number {
  const at = Math.min(values.length - 1, Math.floor(values.length * part))
  return values.toSorted((one, other) => one - other)[at] ?? NaN
}

export interface Row {
  readonly work: string
  /** The unit of the numbers, such as 'µs of CPU a request'. */
  readonly unit: string
  /** One number per round; their median is reported. */
  readonly ours: readonly number[]
  /** The same work done by the cheapest implementation, in the same rounds. */
  readonly limit?: readonly number[]
  /** Maximum ratio of ours to the limit, for costs. */
  readonly most?: number
  /** Minimum ratio of ours to the limit, for rates. */
  readonly least?: number
  /** Maximum of ours by itself. */
  readonly bound?: number
}

export interface Line {
  readonly work: string
  readonly ours: string
  readonly limit: string
  readonly ratio: string
  readonly goal: string
  /** 'kept', 'MISSED', or '' without a goal. */
  readonly kept: string
}

/** All lines of this process, in the order of measurement. */
export const lines: Line[] = []

/** Where results are printed. */
export const out = { print: (text: string): void => { console.log(text) } }

export const figure = (value: number): string =>
  Math.abs(value) >= 100 || value === 0 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)

export function report ({ work, unit, ours, limit, most, least, bound }: Row): void {
  const mine = median(ours)
  const ratio = limit === undefined ? NaN : mine / median(limit)
  const goals = [
    ...(most === undefined ? [] : [{ text: `≤ ${most} ×`, kept: ratio <= most }]),
    ...(least === undefined ? [] : [{ text: `≥ ${least} ×`, kept: ratio >= least }]),
    ...(bound === undefined ? [] : [{ text: `≤ ${figure(bound)}`, kept: mine <= bound }])
  ]
  const line = {
    work,
    ours: `${figure(mine)} ${unit}`,
    limit: limit === undefined ? '' : figure(median(limit)),
    ratio: limit === undefined ? '' : ratio.toFixed(2),
    goal: goals.map(({ text }) => text).join(', '),
    kept: goals.length === 0 ? '' : goals.every(({ kept }) => kept) ? 'kept' : 'MISSED'
  }
  lines.push(line)
  out.print([
    work.padEnd(62), line.ours,
    ...(limit === undefined ? [] : [`limit ${line.limit}`, `ratio ${line.ratio}`]),
    ...(goals.length === 0 ? [] : [`goal ${line.goal}`, line.kept])
  ].join('  '))
}

/** Markdown, as `docs/performance.md` has it. */
export function table (head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

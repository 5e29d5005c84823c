/** Prints a line for each figure when it is known, and the table of all figures for the documents. */

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** The smallest value that a given part (0 to 1) of the values does not exceed. */
export function quantile (values: readonly number[], part: number): number {
  const at = Math.min(values.length - 1, Math.floor(values.length * part))
  return values.toSorted((one, other) => one - other)[at] ?? NaN
}

/** One number for each round; their medians are reported. */
export interface Rounds {
  readonly ours: readonly number[]
  /** The same work done by the cheapest implementation, in the same rounds. */
  readonly limit?: readonly number[] | undefined
  /** Maximum ratio of ours to the limit, for costs. */
  readonly most?: number | undefined
  /** Minimum ratio of ours to the limit, for rates. */
  readonly least?: number | undefined
  /** Maximum of ours by itself. */
  readonly bound?: number | undefined
  /** What kube-apiserver 1.36 took, on another machine, with its etcd where the unit says so. */
  readonly peer?: number | undefined
  /** Maximum ratio of ours to the peer. */
  readonly ofPeer?: number | undefined
}

interface Named {
  readonly work: string
  /** The unit of the numbers, such as 'µs of CPU a request'. */
  readonly unit: string
}

export type Row = Named & Rounds

/** The same work at several sizes, or several times, in one line. */
export interface Series extends Named {
  readonly of: ReadonlyArray<readonly [label: string, rounds: Rounds]>
}

export interface Goal {
  readonly about: 'limit' | 'bound' | 'peer'
  readonly text: string
  readonly isKept: boolean
}

export interface Figure {
  readonly label: string
  readonly ours: number
  readonly limit: number | undefined
  readonly peer: number | undefined
  readonly goals: readonly Goal[]
}

/** Cells of a table, and the figures in them. */
export interface Line extends Named {
  readonly ours: string
  /** What ours is compared with. */
  readonly compared: string
  readonly goal: string
  /** 'kept', 'missed' and where, or '' without a goal. */
  readonly kept: string
  readonly figures: readonly Figure[]
}

/** All lines of this process, in the order of measurement. */
export const lines: Line[] = []

/** Where results are printed. */
export const out = { print: (text: string): void => { console.log(text) } }

export const figure = (value: number): string =>
  Math.abs(value) >= 100 || value === 0 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)

export const ratioOf = ({ ours, limit }: Figure): number => ours / (limit ?? NaN)

function figureOf (label: string, { ours, limit, most, least, bound, peer, ofPeer }: Rounds): Figure {
  const mine = median(ours)
  const its = limit === undefined ? undefined : median(limit)
  const ratio = mine / (its ?? NaN)
  const goals: Goal[] = []
  if (most !== undefined) goals.push({ about: 'limit', text: `≤ ${most} ×`, isKept: ratio <= most })
  if (least !== undefined) goals.push({ about: 'limit', text: `≥ ${least} ×`, isKept: ratio >= least })
  if (bound !== undefined) goals.push({ about: 'bound', text: `≤ ${figure(bound)}`, isKept: mine <= bound })
  if (peer !== undefined && ofPeer !== undefined) {
    goals.push({ about: 'peer', text: `≤ ${ofPeer} of kube-apiserver`, isKept: mine <= ofPeer * peer })
  }
  return { label, ours: mine, limit: its, peer, goals }
}

/** Texts of several figures, once if they are all alike. */
function joined (texts: readonly string[]): string {
  if (texts.every(text => text === '')) return ''
  return new Set(texts).size === 1 ? texts[0] ?? '' : texts.map(text => text === '' ? '–' : text).join('; ')
}

export const isMissed = ({ goals }: Figure): boolean => goals.some(({ isKept }) => !isKept)

function keptOf (figures: readonly Figure[]): string {
  if (figures.every(({ goals }) => goals.length === 0)) return ''
  const missed = figures.filter(isMissed)
  if (missed.length === 0) return 'kept'
  return missed.length === figures.length ? 'missed' : `missed: ${missed.map(({ label }) => label).join('; ')}`
}

export function report (row: Row | Series): void {
  const { work, unit } = row
  const figures = 'of' in row ? row.of.map(([label, rounds]) => figureOf(label, rounds)) : [figureOf('', row)]
  const limits = joined(figures.map(
    one => one.limit === undefined ? '' : `${figure(one.limit)}: ${ratioOf(one).toFixed(2)} ×`
  ))
  const peers = joined(figures.map(({ peer }) => peer === undefined ? '' : figure(peer)))
  const line = {
    work,
    unit,
    ours:
      `${figures.map(({ label, ours }) => `${label === '' ? '' : `${label}: `}${figure(ours)}`).join('; ')} ${unit}`,
    compared: [limits, ...peers === '' ? [] : [`kube-apiserver ${peers}`]].filter(text => text !== '').join('; '),
    goal: joined(figures.map(({ goals }) => goals.map(({ text }) => text).join(', '))),
    kept: keptOf(figures),
    figures
  }
  lines.push(line)
  out.print([
    work.padEnd(62), line.ours, ...line.compared === '' ? [] : [`beside ${line.compared}`],
    ...line.goal === '' ? [] : [`goal ${line.goal}`, line.kept]
  ].join('  '))
}

/** Lines of works that are measured at one size after the other. */
export class Collected {
  readonly #series = new Map<string, { readonly unit: string, readonly of: Array<readonly [string, Rounds]> }>()

  /** @param label of the size */
  add (work: string, unit: string, label: string, rounds: Rounds): void {
    const series = this.#series.get(work) ?? { unit, of: [] }
    this.#series.set(work, series)
    series.of.push([label, rounds])
  }

  report (): void { for (const [work, series] of this.#series) report({ work, ...series }) }
}

/** Markdown, as `docs/performance.md` has it. */
export function table (head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

/** The keeper's table of docs/performance.md. */
export function keeperTable (parts: ReadonlyArray<readonly [part: string, lines: readonly Line[]]>): string {
  return table(
    ['Work', 'Part', 'Ours', 'Compared with', 'Goal', 'Kept'],
    parts.flatMap(([part, shown]) => shown.map(({ work, ours, compared, goal, kept }) =>
      [work, `\`${part}\``, ours, compared, goal, kept]))
  )
}

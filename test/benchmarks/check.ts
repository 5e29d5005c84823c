/**
 * `npm run bench -- check`: finds what has become slower. Compares the ratios to the bare limit with those kept in
 * `ratios.json`, because ratios of one run vary far less than figures do. `npm run bench -- check keep` replaces the
 * kept ones.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { ratioOf, type Line } from './report.js'

/** What is measured: every kind of work on a hot path. */
export const CHECKED = ['reads', 'h2', 'lists', 'watch', 'writes-embedded'] as const

const FILE = new URL('../../../test/benchmarks/ratios.json', import.meta.url)
/** The factor from which a ratio counts as worse. */
const TOLERANCE = 1.1

export type Ratios = Readonly<Record<string, number>>

/** Costs only: elapsed times vary too much. */
export const ratiosOf = (lines: readonly Line[]): Ratios => Object.fromEntries(
  lines.filter(({ unit }) => unit.includes(' of CPU')).flatMap(({ work, figures: [only, ...others] }) =>
    only?.limit === undefined || others.length > 0 ? [] : [[work, Number(ratioOf(only).toFixed(2))]])
)

export const keptRatios = (): Ratios => JSON.parse(readFileSync(FILE, 'utf8')) as Ratios

export function keepRatios (ratios: Ratios): void {
  writeFileSync(FILE, `${JSON.stringify(ratios, undefined, 2)}\n`)
}

/** The smaller ratio of two runs. */
export const smaller = (one: Ratios, other: Ratios): Ratios =>
  Object.fromEntries(Object.entries(one).map(([work, ratio]) => [work, Math.min(ratio, other[work] ?? ratio)]))

/** One line for each ratio that is more than a tenth above the kept one, and for each that is no longer measured. */
export function worse (found: Ratios, kept: Ratios): string[] {
  return Object.entries(kept).flatMap(([work, before]) => {
    const now = found[work]
    if (now === undefined) return [`${work}: not measured`]
    return now > before * TOLERANCE ? [`${work}: ${now.toFixed(2)} × bare, ${before.toFixed(2)} before`] : []
  })
}

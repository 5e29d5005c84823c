/** Ranges of sizes and costs, which end at 2^64 - 1 as upstream's do. */
export interface Range { readonly min: number, readonly max: number }

const MOST = 2 ** 64
const bounded = (value: number): number => Math.min(value, MOST)

export const UNKNOWN: Range = { min: 0, max: MOST }
export const exactly = (value: number): Range => ({ min: value, max: value })

export function add (...all: readonly Range[]): Range {
  let [min, max] = [0, 0]
  for (const range of all) {
    min = bounded(min + range.min)
    max = bounded(max + range.max)
  }
  return { min, max }
}

const product = (one: number, other: number): number => one === 0 || other === 0 ? 0 : bounded(one * other)
export const times = (one: Range, other: Range): Range =>
  ({ min: product(one.min, other.min), max: product(one.max, other.max) })

/** Factors are tenths, so that nothing is rounded up for the sake of its binary form. */
export const tenths = (count: number, range: Range): Range =>
  ({ min: bounded(Math.ceil(range.min * count / 10)), max: bounded(Math.ceil(range.max * count / 10)) })

export const union = (one: Range, other: Range): Range =>
  ({ min: Math.min(one.min, other.min), max: Math.max(one.max, other.max) })

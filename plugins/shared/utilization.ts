/**
 * Utilization as two histograms that are independent of scrape times: samples hold the value at the end of each
 * millisecond, watermarks its minimum and maximum within it. Both are brought up to date when the value changes; an
 * idle series adds nothing.
 */
import type { Histogram, Metric } from './metric-series.js'

/** Ratio buckets. */
export const PARTS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]

export interface UtilizationSeries {
  readonly samples: Histogram
  readonly low: Histogram
  readonly high: Histogram
}

/** @param value of the label after `mark` and `phase` */
export const utilizationSeries = (
  samples: Metric<Histogram>, watermarks: Metric<Histogram>, phase: string, value: string
): UtilizationSeries => ({
  samples: samples.with(phase, value),
  low: watermarks.with('low', phase, value),
  high: watermarks.with('high', phase, value)
})

export class Utilization {
  readonly #series: UtilizationSeries
  readonly #now: () => number
  #used = 0
  #limit: number
  #ratio = 0
  #low = 0
  #high = 0
  #tick: number

  /** @param limit converts numbers to ratios; 1 keeps counts @param now monotonic clock, milliseconds */
  constructor (series: UtilizationSeries, limit = 1, now: () => number = () => performance.now()) {
    this.#series = series
    this.#limit = limit
    this.#now = now
    this.#tick = Math.floor(now())
  }

  /** @param now as in `set` */
  add (by: number, now?: number): void { this.set(this.#used + by, this.#limit, now) }

  /** @param now a recent reading of the same clock */
  set (used: number, limit = this.#limit, now?: number): void {
    if (used === this.#used && limit === this.#limit) return
    const tick = Math.floor(now ?? this.#now())
    const ticks = tick - this.#tick
    if (ticks > 0) {
      const { samples, low, high } = this.#series
      samples.observe(this.#ratio, ticks)
      low.observe(this.#low)
      high.observe(this.#high)
      if (ticks > 1) {
        low.observe(this.#ratio, ticks - 1)
        high.observe(this.#ratio, ticks - 1)
      }
      this.#low = this.#high = this.#ratio
      this.#tick = tick
    }
    this.#used = used
    this.#limit = limit
    const ratio = this.#ratio = limit > 0 ? used / limit : 0
    if (ratio < this.#low) this.#low = ratio
    if (ratio > this.#high) this.#high = ratio
  }
}

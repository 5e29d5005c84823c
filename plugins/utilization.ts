/**
 * How much of what there is is in use, as two histograms that do not depend on when somebody looks: samples are what was in use at
 * the end of each millisecond, watermarks the least and the most within it. Both are made up when the number changes, up
 * to that moment: where nothing happens any more nothing is added.
 */
import type { Histogram, Metric } from './metric-series.js'

/** Parts of a whole. */
export const PARTS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]

export interface UtilizationSeries {
  readonly samples: Histogram
  readonly low: Histogram
  readonly high: Histogram
}

/** @param values of the labels behind `mark` and `phase` */
export const utilizationSeries = (samples: Metric<Histogram>, watermarks: Metric<Histogram>, phase: string, value: string): UtilizationSeries => ({
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

  /** @param limit that the numbers are parts of, 1 for numbers as they are @param now milliseconds on a clock that never goes back */
  constructor (series: UtilizationSeries, limit = 1, now: () => number = () => performance.now()) {
    this.#series = series
    this.#limit = limit
    this.#now = now
    this.#tick = Math.floor(now())
  }

  /** @param now as in `set` */
  add (by: number, now?: number): void { this.set(this.#used + by, this.#limit, now) }

  /** @param now on the same clock, from whoever has just looked at it */
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

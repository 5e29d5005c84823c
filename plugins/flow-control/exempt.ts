/** A request of an exempt priority level: counted but not limited. */
import type { LimitPlace } from '../../answers/request-context.js'
import type { KindSeries } from '../shared/in-flight-metrics.js'
import type { FlowSeries } from './metrics.js'

export class Exempt implements LimitPlace {
  readonly #series: FlowSeries
  readonly #kind: KindSeries
  readonly #isWatch: boolean
  readonly #startedAt = performance.now()
  readonly #released: () => void
  #over = false

  /** @param released called when it has executed */
  constructor (series: FlowSeries, kind: KindSeries, isWatch: boolean, released: () => void) {
    this.#released = released
    this.#series = series
    this.#kind = kind
    this.#isWatch = isWatch
    series.dispatched.add()
    series.executing.add(1)
    kind.executing(1, this.#startedAt)
  }

  /** A watch has executed once it has started; other requests when they end. */
  handedOver (): void { if (this.#isWatch) this.closed() }

  closed (): void {
    if (this.#over) return
    this.#over = true
    const now = performance.now()
    this.#series.executing.add(-1)
    this.#kind.executing(-1, now)
    this.#released()
    const ran = this.#isWatch ? this.#series.ranAsWatch : this.#series.ran
    ran.observe((now - this.#startedAt) / 1000)
  }
}

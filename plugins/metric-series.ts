/**
 * Counters, gauges and histograms that cost a few nanoseconds to move: a series is looked up by its label
 * values once and kept by whoever moves it. prom-client turns them into text when somebody scrapes, and is
 * not even loaded before. Label values must come from closed sets; a metric that grows past `LIMIT` series
 * regardless puts the rest into one series of 'other's rather than growing with its input.
 */

export interface Counter { add: (by?: number) => void }
export interface Gauge { set: (value: number) => void, add: (by: number) => void }
export interface Histogram { observe: (value: number) => void }

export interface Metric<T> {
  /** The series with these label values, in the order of the label names. The same call gives the same series. */
  with: (...values: string[]) => T
}

export const LIMIT = 1000

/** What prom-client wants of a metric in its registry. */
export interface Sample { readonly labels: Record<string, string | number>, readonly value: number, readonly metricName?: string }
export interface Exposition { readonly name: string, readonly help: string, readonly type: 'counter' | 'gauge' | 'histogram', readonly aggregator: 'sum', readonly values: Sample[] }

abstract class Family<T> implements Metric<T> {
  readonly #series = new Map<string, { labels: Record<string, string>, child: T }>()

  constructor (readonly name: string, readonly help: string, readonly labels: readonly string[]) {}

  abstract readonly type: Exposition['type']
  protected abstract create (): T
  protected abstract samples (child: T, labels: Record<string, string>): Sample[]

  with (...values: string[]): T {
    if (values.length !== this.labels.length) throw new TypeError(`${this.name} has ${this.labels.length} labels, not ${values.length}`)
    const key = values.join('\u0000')
    const known = this.#series.get(key)
    if (known !== undefined) return known.child
    if (this.#series.size >= LIMIT && values.some(value => value !== 'other')) return this.with(...values.map(() => 'other'))
    const labels: Record<string, string> = {}
    this.labels.forEach((label, index) => { labels[label] = values[index] ?? '' })
    const child = this.create()
    this.#series.set(key, { labels, child })
    return child
  }

  /** Called by the registry. */
  get (): Exposition {
    const { name, help, type } = this
    return { name, help, type, aggregator: 'sum', values: [...this.#series.values()].flatMap(({ labels, child }) => this.samples(child, labels)) }
  }
}

class Value implements Counter, Gauge {
  value = 0
  add (by = 1): void { this.value += by }
  set (value: number): void { this.value = value }
}

export class CounterFamily extends Family<Counter> {
  readonly type = 'counter'
  protected create (): Value { return new Value() }
  protected samples (child: Value, labels: Record<string, string>): Sample[] { return [{ labels, value: child.value }] }
}

export class GaugeFamily extends Family<Gauge> {
  readonly type = 'gauge'
  protected create (): Value { return new Value() }
  protected samples (child: Value, labels: Record<string, string>): Sample[] { return [{ labels, value: child.value }] }
}

class Distribution implements Histogram {
  readonly counts: number[]
  count = 0
  sum = 0
  constructor (readonly bounds: readonly number[]) { this.counts = bounds.map(() => 0) }

  observe (value: number): void {
    this.count++
    this.sum += value
    const { bounds, counts } = this
    for (let index = 0; index < bounds.length; index++) {
      if (value <= (bounds[index] ?? Infinity)) {
        counts[index] = (counts[index] ?? 0) + 1
        return
      }
    }
  }
}

export class HistogramFamily extends Family<Histogram> {
  readonly type = 'histogram'
  constructor (name: string, help: string, labels: readonly string[], readonly bounds: readonly number[]) { super(name, help, labels) }
  protected create (): Distribution { return new Distribution(this.bounds) }

  protected samples ({ bounds, counts, count, sum }: Distribution, labels: Record<string, string>): Sample[] {
    let below = 0
    const buckets = bounds.map((le, index) => {
      below += counts[index] ?? 0
      return { labels: { ...labels, le }, value: below, metricName: `${this.name}_bucket` }
    })
    return [
      ...buckets,
      { labels: { ...labels, le: '+Inf' }, value: count, metricName: `${this.name}_bucket` },
      { labels, value: sum, metricName: `${this.name}_sum` },
      { labels, value: count, metricName: `${this.name}_count` }
    ]
  }
}

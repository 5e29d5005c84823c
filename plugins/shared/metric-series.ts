/**
 * Counters, gauges and histograms that cost nanoseconds to update: callers look up a series once by its label values
 * and keep it. Rendered text is cached until the series changes, so that large scrapes take milliseconds. Label values
 * must come from closed sets; beyond `LIMIT` series a metric aggregates the rest under 'other'.
 */

export interface Counter { add: (by?: number) => void }
export interface Gauge { set: (value: number) => void, add: (by: number) => void }
/** @param times number of observations. Default 1. */
export interface Histogram { observe: (value: number, times?: number) => void }

export interface Metric<T> {
  /** The series with these label values, in the order of the label names. The same values return the same series. */
  with: (...values: string[]) => T
}

export interface GaugeMetric extends Metric<Gauge> {
  /** Removes the series with these label values. */
  forget: (...values: string[]) => void
}

/** Bounds of a histogram: `count` of them, each twice the one before. */
export const doubling = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, power) => first * 2 ** power)

export const LIMIT = 1000
const UNEXPECTED = 'unexpected'

const escapedHelp = (help: string): string => help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')
const escapedValue = (value: string): string => /["\\\n]/.test(value) ? escapedHelp(value).replace(/"/g, '\\"') : value

/** Formats a number for the text format. */
export const formatNumber = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'

interface Series<T> {
  readonly labels: string
  readonly child: T
  /** Cached lines, and the stamp at which they were rendered. */
  bytes: Buffer | undefined
  stamp: number
}

export abstract class Family<T> implements Metric<T> {
  readonly #series = new Map<string, Series<T>>()
  #head: Buffer | undefined

  constructor (readonly name: string, readonly help: string, readonly labels: readonly string[]) {}

  /** Allowed values per label, in label order; undefined if no label is restricted. */
  #allowed: ReadonlyArray<ReadonlySet<string> | undefined> | undefined

  /** Restricts label values: others are counted as `unexpected`. */
  allow (valuesOf: (label: string) => readonly string[] | undefined): void {
    const allowed = this.labels.map(label => {
      const values = valuesOf(label)
      return values === undefined ? undefined : new Set(values)
    })
    if (allowed.some(values => values !== undefined)) this.#allowed = allowed
  }

  protected abstract readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  protected abstract create (): T
  /** @param labels `a="b",c="d"`, '' for none */
  protected abstract lines (child: T, labels: string): string
  /** A value that differs whenever the rendered lines would. */
  protected abstract stamp (child: T): number

  with (...values: string[]): T {
    if (values.length !== this.labels.length) {
      throw new TypeError(`${this.name} has ${this.labels.length} labels, not ${values.length}`)
    }
    const allowed = this.#allowed
    if (allowed?.some((set, index) => set?.has(values[index] ?? '') === false &&
      values[index] !== UNEXPECTED) === true) {
      return this.with(...values.map((value, index) => allowed[index]?.has(value) === false ? UNEXPECTED : value))
    }
    const key = values.join('\u0000')
    const known = this.#series.get(key)
    if (known !== undefined) return known.child
    if (this.#series.size >= LIMIT && values.some(value => value !== 'other')) {
      return this.with(...values.map(() => 'other'))
    }
    const labels = this.labels.map((label, index) => `${label}="${escapedValue(values[index] ?? '')}"`).join(',')
    const child = this.create()
    this.#series.set(key, { labels, child, bytes: undefined, stamp: NaN })
    return child
  }

  forget (...values: string[]): void { this.#series.delete(values.join('\u0000')) }

  /**
   * Appends the metric in text format. Writes help and type even without series, so that the metric is discoverable.
   */
  write (pieces: Buffer[]): void {
    pieces.push(
      this.#head ??= Buffer.from(`# HELP ${this.name} ${escapedHelp(this.help)}\n# TYPE ${this.name} ${this.type}\n`)
    )
    for (const series of this.#series.values()) {
      const { labels, child } = series
      const stamp = this.stamp(child)
      if (series.bytes === undefined || !Object.is(series.stamp, stamp)) {
        series.bytes = Buffer.from(this.lines(child, labels))
        series.stamp = stamp
      }
      pieces.push(series.bytes)
    }
  }
}

class Value implements Counter, Gauge {
  value = 0
  add (by = 1): void { this.value += by }
  set (value: number): void { this.value = value }
}

abstract class ValueFamily<T> extends Family<T> {
  protected stamp ({ value }: T & Value): number { return value }

  protected lines (child: T & Value, labels: string): string {
    return `${this.name}${labels === '' ? '' : `{${labels}}`} ${formatNumber(child.value)}\n`
  }
}

export class CounterFamily extends ValueFamily<Counter> {
  protected readonly type = 'counter'
  protected create (): Value { return new Value() }
}

export class GaugeFamily extends ValueFamily<Gauge> {
  protected readonly type = 'gauge'
  protected create (): Value { return new Value() }
}

class Distribution implements Histogram {
  readonly counts: number[]
  count = 0
  sum = 0
  constructor (readonly bounds: readonly number[]) { this.counts = bounds.map(() => 0) }

  observe (value: number, times = 1): void {
    this.count += times
    this.sum += value * times
    const { bounds, counts } = this
    for (let index = 0; index < bounds.length; index++) {
      if (value <= (bounds[index] ?? Infinity)) {
        counts[index] = (counts[index] ?? 0) + times
        return
      }
    }
  }
}

export class HistogramFamily extends Family<Histogram> {
  protected readonly type = 'histogram'
  /** Rendered `le` label per bucket. */
  readonly #ends: readonly string[]

  constructor (name: string, help: string, labels: readonly string[], readonly bounds: readonly number[]) {
    super(name, help, labels)
    this.#ends = bounds.map(bound => `le="${bound}"} `)
  }

  protected create (): Distribution { return new Distribution(this.bounds) }
  protected stamp ({ count }: Distribution): number { return count }

  protected lines ({ counts, count, sum }: Distribution, labels: string): string {
    const bucket = `${this.name}_bucket{${labels}${labels === '' ? '' : ','}`
    let text = ''
    let below = 0
    // both arrays have one element per bound
    for (let index = 0; index < counts.length; index++) {
      text += `${bucket}${this.#ends[index] as string}${below += counts[index] as number}\n`
    }
    const of = labels === '' ? '' : `{${labels}}`
    return `${text}${bucket}le="+Inf"} ${count}\n${this.name}_sum${of} ${formatNumber(sum)}\n${this.name}_count${of} ` +
      `${count}\n`
  }
}

/** The interface of `fastify.orchMetrics` (`plugins/metrics/`). */
export interface Metrics {
  /**
   * Declares a metric, or returns the existing one. Names and labels as in Prometheus; the stability level is added to
   * the help.
   */
  counter: (name: string, help: string, labels?: readonly string[]) => Metric<Counter>
  gauge: (name: string, help: string, labels?: readonly string[]) => GaugeMetric
  histogram: (name: string, help: string, bounds: readonly number[], labels?: readonly string[]) => Metric<Histogram>
  /** Quantiles over the last hours. More expensive than a histogram. */
  summary: (name: string, help: string, labels?: readonly string[]) => Metric<Histogram>
  /** Registers a callback that updates gauges before each scrape. */
  beforeScrape: (read: () => void) => void
  /**
   * Polls the number of stored objects of a resource into apiserver_storage_objects, and under 1.36 into
   * apiserver_resource_objects, which takes its place.
   */
  trackObjects: (type: { readonly group: string, readonly plural: string }, count: () => Promise<number>) => void
  /**
   * Polls the size of a store, in bytes, into apiserver_storage_size_bytes, and for etcd into
   * etcd_db_total_size_in_bytes.
   */
  trackStore: (name: string, status: () => Promise<{ size: number }>, endpoint?: string) => void
  /** Renders all metrics in the text format of `/metrics`. */
  exposition: () => Promise<Buffer>
}

/** The series of request metrics, and those of one request by its labels. */
import { LIMIT, type Counter, type Histogram, type Metrics } from '../shared/metric-series.js'

/** Seconds. Include 1 and 30, the service-level objectives for single objects and lists. */
const SECONDS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]
const BYTES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
const SUBJECT = ['group', 'version', 'resource', 'subresource', 'scope', 'component']
/** Status codes by which the server protects itself from overload. */
const SELF_DEFENCE: ReadonlySet<number> = new Set([429, 503, 504])

/** What the labels of a request say. */
export interface Labels {
  readonly verb: string
  readonly dryRun: boolean
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly scope: string
  /** Health checks name no component. */
  readonly component: string
}

/** The series of requests with the same labels. */
export interface Series extends Labels {
  readonly codes: (code: number) => ReadonlyArray<Counter>
  readonly duration: Histogram
  readonly ownDuration: Histogram
  /** Reads only. */
  readonly size: Histogram | undefined
  readonly aborts: () => Counter
}

type Declared = ReturnType<typeof declareRequestSeries>

/** @param isLater whether release 1.36 is emulated, which calls one of them otherwise */
export const declareRequestSeries = ({ counter, gauge, histogram }: Metrics, isLater: boolean) => ({
  requests: counter(
    'apiserver_request_total',
    'Requests answered, by verb, dry run, group, version, resource, subresource, scope, component and response code.',
    ['verb', 'dry_run', ...SUBJECT, 'code']
  ),
  durations: histogram(
    'apiserver_request_duration_seconds',
    'Seconds from the arrival of a request to the end of its answer, by verb, dry run, group, version, resource, ' +
      'subresource, scope and component.',
    SECONDS, ['verb', 'dry_run', ...SUBJECT]
  ),
  ownDurations: histogram(
    `apiserver_request_${isLater ? 'sli' : 'slo'}_duration_seconds`,
    'Seconds from the arrival of a request to the end of its answer without those that admission webhooks took, by ' +
      'verb, group, version, resource, subresource, scope and component.',
    SECONDS, ['verb', ...SUBJECT]
  ),
  sizes: histogram(
    'apiserver_response_sizes',
    'Bytes of the response bodies of reads whose length is known beforehand, by verb, group, version, resource, ' +
      'subresource, scope and component.',
    BYTES, ['verb', ...SUBJECT]
  ),
  running: gauge(
    'apiserver_longrunning_requests',
    'Watches and other long-running requests under way, by verb, group, version, resource, subresource, scope and ' +
      'component.',
    ['verb', ...SUBJECT]
  ),
  inFlight: gauge(
    'apiserver_current_inflight_requests', 'Requests under way that are not long-running, by kind.', ['request_kind']
  ),
  terminations: counter(
    'apiserver_request_terminations_total',
    'Requests that the server refused or ended to protect itself, by verb, group, version, resource, subresource, ' +
      'scope, component and response code.',
    ['verb', ...SUBJECT, 'code']
  ),
  aborts: counter(
    'apiserver_request_aborts_total',
    'Requests that ended before an answer to them had begun, by verb, group, version, resource, subresource and scope.',
    ['verb', ...SUBJECT.slice(0, -1)]
  )
})

function seriesOf (declared: Declared, labels: Labels): Series {
  const { verb, dryRun, group, version, resource, subresource, scope, component } = labels
  const place = [group, version, resource, subresource, scope]
  const subject = [...place, component]
  const dry = dryRun ? 'All' : ''
  const codes = new Map<number, Counter[]>()
  return {
    ...labels,
    codes: code => {
      let counters = codes.get(code)
      if (counters === undefined) {
        counters = [declared.requests.with(verb, dry, ...subject, String(code))]
        if (SELF_DEFENCE.has(code)) counters.push(declared.terminations.with(verb, ...subject, String(code)))
        codes.set(code, counters)
      }
      return counters
    },
    duration: declared.durations.with(verb, dry, ...subject),
    ownDuration: declared.ownDurations.with(verb, ...subject),
    size: verb === 'GET' || verb === 'LIST' ? declared.sizes.with(verb, ...subject) : undefined,
    aborts: () => declared.aborts.with(verb, ...place)
  }
}

/** Keeps the series of as many different labels as metrics keep. */
export class SeriesCache {
  readonly #declared: Declared
  readonly #byResource = new Map<string, Series[]>()
  #count = 0

  constructor (declared: Declared) {
    this.#declared = declared
  }

  of (labels: Labels): Series {
    const { verb, dryRun, group, version, resource, subresource, scope } = labels
    let known = this.#byResource.get(resource)
    const same = known?.find(series => series.verb === verb && series.scope === scope &&
      series.subresource === subresource && series.group === group && series.version === version &&
      series.dryRun === dryRun)
    if (same !== undefined) return same
    const series = seriesOf(this.#declared, labels)
    if (this.#count < LIMIT) {
      if (known === undefined) this.#byResource.set(resource, known = [])
      known.push(series)
      this.#count++
    }
    return series
  }
}

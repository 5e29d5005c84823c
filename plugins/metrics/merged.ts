/**
 * Merges the metrics of several processes. Values that each process has for itself, such as requests in flight, are
 * added. Values that all processes share, such as object counts, are taken once. Others get the label `process`.
 */
import { formatNumber } from '../shared/metric-series.js'
import { finish, type Steps } from '../../schemas/steps.js'

/** The metrics of one process in the text format. */
export interface Exposition {
  readonly process: string
  readonly text: Uint8Array
  /** True if the process has ended or does not answer: its gauges are meaningless. */
  readonly countersOnly?: boolean
}

/** Gauges that have the same value in each process, except that each reads it at another time. The greatest counts. */
const SHARED: ReadonlySet<string> = new Set([
  'apiserver_resource_objects', 'apiserver_storage_objects', 'apiserver_storage_size_bytes',
  'apiserver_storage_out_of_space',
  'etcd_db_total_size_in_bytes', 'kubernetes_feature_enabled', 'orch_build_info', 'version_info'
])
/** Types of metrics whose sums only rise. */
const COUNTED: ReadonlySet<string> = new Set(['counter', 'histogram', 'summary'])
/** Lines per step. */
const LINES = 2000

type Combine = 'sum' | 'greatest' | 'apart'

function combineOf (name: string, type: string, line: string): Combine {
  if (type === 'counter' || type === 'histogram') return 'sum'
  if (type === 'summary') return line.includes('quantile="') ? 'apart' : 'sum'
  if (SHARED.has(name)) return 'greatest'
  return name.startsWith('process_') || name.startsWith('nodejs_') ? 'apart' : 'sum'
}

interface Family { head: string, readonly series: Map<string, number> }

const labelled = (series: string, process: string): string => series.endsWith('}')
  ? `${series.slice(0, -1)},process="${process}"}`
  : `${series}{process="${process}"}`

/**
 * In steps, because a scrape of a large server has tens of thousands of lines.
 * @param isShown by the name of a metric, default all
 * @returns the text format
 */
export function * merged (
  expositions: readonly Exposition[], isShown: (name: string) => boolean = () => true
): Steps<Buffer> {
  const families = new Map<string, Family>()
  let lines = 0
  for (const { process, text, countersOnly = false } of expositions) {
    let family: Family = { head: '', series: new Map() }
    let name = ''
    let type = ''
    let help = ''
    let skipped = false
    for (const line of Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString().split('\n')) {
      if (++lines % LINES === 0) yield
      if (line.startsWith('# HELP ')) {
        help = line
      } else if (line.startsWith('# TYPE ')) {
        [, , name = '', type = ''] = line.split(' ')
        skipped = countersOnly && !COUNTED.has(type)
        if (skipped) continue
        const known = families.get(name)
        family = known ?? { head: `${help}\n${line}\n`, series: new Map() }
        if (known === undefined) families.set(name, family)
      } else if (line !== '' && !skipped) {
        const at = line.lastIndexOf(' ')
        const series = line.slice(0, at)
        const value = numberOf(line.slice(at + 1))
        const how = combineOf(name, type, series)
        if (countersOnly && how !== 'sum') continue
        const key = how === 'apart' ? labelled(series, process) : series
        const before = family.series.get(key)
        family.series.set(
          key, before === undefined ? value : how === 'greatest' ? Math.max(before, value) : before + value
        )
      }
    }
  }
  const pieces: string[] = []
  for (const [name, { head, series }] of families) {
    if (!isShown(name)) continue
    let text = head
    for (const [key, value] of series) {
      if (++lines % LINES === 0) yield
      text += `${key} ${formatNumber(value)}\n`
    }
    pieces.push(text)
  }
  return Buffer.from(pieces.join(''))
}

/** Only the counters, histograms and summaries, for example of processes that have ended. */
export const countersOf = (expositions: readonly Exposition[]): Exposition =>
  ({
    process: '', text: finish(merged(expositions.map(({ process, text }) =>
      ({ process, text, countersOnly: true })))), countersOnly: true
  })

const numberOf = (text: string): number => text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text)

/** Annotations that say what a slow request waited for, as far as it is measured. */
import type { RequestContext } from '../../answers/request-context.js'
import { Span, type Trace } from '../../registry/trace.js'
import { formatDuration } from '../../schemas/meta/duration.js'

/** Milliseconds; faster requests are not annotated. */
const SLOW = 500
const PREFIX = 'apiserver.latency.orch.io/'

/** What spans measure. */
const MEASURED: ReadonlyMap<string, string> = new Map([
  ['Get from storage', 'etcd'], ['List from storage', 'etcd'], ['Store transaction', 'etcd'],
  ['SerializeObject', 'serialize-response-object']
])

const FILTERS: ReadonlySet<string> = new Set(['authentication', 'impersonation', 'authorization'])

type Timed = Pick<RequestContext, 'trace' | 'waited' | 'waitedTogether' | 'filtered'>

/** Undefined for a request that was not slow. @param now of `performance.now()` */
export function latencies (
  { trace, waited, waitedTogether, filtered = [] }: Timed, now: number
): Readonly<Record<string, string>> | undefined {
  const total = now - trace.startedAt
  if (total <= SLOW) return undefined
  const measured: ReadonlyArray<readonly [string, number]> = [
    ['total', total], ...filtered.filter(([name]) => FILTERS.has(name)), ['mutating-webhook', waited],
    ['validating-webhook', waitedTogether], ['apf-queue-wait', trace.waited], ...ofSpans(trace)
  ]
  return Object.fromEntries(measured.filter(([, milliseconds]) => milliseconds > 0)
    .map(([name, milliseconds]) => [PREFIX + name, formatDuration(BigInt(Math.round(milliseconds * 1e6)))]))
}

/** The milliseconds of all spans of a kind. */
function ofSpans ({ items = [] }: Trace): Map<string, number> {
  const sums = new Map<string, number>()
  for (const item of items) {
    const name = item instanceof Span ? MEASURED.get(item.name) : undefined
    if (name === undefined || !(item instanceof Span) || item.endedAt === undefined) continue
    sums.set(name, (sums.get(name) ?? 0) + item.endedAt - item.startedAt)
  }
  return sums
}

/** Annotations that say what a slow request waited for, as far as it is measured. */
import type { RequestContext } from '../../answers/request-context.js'
import { formatDuration } from '../../schemas/meta/duration.js'

/** Milliseconds; faster requests are not annotated. */
const SLOW = 500
const PREFIX = 'apiserver.latency.orch.io/'

type Timed = Pick<RequestContext, 'trace' | 'waited' | 'waitedTogether'>

/** Undefined for a request that was not slow. @param now of `performance.now()` */
export function latencies (
  { trace, waited, waitedTogether }: Timed, now: number
): Readonly<Record<string, string>> | undefined {
  const total = now - trace.startedAt
  if (total <= SLOW) return undefined
  const measured: ReadonlyArray<readonly [string, number]> = [
    ['total', total], ['mutating-webhook', waited], ['validating-webhook', waitedTogether],
    ['apf-queue-wait', trace.waited]
  ]
  return Object.fromEntries(measured.filter(([, milliseconds]) => milliseconds > 0)
    .map(([name, milliseconds]) => [PREFIX + name, formatDuration(BigInt(Math.round(milliseconds * 1e6)))]))
}

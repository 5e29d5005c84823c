/** Metrics of admission webhooks, with upstream's names. */
import type { HookMetrics } from '../../admission/webhooks/tools.js'
import type { Metrics } from '../shared/metric-series.js'

const SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5]
/** Higher codes share one label. */
const MAX_STATUS_CODE = 600

export function hookMetrics ({ histogram, counter }: Metrics): HookMetrics {
  const durations = histogram(
    'apiserver_admission_webhook_admission_duration_seconds',
    'Seconds of calls of admission webhooks, by webhook, type (admit or validating) and operation.', SECONDS,
    ['name', 'type', 'operation', 'rejected']
  )
  const requests = counter(
    'apiserver_admission_webhook_request_total',
    'Calls of admission webhooks, by webhook, type, operation and code of the outcome.',
    ['name', 'type', 'operation', 'code', 'rejected']
  )
  const rejections = counter(
    'apiserver_admission_webhook_rejection_count',
    'Requests refused by or for an admission webhook, by webhook, type, operation, and whether that was an error.',
    ['name', 'type', 'operation', 'error_type', 'rejection_code']
  )
  const open = counter(
    'apiserver_admission_webhook_fail_open_count',
    'Requests that went on although an admission webhook could not be called.', ['name', 'type']
  )
  const bounded = (code: number): string => String(Math.min(code, MAX_STATUS_CODE))
  return {
    called: ({ hook, step, operation }, seconds, code, rejected) => {
      durations.with(hook, step, operation, String(rejected)).observe(seconds)
      requests.with(hook, step, operation, bounded(code), String(rejected)).add()
    },
    rejected: ({ hook, step, operation }, cause, code) => {
      rejections.with(hook, step, operation, cause, bounded(code)).add()
    },
    failedOpen: ({ hook, step }) => { open.with(hook, step).add() }
  }
}

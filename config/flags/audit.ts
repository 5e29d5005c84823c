/** What happened, written down. */
import { bool, choice, duration, float, int, path } from '../flag.js'

const MODES = ['batch', 'blocking', 'blocking-strict'] as const
const VERSIONS = ['audit.orch.io/v1'] as const

export const audit = {
  'audit-policy-file': path('file that says which events are written, and how much of them'),
  'audit-log-path': path('file the events are appended to; - for standard output, blank writes none'),
  'audit-log-format': choice(['json', 'legacy'], 'json', 'an event as a JSON object or as a line of text'),
  'audit-log-mode': choice(MODES, 'blocking', 'whether a request waits for its event'),
  'audit-log-version': choice(VERSIONS, 'audit.orch.io/v1', 'group and version of the events'),
  'audit-log-maxage': int(0, 'days that rotated files are kept; 0 keeps them whatever their age', { min: 0 }),
  'audit-log-maxbackup': int(0, 'rotated files that are kept; 0 keeps all', { min: 0 }),
  'audit-log-maxsize': int(0, 'megabytes at which the file is rotated; 0 is 100', { min: 0, max: 1_000_000 }),
  'audit-log-compress': bool(false, 'gzip rotated files'),
  'audit-log-batch-buffer-size': int(10_000, 'events that may wait in batch mode', { min: 1 }),
  'audit-log-batch-max-size': int(1, 'events in a batch', { min: 1 }),
  'audit-log-batch-max-wait': duration(0, 'time after which a batch is written however small'),
  'audit-log-batch-throttle-enable': bool(false, 'limit the rate of batches'),
  'audit-log-batch-throttle-qps': float(0, 'batches a second', { min: 0 }),
  'audit-log-batch-throttle-burst': int(0, 'batches at a time where the limit was not used before', { min: 0 }),
  'audit-log-truncate-enabled': bool(false, 'shorten large events and batches'),
  'audit-log-truncate-max-batch-size': int(10_485_760, 'bytes above which a batch is divided', { min: 1 }),
  'audit-log-truncate-max-event-size': int(102_400, 'bytes above which an event loses its bodies or is dropped', { min: 1 })
}

export const auditWebhook = {
  'audit-webhook-config-file': path('kubeconfig of the service the events are sent to'),
  'audit-webhook-mode': choice(MODES, 'batch', 'whether a request waits for its event'),
  'audit-webhook-version': choice(VERSIONS, 'audit.orch.io/v1', 'group and version of the events'),
  'audit-webhook-initial-backoff': duration(10_000, 'time before the first retry', { min: 1 }),
  'audit-webhook-batch-buffer-size': int(10_000, 'events that may wait in batch mode', { min: 1 }),
  'audit-webhook-batch-max-size': int(400, 'events in a batch', { min: 1 }),
  'audit-webhook-batch-max-wait': duration(30_000, 'time after which a batch is sent however small'),
  'audit-webhook-batch-throttle-enable': bool(true, 'limit the rate of batches'),
  'audit-webhook-batch-throttle-qps': float(10, 'batches a second', { min: 0 }),
  'audit-webhook-batch-throttle-burst': int(15, 'batches at a time where the limit was not used before', { min: 0 }),
  'audit-webhook-truncate-enabled': bool(false, 'shorten large events and batches'),
  'audit-webhook-truncate-max-batch-size': int(10_485_760, 'bytes above which a batch is divided', { min: 1 }),
  'audit-webhook-truncate-max-event-size': int(102_400, 'bytes above which an event loses its bodies or is dropped', { min: 1 })
}

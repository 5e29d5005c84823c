/** Audit flags. */
import { AUDIT_VERSIONS } from '../../schemas/public-names.js'
import { bool, choice, duration, float, int, path, withLater } from '../flag.js'

const MODES = ['batch', 'blocking', 'blocking-strict'] as const
const VERSION_HELP = 'API group and version of audit events, which have the names that it says; the second with ' +
  '--compat-names'

export const audit = {
  'audit-policy-file': path('audit policy file: which requests are logged, at which level'),
  'audit-log-path': path('audit log file; - logs to standard output, blank disables the audit log'),
  'audit-log-format': choice(
    ['json', 'legacy'], 'json', 'format of audit events: JSON objects or legacy lines of text'
  ),
  'audit-log-mode': choice(MODES, 'blocking', 'whether requests wait until their audit events are written'),
  'audit-log-version': choice(AUDIT_VERSIONS, 'audit.orch.io/v1', VERSION_HELP),
  'audit-log-maxage': withLater('1.36', 366, int(
    0, 'maximum days to keep rotated audit logs; 0 keeps them regardless of age', { min: 0 }
  )),
  'audit-log-maxbackup': withLater('1.36', 100, int(
    0, 'maximum number of rotated audit logs to keep; 0 keeps all', { min: 0 }
  )),
  'audit-log-maxsize': withLater('1.36', 100, int(
    0, 'size in megabytes at which the audit log is rotated; 0 is 100, and no rotation from release 1.36 on',
    { min: 0, max: 1_000_000 }
  )),
  'audit-log-compress': bool(false, 'compress rotated audit logs with gzip'),
  'audit-log-batch-buffer-size': int(10_000, 'number of audit events buffered in batch mode', { min: 1 }),
  'audit-log-batch-max-size': int(1, 'maximum number of audit events in a batch', { min: 1 }),
  'audit-log-batch-max-wait': duration(0, 'maximum time to wait before an incomplete batch is written'),
  'audit-log-batch-throttle-enable': bool(false, 'throttle batches'),
  'audit-log-batch-throttle-qps': float(0, 'maximum average number of batches per second', { min: 0 }),
  'audit-log-batch-throttle-burst': int(0, 'maximum burst of batches', { min: 0 }),
  'audit-log-truncate-enabled': bool(false, 'truncate large audit events and batches'),
  'audit-log-truncate-max-batch-size': int(
    10_485_760, 'maximum size of a batch in bytes; larger ones are split', { min: 1 }
  ),
  'audit-log-truncate-max-event-size': int(
    102_400, 'maximum size of an audit event in bytes; larger ones lose their bodies or are dropped', { min: 1 }
  )
}

export const auditWebhook = {
  'audit-webhook-config-file': path('kubeconfig of the audit webhook'),
  'audit-webhook-mode': choice(MODES, 'batch', 'whether requests wait until their audit events are sent'),
  'audit-webhook-version': choice(AUDIT_VERSIONS, 'audit.orch.io/v1', VERSION_HELP),
  'audit-webhook-initial-backoff': duration(10_000, 'time to wait before the first retry', { min: 1 }),
  'audit-webhook-batch-buffer-size': int(10_000, 'number of audit events buffered in batch mode', { min: 1 }),
  'audit-webhook-batch-max-size': int(400, 'maximum number of audit events in a batch', { min: 1 }),
  'audit-webhook-batch-max-wait': duration(30_000, 'maximum time to wait before an incomplete batch is sent'),
  'audit-webhook-batch-throttle-enable': bool(true, 'throttle batches'),
  'audit-webhook-batch-throttle-qps': float(10, 'maximum average number of batches per second', { min: 0 }),
  'audit-webhook-batch-throttle-burst': int(15, 'maximum burst of batches', { min: 0 }),
  'audit-webhook-truncate-enabled': bool(false, 'truncate large audit events and batches'),
  'audit-webhook-truncate-max-batch-size': int(
    10_485_760, 'maximum size of a batch in bytes; larger ones are split', { min: 1 }
  ),
  'audit-webhook-truncate-max-event-size': int(
    102_400, 'maximum size of an audit event in bytes; larger ones lose their bodies or are dropped', { min: 1 }
  )
}

/** Options of the audit log and webhook. */
import type { AuditOptions } from '../../plugins/audit/index.js'
import { AuditPolicy } from '../../schemas/config/audit-policy.js'
import { bool } from '../flag.js'
import { audit as log, auditWebhook as webhook } from '../flags/audit.js'
import { as, members, milliseconds, needed, number, object, string, whole, type Option, type Table } from '../option.js'
import { endpoint } from './calls.js'
import { configured } from './files.js'

type Batch = NonNullable<AuditOptions['batch']>
type Truncate = NonNullable<AuditOptions['truncate']>
type Webhook = NonNullable<AuditOptions['webhook']>

/** The same for both back ends. */
const DELIVERY: Table<Pick<AuditOptions, 'mode' | 'batch' | 'truncate'>> = {
  mode: as(log['audit-log-mode']),
  batch: members<Batch>({
    bufferSize: as(log['audit-log-batch-buffer-size']),
    maxSize: as(log['audit-log-batch-max-size']),
    maxWait: as(log['audit-log-batch-max-wait']),
    maxCharacters: whole({ min: 1 }),
    throttle: members<NonNullable<Batch['throttle']>>({ qps: needed(number()), burst: needed(whole()) })
  }),
  truncate: members<Truncate>({
    maxEventSize: as(log['audit-log-truncate-max-event-size']),
    maxBatchSize: as(log['audit-log-truncate-max-batch-size'])
  })
}

export const audit: Option<AuditOptions> = members<AuditOptions>({
  policy: configured(AuditPolicy),
  path: string(),
  format: as(log['audit-log-format']),
  maxAgeDays: number(),
  maxBackups: as(log['audit-log-maxbackup']),
  maxSizeMegabytes: number(),
  compress: as(log['audit-log-compress']),
  shared: members<NonNullable<AuditOptions['shared']>>({ rotates: needed(as(bool(false, ''))) }),
  ...DELIVERY,
  webhook: members<Webhook>({
    endpoint: needed(endpoint),
    initialBackoff: as(webhook['audit-webhook-initial-backoff']),
    client: object(),
    ...DELIVERY
  }),
  closeGrace: milliseconds()
})

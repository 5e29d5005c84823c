/** Options of the audit log and webhook. */
import type { AuditOptions } from '../../plugins/audit/index.js'
import { AuditPolicy } from '../../schemas/api/audit/policy.js'
import { audit as log, auditWebhook as webhook } from '../flags/audit.js'
import {
  callback, fromFlag, members, milliseconds, required, number, object, string, wholeNumber, type Option, type Table
} from '../option.js'
import { endpoint } from './calls.js'
import { configured } from './files.js'

type Batch = NonNullable<AuditOptions['batch']>
type Truncate = NonNullable<AuditOptions['truncate']>
type Webhook = NonNullable<AuditOptions['webhook']>

/** The same for the log and the webhook. */
const DELIVERY: Table<Pick<AuditOptions, 'mode' | 'batch' | 'truncate'>> = {
  mode: fromFlag(log['audit-log-mode']),
  batch: members<Batch>({
    bufferSize: fromFlag(log['audit-log-batch-buffer-size']),
    maxSize: fromFlag(log['audit-log-batch-max-size']),
    maxWait: fromFlag(log['audit-log-batch-max-wait']),
    maxCharacters: wholeNumber({ min: 1 }),
    throttle: members<NonNullable<Batch['throttle']>>({ qps: required(number()), burst: required(wholeNumber()) })
  }),
  truncate: members<Truncate>({
    maxEventSize: fromFlag(log['audit-log-truncate-max-event-size']),
    maxBatchSize: fromFlag(log['audit-log-truncate-max-batch-size'])
  })
}

export const audit: Option<AuditOptions> = members<AuditOptions>({
  policy: configured(AuditPolicy),
  path: string(),
  version: fromFlag(log['audit-log-version']),
  format: fromFlag(log['audit-log-format']),
  maxAgeDays: number(),
  maxBackups: fromFlag(log['audit-log-maxbackup']),
  maxSizeMegabytes: number(),
  compress: fromFlag(log['audit-log-compress']),
  shared: members<NonNullable<AuditOptions['shared']>>({ rotates: required(callback()) }),
  ...DELIVERY,
  webhook: members<Webhook>({
    endpoint: required(endpoint),
    version: fromFlag(webhook['audit-webhook-version']),
    initialBackoff: fromFlag(webhook['audit-webhook-initial-backoff']),
    client: object(),
    ...DELIVERY
  }),
  closeGrace: milliseconds()
})

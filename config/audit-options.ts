/** Audit options from flags: policy, log and webhook. @see interface, 'Audit events' */
import { closeSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { AuditOptions } from '../plugins/audit/index.js'
import { AuditPolicy } from '../schemas/api/audit/policy.js'
import { makeFolder } from '../files/folders.js'
import { readDocument } from './documents.js'
import { sourceOf } from './public-settings.js'
import { reasonOf } from './files.js'
import { FlagError } from './flag.js'
import { isOn } from './gates-of.js'
import type { Values } from './flags/index.js'

type Sink = 'audit-log' | 'audit-webhook'

/** Undefined if auditing is disabled. @throws FlagError */
export async function auditOptions (values: Values): Promise<AuditOptions | undefined> {
  const source = sourceOf(values, 'audit-policy-file')
  const policy = source.path === '' ? undefined : readDocument(source, [AuditPolicy])
  const path = values['audit-log-path']
  const webhook = values['audit-webhook-config-file']
  if (path === '' && webhook === '') return undefined
  if (path !== '' && path !== '-') checkWritable(path)
  return {
    ...(policy === undefined ? {} : { policy }),
    ...(path === '' ? {} : logOptions(values)),
    ...(webhook === '' ? {} : { webhook: await webhookOptions(values) })
  }
}

/** Creates the folder, as upstream. */
function checkWritable (path: string): void {
  try {
    // A pipe would block the start until it is read, and only ordinary files can be rotated.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error('it is not an ordinary file')
    makeFolder(dirname(path), 0o700)
    closeSync(openSync(path, 'a', 0o600))
  } catch (error) {
    throw new FlagError(
      'audit-log-path', path,
      `cannot be written to: ${reasonOf(error)}; name a file in a folder that is there or can be made, or - for ` +
        'standard output',
      { cause: error }
    )
  }
}

/** Megabytes of a log that is never rotated. */
const UNLIMITED = 2 ** 30

const logOptions = (values: Values): Omit<AuditOptions, 'policy' | 'webhook'> => ({
  path: values['audit-log-path'],
  version: values['audit-log-version'],
  format: values['audit-log-format'],
  mode: values['audit-log-mode'],
  maxAgeDays: values['audit-log-maxage'],
  maxBackups: values['audit-log-maxbackup'],
  maxSizeMegabytes: values['audit-log-maxsize'] || (isOn(values, 'AuditLogIsKeptWithoutSize') ? UNLIMITED : 0),
  compress: values['audit-log-compress'],
  ...delivery('audit-log', values)
})

async function webhookOptions (values: Values): Promise<NonNullable<AuditOptions['webhook']>> {
  const { endpointIn } = await import('./kubeconfigs.js')
  return {
    endpoint: await endpointIn('audit-webhook-config-file', values['audit-webhook-config-file']),
    version: values['audit-webhook-version'],
    mode: values['audit-webhook-mode'],
    initialBackoff: values['audit-webhook-initial-backoff'],
    ...delivery('audit-webhook', values)
  }
}

/** Batch and truncation options of one back end. @throws FlagError for limits that nothing could pass */
function delivery (sink: Sink, values: Values): Pick<AuditOptions, 'batch' | 'truncate'> {
  const [qps, burst] = [values[`${sink}-batch-throttle-qps`], values[`${sink}-batch-throttle-burst`]]
  const throttled = values[`${sink}-mode`] === 'batch' && values[`${sink}-batch-throttle-enable`]
  for (const [name, value] of [['qps', qps], ['burst', burst]] as const) {
    if (throttled && value <= 0) {
      throw new FlagError(
        `${sink}-batch-throttle-${name}`, String(value),
        `must be more than 0 with --${sink}-batch-throttle-enable, or no batch would go`
      )
    }
  }
  const [maxEventSize, maxBatchSize] = [
    values[`${sink}-truncate-max-event-size`], values[`${sink}-truncate-max-batch-size`]
  ]
  const truncated = values[`${sink}-truncate-enabled`]
  if (truncated && maxBatchSize < maxEventSize) {
    throw new FlagError(
      `${sink}-truncate-max-batch-size`, String(maxBatchSize),
      `must not be less than --${sink}-truncate-max-event-size=${maxEventSize}, or an event would fit in no batch`
    )
  }
  return {
    batch: {
      bufferSize: values[`${sink}-batch-buffer-size`],
      maxSize: values[`${sink}-batch-max-size`],
      maxWait: values[`${sink}-batch-max-wait`],
      throttle: throttled ? { qps, burst } : undefined
    },
    ...(truncated ? { truncate: { maxEventSize, maxBatchSize } } : {})
  }
}

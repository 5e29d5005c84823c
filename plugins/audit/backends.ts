/** Opens the configured audit back ends, log and webhook, with metrics and log lines for lost events. */
import { reasonOf } from '../../storage/errors.js'
import type { Counter, Metric } from '../shared/metric-series.js'
import type { Outside } from '../shared/outside.js'
import { occasionally } from '../shared/rate-limited.js'
import { outgoingMetrics } from '../shared/outgoing-metrics.js'
import { openBackend, type AuditBackend, type AuditBackendOptions } from './backend.js'
import type { BatchOptions, OnLost } from './batches.js'
import { eventJson, jsonLine, type AuditEvent, type EventForm, type EventVersion } from './event.js'
import type { SinkOptions } from './sink.js'
import type { AuditWebhookOptions } from './webhook.js'
import type { Having } from '../shared/plugin.js'

export interface BackendsOptions extends Partial<SinkOptions>, Partial<AuditBackendOptions> {
  /** Of the log's events, whose names it says; the public one with `compatNames`. Default audit.orch.io/v1. */
  readonly version?: EventVersion
  /** `json` for objects, `legacy` for text lines. Default json. */
  readonly format?: 'json' | 'legacy'
  /** In addition to the log, or instead of it. Default mode batch. */
  readonly webhook?: AuditWebhookOptions & Partial<AuditBackendOptions>
  /** Milliseconds for pending events to be delivered at shutdown. Default 30,000. */
  readonly closeGrace?: number
}

type LogOptions = Omit<BackendsOptions, 'webhook' | 'closeGrace' | 'path'> & { readonly path: string }

/** Minimum milliseconds between log lines about a failing back end. */
const LOG_EVERY = 60_000
/** Concurrent webhook calls, so that a slow one does not delay the rest. */
const CALLS_AT_ONCE = 10
const LOG_BATCH: BatchOptions = { maxSize: 1, maxWait: 0 }
const WEBHOOK_BATCH: BatchOptions = { throttle: { qps: 10, burst: 15 } }

export interface Backends {
  /** Whether the request may go on: false if a strict back end lost the event. */
  write: (event: AuditEvent) => boolean | Promise<boolean>
  /** Resolves when all events are delivered or given up. */
  close: () => Promise<void>
}

type Server = Having<'orchEgress' | 'orchMetrics' | 'orchSettings'>

/** @throws ClientError 'Config' if one of the webhook's files cannot be read */
export async function openBackends (
  { webhook, closeGrace = 30_000, ...log }: BackendsOptions, server: Server
): Promise<Backends> {
  const errors = server.orchMetrics.counter(
    'apiserver_audit_error_total',
    'Audit events that could not be written, by what lost them: the back end, its buffer or the bound on their size.',
    ['plugin']
  )
  const backends: AuditBackend[] = []
  if (log.path !== undefined) backends.push(await openLog({ ...log, path: log.path }, errors, server))
  const sending = webhook === undefined ? undefined : await openWebhook(webhook, errors, server)
  if (sending !== undefined) backends.push(sending.backend)
  return {
    write: event => {
      const [first, ...others] = backends
      if (first === undefined) return true
      const written = first.write(event)
      return others.length === 0
        ? written
        : Promise.all([written, ...others.map(other => other.write(event))]).then(all => !all.includes(false))
    },
    close: async () => {
      const late = setTimeout(() => {
        if (sending === undefined) return
        server.log.error(`audit events could not be sent within ${closeGrace} ms of the server's end and are lost; ` +
          'apiserver_audit_error_total counted those before')
        sending.abort()
      }, closeGrace)
      await Promise.all(backends.map(({ close }) => close()))
      clearTimeout(late)
    }
  }
}

async function openLog (
  { path, version, format = 'json', mode = 'blocking', batch, truncate, ...rotation }: LogOptions,
  errors: Metric<Counter>, { orchSettings: { outside }, log }: Server
): Promise<AuditBackend> {
  const form = formOf(version, outside)
  const lost = counting(errors, 'log', occasionally(
    (error: unknown) => { log.error({ err: error, path }, 'the audit log cannot be written') }, LOG_EVERY
  ))
  const { openSink } = await import('./sink.js')
  const sink = openSink({ path, ...rotation }, error => { lost(0, error) })
  return openBackend({ mode, batch: { ...LOG_BATCH, ...batch }, truncate }, {
    deliver: lines => sink.write(lines.join('')),
    text: format === 'json' ? (event, whole) => jsonLine(event, whole, form) : event => event.legacy(),
    lost,
    close: () => sink.close()
  })
}

async function openWebhook (
  { mode = 'batch', batch, truncate, ...options }: NonNullable<BackendsOptions['webhook']>, errors: Metric<Counter>,
  { orchMetrics: metrics, orchEgress: egress, orchSettings: { outside }, log }: Server
): Promise<{ backend: AuditBackend, abort: () => void }> {
  const lost = counting(errors, 'webhook', occasionally(
    (error: unknown) => { log.error(`audit events cannot be sent: ${reasonOf(error)}`) }, LOG_EVERY
  ))
  const { auditWebhook } = await import('./webhook.js')
  const { deliver, load, close, abort } = auditWebhook({
    ...options, client: { tunnel: egress.controlPlane, ...outgoingMetrics(metrics), ...options.client }
  })
  await load()
  const form = formOf(options.version, outside)
  const backend = openBackend({ mode, batch: { ...WEBHOOK_BATCH, ...batch }, truncate }, {
    deliver, text: (event, whole) => eventJson(event, whole, form), maxInFlight: CALLS_AT_ONCE, lost, close
  })
  return { backend, abort }
}

/** Only a server with public names is given their version. */
const formOf = (version: EventVersion | undefined, { auditEvent: shown }: Outside): EventForm =>
  version === undefined || version === 'audit.orch.io/v1' ? {} : { version, shown }

function counting (errors: Metric<Counter>, backend: string, report: (error: unknown) => void): OnLost {
  errors.with(backend)
  return (count, error, part) => {
    if (count > 0) errors.with(part ?? backend).add(count)
    report(error)
  }
}

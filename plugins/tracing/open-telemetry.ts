/**
 * Exports traces as OpenTelemetry spans by OTLP over gRPC. Loaded only if a receiver is configured; a separate file in
 * the bundle. Spans are converted after the request has ended, so the library adds no latency. At most 2,048 spans wait
 * for the receiver; more are dropped. tracestate and baggage are neither read nor forwarded.
 */
import { credentials, logVerbosity, setLogVerbosity } from '@grpc/grpc-js'
import {
  ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace as traceApi, type HrTime, type SpanContext
} from '@opentelemetry/api'
import { ExportResultCode, millisToHrTime, parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler, ParentBasedSampler, RandomIdGenerator, TraceIdRatioBasedSampler, SamplingDecision,
  BatchSpanProcessor, type SpanExporter, type ReadableSpan
} from '@opentelemetry/sdk-trace-base'
import type { Fields, Span, Trace } from '../../registry/trace.js'
import { DEFAULT_ENDPOINT, DEFAULT_TIMEOUT, type ReceiverOptions } from './receiver-options.js'

export interface Incoming {
  /** The header as sent. */
  readonly traceparent: string | undefined
  /** True if the caller is authenticated. Other callers' traces are linked and do not affect sampling. */
  readonly trusted: boolean
}

/** Ids and sampling decision of a trace. */
export interface Sampled {
  readonly traceId: string
  readonly sampled: boolean
  readonly parent: SpanContext | undefined
  readonly linked: SpanContext | undefined
}

const MILLION = 1_000_000
/** Maximum characters of the header; 55 today, later versions may be longer. */
const MAX_HEADER_LENGTH = 512
const MAX_REASON_LENGTH = 300

export class OpenTelemetry {
  readonly #ids = new RandomIdGenerator()
  readonly #sampler: ParentBasedSampler
  readonly #exporter: SpanExporter
  readonly #processor: BatchSpanProcessor
  readonly #resource: ReadableSpan['resource']
  readonly #timeout: number

  /** @param instance unique per server start @param failed called for each batch that could not be sent */
  constructor (
    { endpoint = DEFAULT_ENDPOINT, samplingRatePerMillion = 0, timeout = DEFAULT_TIMEOUT }: ReceiverOptions,
    instance: string, failed: (reason: string) => void
  ) {
    setLogVerbosity(logVerbosity.NONE) // grpc-js would write text from the receiver to standard error
    this.#sampler = new ParentBasedSampler({
      root: samplingRatePerMillion > 0
        ? new TraceIdRatioBasedSampler(samplingRatePerMillion / MILLION)
        : new AlwaysOffSampler()
    })
    this.#exporter = new OTLPTraceExporter({
      url: endpoint.startsWith('unix:') ? endpoint : `http://${endpoint}`, credentials: credentials.createInsecure(),
      timeoutMillis: timeout
    })
    this.#processor = new BatchSpanProcessor(
      reportingExporter(this.#exporter, reason => { failed(`${endpoint}: ${reason}`) }),
      { exportTimeoutMillis: timeout }
    )
    this.#timeout = timeout
    this.#resource = resourceFromAttributes({ 'service.name': 'apiserver', 'service.instance.id': instance })
  }

  sample ({ traceparent, trusted }: Incoming): Sampled {
    const caller = traceparent === undefined || traceparent.length > MAX_HEADER_LENGTH
      ? null
      : parseTraceParent(traceparent)
    const remote = caller === null ? undefined : { ...caller, isRemote: true }
    const parent = trusted ? remote : undefined
    const traceId = parent?.traceId ?? this.#ids.generateTraceId()
    const context = parent === undefined ? ROOT_CONTEXT : traceApi.setSpanContext(ROOT_CONTEXT, parent)
    const { decision } = this.#sampler.shouldSample(context, traceId, '', SpanKind.SERVER, {}, [])
    return {
      traceId, sampled: decision === SamplingDecision.RECORD_AND_SAMPLED, parent, linked: trusted ? undefined : remote
    }
  }

  traceparent ({ traceId, sampled }: Sampled, span: Span): string {
    return `00-${traceId}-${this.#id(span)}-0${sampled ? 1 : 0}`
  }

  /** Exports all spans of a finished trace. */
  export (trace: Trace, name: string, attributes: Fields, { traceId, parent, linked }: Sampled): void {
    const wall = Date.now() - performance.now()
    const time = (at: number): HrTime => millisToHrTime(wall + at)
    const contextOf = (span: Span): SpanContext => ({ traceId, spanId: this.#id(span), traceFlags: TraceFlags.SAMPLED })
    const add = (span: Span, parentContext: SpanContext | undefined): void => {
      const { startedAt, endedAt = trace.endedAt ?? startedAt, failure, items = [], fields = {} } = span
      const context = contextOf(span)
      const isRoot = span === trace
      const spanContext = (): SpanContext => context
      this.#processor.onEnd({
        name: isRoot ? name : span.name,
        kind: isRoot ? SpanKind.SERVER : SpanKind.INTERNAL,
        spanContext,
        ...(parentContext === undefined ? {} : { parentSpanContext: parentContext }),
        startTime: time(startedAt),
        endTime: time(endedAt),
        duration: millisToHrTime(endedAt - startedAt),
        status: failure === undefined
          ? { code: SpanStatusCode.UNSET }
          : { code: SpanStatusCode.ERROR, message: reasonOf(failure).slice(0, MAX_REASON_LENGTH) },
        attributes: { ...isRoot ? attributes : fields },
        links: isRoot && linked !== undefined ? [{ context: linked }] : [],
        events: items.flatMap(item =>
          'at' in item ? [{ name: item.name, time: time(item.at), attributes: { ...item.fields } }] : []),
        ended: true,
        resource: this.#resource,
        instrumentationScope: { name: 'orch-apiserver' },
        droppedAttributesCount: 0,
        droppedEventsCount: isRoot ? trace.dropped : 0,
        droppedLinksCount: 0
      })
      for (const item of items) if (!('at' in item)) add(item, context)
    }
    add(trace, parent)
  }

  /** Sends the remaining spans, within the timeout. */
  async close (): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>(resolve => { timer = setTimeout(resolve, this.#timeout) })
    await Promise.race([this.#processor.shutdown().catch(() => {}), late]) // failures were reported
    clearTimeout(timer)
    await this.#exporter.shutdown().catch(() => {})
  }

  #id (span: Span): string { return span.id ??= this.#ids.generateSpanId() }
}

/** Errors whose messages concern other servers. Messages of other errors may contain parts of objects. */
const SAFE_MESSAGES = new Set(['HookFailure', 'StorageError'])

function reasonOf (failure: unknown): string {
  if (!(failure instanceof Error)) return ''
  if (SAFE_MESSAGES.has(failure.name)) return failure.message
  const { status } = failure as { status?: { reason?: unknown } } // a StatusError
  return typeof status?.reason === 'string' ? status.reason : failure.name
}

/** Wraps the exporter to report failures. */
const reportingExporter = (inner: SpanExporter, failed: (reason: string) => void): SpanExporter => ({
  export: (spans, done) => {
    inner.export(spans, result => {
      if (result.code !== ExportResultCode.SUCCESS) {
        failed((result.error?.message ?? 'no reason was given').slice(0, MAX_REASON_LENGTH))
      }
      done(result)
    })
  },
  shutdown: () => inner.shutdown()
})

/**
 * Traces a request: its steps, and spans with their own steps. The log of slow requests and exported spans are derived
 * from this record after the request, so tracing costs little where neither is enabled. Times are milliseconds of
 * `performance.now()`.
 */
import { blame } from '../event-loop/blamed.js'
import { workFor } from '../event-loop/worked-for.js'

export type Fields = Readonly<Record<string, string | number | boolean>>

/** A completed step, which began when the previous one ended. */
export interface Step {
  readonly name: string
  readonly at: number
  readonly fields: Fields | undefined
}

/** Maximum steps and spans per request; deleting a collection produces more. */
const MAX_RECORDED = 400

/** A part of a request, or as `Trace` all of it. */
export class Span {
  readonly name: string
  readonly startedAt = performance.now()
  endedAt: number | undefined = undefined
  /** The error it ended with, undefined on success. */
  failure: unknown = undefined
  fields: Fields | undefined
  /** By end time of steps and start time of spans; undefined if empty. */
  items: Array<Step | Span> | undefined = undefined
  /** Span id in exported traces, 16 hexadecimal digits; assigned on demand. */
  id: string | undefined = undefined
  readonly trace: Trace

  constructor (name: string, fields?: Fields, trace?: Trace) {
    this.name = name
    this.fields = fields
    this.trace = trace ?? (this as unknown as Trace) // the root span is the trace itself
  }

  /** Records a step that has just completed. */
  step (name: string, fields?: Fields): void {
    workFor(this.trace.request)
    if (this.trace.recorded++ < MAX_RECORDED) (this.items ??= []).push({ name, at: performance.now(), fields })
  }

  /** Starts a child span; the caller must call `end`. */
  start (name: string, fields?: Fields): Span {
    workFor(this.trace.request)
    const part = new Span(name, fields, this.trace)
    if (this.trace.recorded++ < MAX_RECORDED) (this.items ??= []).push(part)
    return part
  }

  /** @param error the failure, if any */
  end (error?: unknown): void {
    this.endedAt = performance.now()
    this.failure = error
    if (error !== undefined) blame(error, this.trace.auditId)
  }

  /** The W3C Trace Context header for outgoing calls. Undefined if traces are not propagated. */
  get traceparent (): string | undefined { return this.trace.propagate?.(this) }
}

/** The root span of a request; starts when it is constructed. */
export class Trace extends Span {
  /** When the handler was called, after reading, authentication and authorization. */
  handledAt: number | undefined = undefined
  auditId: string
  /** Its number in `event-loop/worked-for.ts`, 0 for none. */
  request = 0
  /** Steps and spans so far, dropped ones included. */
  recorded = 0
  /** Milliseconds spent on other requests while this one waited for its turn. */
  waited = 0
  /** Extra milliseconds before the request counts as slow. */
  allowance = 0
  /** Creates `traceparent`; set where traces are exported or propagated. */
  propagate: ((span: Span) => string | undefined) | undefined = undefined

  constructor (auditId = '') {
    super('')
    this.auditId = auditId
  }

  /** The event loop works for this request, now and when its next steps begin. */
  workFor (request: number): void {
    this.request = request
    workFor(request)
  }

  /** Adds the steps that every request has. Call it once, at the end. */
  complete (): void {
    const { handledAt, endedAt = this.startedAt } = this
    const items = this.items ??= []
    if (handledAt !== undefined) {
      const after = items.findIndex(item => ('at' in item ? item.at : item.startedAt) >= handledAt)
      items.splice(after < 0 ? items.length : after, 0, {
        name: 'Reading, authentication and authorization of the request done', at: handledAt, fields: undefined
      })
    }
    items.push({ name: 'Writing http response done', at: endedAt, fields: undefined })
  }

  /** Number of steps and spans that were not kept. */
  get dropped (): number { return Math.max(0, this.recorded - MAX_RECORDED) }
}

/** Runs `work` in a child span, if there is a span. */
export async function withSpan<T> (
  span: Span | undefined, name: string, work: (part: Span | undefined) => Promise<T>, fields?: Fields
): Promise<T> {
  if (span === undefined) return await work(undefined)
  const part = span.start(name, fields)
  try {
    const result = await work(part)
    part.end()
    return result
  } catch (error) {
    part.end(error)
    throw error
  }
}

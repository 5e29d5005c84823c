/**
 * What was done for a request, in steps and in parts that have steps of their own, and when. One record, from which the log tells
 * of slow requests and spans are exported when the request is over: nothing is decided, written or sent meanwhile, so that it
 * costs little where neither is wanted. Times are milliseconds on the clock of `performance.now()`.
 */
export type Fields = Readonly<Record<string, string | number | boolean>>

/** Something was done; what it took began where the one before it ended. */
export interface Step {
  readonly name: string
  readonly at: number
  readonly fields: Fields | undefined
}

/** Steps and parts that one request is recorded with: one that deletes a whole collection has more. */
const MOST_RECORDED = 400

/** A part of what is done for a request, or with `Trace` all of it. */
export class Span {
  readonly name: string
  readonly startedAt = performance.now()
  endedAt: number | undefined = undefined
  /** What it failed with; undefined where it did not. */
  failure: unknown = undefined
  fields: Fields | undefined
  /** In the order in which they ended or began; undefined where there are none. */
  items: Array<Step | Span> | undefined = undefined
  /** Of this span in an exported trace, 16 hexadecimal digits; given when somebody asks. */
  id: string | undefined = undefined
  readonly trace: Trace

  constructor (name: string, fields?: Fields, trace?: Trace) {
    this.name = name
    this.fields = fields
    this.trace = trace ?? (this as unknown as Trace) // what is part of no other is a trace itself
  }

  /** Something has been done. Say it when it is over. */
  step (name: string, fields?: Fields): void {
    if (this.trace.recorded++ < MOST_RECORDED) (this.items ??= []).push({ name, at: performance.now(), fields })
  }

  /** Begins a part. Whoever begins it calls `end`. */
  start (name: string, fields?: Fields): Span {
    const part = new Span(name, fields, this.trace)
    if (this.trace.recorded++ < MOST_RECORDED) (this.items ??= []).push(part)
    return part
  }

  /** @param error with which it failed */
  end (error?: unknown): void {
    this.endedAt = performance.now()
    this.failure = error
  }

  /** For calls to others: a header of W3C Trace Context that names this span. Undefined where nothing is passed on. */
  get traceparent (): string | undefined { return this.trace.propagate?.(this) }
}

/** All that is done for one request. It begins when it is made. */
export class Trace extends Span {
  /** When it came to whoever handles it: it had been read, and might be served. */
  handledAt: number | undefined = undefined
  /** How many steps and parts there have been, those included that are not kept. */
  recorded = 0
  /** Milliseconds in which others had their turn and nothing was done for this request. */
  waited = 0
  /** Milliseconds that it may take longer than others before it counts as slow. */
  allowance = 0
  /** Makes `traceparent`; set where traces are exported or passed on. */
  propagate: ((span: Span) => string | undefined) | undefined = undefined

  constructor () { super('') }

  /** Adds the steps that every request has. Once, when it is over. */
  complete (): void {
    const { handledAt, endedAt = this.startedAt } = this
    const items = this.items ??= []
    if (handledAt !== undefined) {
      const after = items.findIndex(item => ('at' in item ? item.at : item.startedAt) >= handledAt)
      items.splice(after < 0 ? items.length : after, 0, { name: 'Reading, authentication and authorization of the request done', at: handledAt, fields: undefined })
    }
    items.push({ name: 'Writing http response done', at: endedAt, fields: undefined })
  }

  /** Steps and parts that were not kept. */
  get dropped (): number { return Math.max(0, this.recorded - MOST_RECORDED) }
}

/** Does something as a part of `span`, where there is one. */
export async function during<T> (span: Span | undefined, name: string, work: (part: Span | undefined) => Promise<T>, fields?: Fields): Promise<T> {
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
